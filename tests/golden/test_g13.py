"""Eq. 14 against the numbers of METHODS G13, worked out by hand."""

from __future__ import annotations

import pytest
import torch

from actune.core.objective import NO_GATE, Objective
from actune.models.objectives import gated_loss, sharpened
from tests.golden.inputs import golden, tensor
from tests.models.tiny import loss_of

LABELLED = tensor([[0.8, 0.2], [0.3, 0.7]])
TRUSTED = tensor([[0.95, 0.05], [0.55, 0.45], [0.20, 0.80], [0.65, 0.35]])
STORED = tensor([[0.97, 0.03], [0.75, 0.25], [0.52, 0.48], [0.90, 0.10]])  # what the model before said of them
ZEROS = torch.zeros(4, dtype=torch.int64)
ONES = torch.ones(4, dtype=torch.float64)


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


def pseudo(objective: Objective, weights: torch.Tensor = ONES) -> float:
    """What the pseudo-labelled rows add, with the stored predictions at hand and class 0 as every hard label."""
    logits = torch.cat([LABELLED, TRUSTED]).log()
    whole = loss_of(logits, ZEROS[:2], ZEROS, weights, objective, proba=STORED)
    return (whole - golden("G13.ce_labelled").mean()).item()


@pytest.mark.parametrize("row", range(4))
def test_generalised_cross_entropy_of_each_row(row: int) -> None:
    found = gated_loss(TRUSTED[row : row + 1].log(), ZEROS[:1], ONES[:1], Objective(threshold=NO_GATE, power=0.7))
    assert found.item() == pytest.approx(golden("G13.gce_q0.7")[row].item(), abs=1e-8)


def test_generalised_cross_entropy_is_gated_by_the_student() -> None:
    found = pseudo(Objective(threshold=0.6, power=0.7))
    assert found == pytest.approx(golden("G13.gce_masked_mean").item(), abs=1e-8)


def test_sharpened_predictions() -> None:
    torch.testing.assert_close(sharpened(STORED), golden("G13.code_soft_frequency"), rtol=0, atol=1e-8)
    assert sharpened(STORED).argmax(1).tolist() == golden("G13.code_hard_label").tolist()
    assert STORED.argmax(1).tolist() == golden("G13.plain_argmax").tolist()


def test_trap_13_sharpening_can_flip_an_unsure_row_of_a_frequent_class() -> None:
    """[.52, .48] becomes class 1, and that is what the loss then teaches."""
    labels = golden("G13.code_hard_label").long()
    found = pseudo(Objective(threshold=NO_GATE, targets="sharpened"))
    taught = -TRUSTED.gather(1, labels[:, None]).log().mean().item()
    plain = -TRUSTED[:, 0].log().mean().item()
    assert found == pytest.approx(taught, abs=1e-8) and found != pytest.approx(plain, abs=1e-2)


def test_trap_4_weights_belong_to_their_own_rows() -> None:
    """A (B, 1) weight would spread every row's loss over all: the product of two means, as in the released code."""
    confidence = STORED.amax(1)
    weights = confidence * (confidence > 0.6)
    assert weights.shape == TRUSTED[:, 0].shape == ZEROS.shape
    found = pseudo(Objective(threshold=NO_GATE, targets="sharpened"), weights)
    assert found == pytest.approx(golden("G13.intended_mean").item(), abs=1e-8)
    for wrong in ("G13.code_broadcast_mean(B,B)", "G13.product_of_means"):
        assert found != pytest.approx(golden(wrong).item(), abs=1e-3)
