"""Eq. 14 against the numbers of METHODS G13, worked out by hand."""

from __future__ import annotations

import pytest
import torch

from actune.core.objective import Objective
from tests.golden.inputs import golden, tensor
from tests.models.tiny import loss_of

LABELLED = tensor([[0.8, 0.2], [0.3, 0.7]])
TRUSTED = tensor([[0.95, 0.05], [0.55, 0.45], [0.20, 0.80], [0.65, 0.35]])


def loss(labelled: torch.Tensor, trusted: torch.Tensor, objective: Objective) -> float:
    """The loss where the student gives these probabilities; class 0 is every label and every pseudo-label."""
    logits = torch.cat([labelled, trusted]).log()
    zeros = torch.zeros(len(logits), dtype=torch.int64)
    ones = torch.ones(len(trusted), dtype=torch.float64)
    return loss_of(logits, zeros[: len(labelled)], zeros[: len(trusted)], ones, objective).item()


def test_the_loss_divides_by_all_trusted_rows() -> None:
    found = loss(LABELLED, TRUSTED, Objective(weight=1.0, threshold=0.6))
    assert found == pytest.approx(golden("G13.loss_paper").item(), abs=1e-8)
    assert found != pytest.approx(golden("G13.loss_if_divided_by_sum_omega").item(), abs=1e-3)


def test_the_labelled_part_is_the_mean_cross_entropy() -> None:
    found = loss(LABELLED, TRUSTED[:0], Objective())
    assert found == pytest.approx(golden("G13.ce_labelled").mean().item(), abs=1e-8)


@pytest.mark.parametrize("row", range(4))
def test_omega_and_cross_entropy_of_each_row(row: int) -> None:
    alone = loss(LABELLED, TRUSTED[row : row + 1], Objective(threshold=0.6)) - loss(LABELLED, TRUSTED[:0], Objective())
    expected = golden("G13.omega(gamma=0.6)")[row] * golden("G13.ce_pseudo")[row]
    assert alone == pytest.approx(expected.item(), abs=1e-8)
