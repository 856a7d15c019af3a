"""The laws of Eq. 14."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.core.objective import Objective
from tests.models.tiny import loss_of

LABELS = torch.tensor([2, 0, 1])
TARGETS = torch.tensor([0, 1, 2, 1, 0])
WEIGHTS = torch.tensor([1.0, 0.5, 2.0, 1.0, 0.25], dtype=torch.float64)
EQUAL = torch.ones(5, dtype=torch.float64)


def drawn_logits(seed: int = 0) -> torch.Tensor:
    return 2 * torch.randn(8, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def loss(logits: torch.Tensor, objective: Objective, weights: torch.Tensor = WEIGHTS) -> torch.Tensor:
    return loss_of(logits, LABELS, TARGETS, weights, objective)


def naive(logits: torch.Tensor, objective: Objective) -> float:
    proba = logits.softmax(1).tolist()
    supervised = [-math.log(proba[row][label]) for row, label in enumerate(LABELS.tolist())]
    pseudo = []
    for row, target in enumerate(TARGETS.tolist()):
        confidence = proba[3 + row][target]
        pseudo.append(-math.log(confidence) * WEIGHTS[row].item() if confidence > objective.threshold else 0.0)
    return sum(supervised) / 3 + objective.weight * sum(pseudo) / 5


@settings(deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1), st.floats(0, 5))
def test_it_is_the_formula(seed: int, threshold: float, weight: float) -> None:
    objective = Objective(weight, threshold)
    assert loss(drawn_logits(seed), objective).item() == pytest.approx(naive(drawn_logits(seed), objective), abs=1e-10)


@pytest.mark.parametrize("changed", range(5))
def test_a_row_is_gated_by_its_own_confidence_alone(changed: int) -> None:
    """The (B, B) broadcast of the released code fails here: there every gate touches every row."""
    objective = Objective(threshold=0.3)
    before = drawn_logits()
    after = before.clone()
    after[3 + changed] = torch.tensor([9.0, -9.0, 0.0])
    for row in range(5):
        only_row = torch.nn.functional.one_hot(torch.tensor(row), 5).double()
        same = torch.equal(loss(before, objective, only_row), loss(after, objective, only_row))
        assert same or row == changed


def test_the_gate_opens_above_the_threshold_not_at_it() -> None:
    even = torch.zeros(4, 2, dtype=torch.float64)  # every confidence is one half
    zeros = torch.zeros(2, dtype=torch.int64)
    at, below = (
        loss_of(even, zeros, zeros, EQUAL[:2], Objective(threshold=threshold)).item()
        for threshold in (0.5, math.nextafter(0.5, 0))
    )
    assert at == pytest.approx(math.log(2)) and below == pytest.approx(2 * math.log(2))


def test_the_gradient_is_that_of_cross_entropy_with_a_constant_gate() -> None:
    objective = Objective(weight=1.5, threshold=0.4)
    logits = drawn_logits().requires_grad_()
    loss(logits, objective).backward()  # type: ignore[no-untyped-call]
    proba = logits.detach().softmax(1)
    error = proba - torch.nn.functional.one_hot(torch.cat([LABELS, TARGETS]), 3)
    gate = (proba[3:].gather(1, TARGETS[:, None])[:, 0] > objective.threshold).double()
    assert 0 < gate.sum() < 5
    factors = torch.cat([torch.full((3,), 1 / 3, dtype=torch.float64), 1.5 * gate * WEIGHTS / 5])
    torch.testing.assert_close(logits.grad, factors[:, None] * error)
    assert logits.grad is not None and (logits.grad[3:][gate == 0] == 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_agrees_with_finite_differences(seed: int) -> None:
    logits = drawn_logits(seed).requires_grad_()
    assert torch.autograd.gradcheck(lambda given: loss(given, Objective(1.3, 0.35)), logits)


@pytest.mark.parametrize("objective", [Objective(weight=0.0), Objective(threshold=1.0)])
def test_no_weight_or_a_shut_gate_leaves_the_labels_alone(objective: Objective) -> None:
    sure = 1e4 * torch.nn.functional.one_hot(torch.cat([LABELS, TARGETS]), 3).double()  # confidence is exactly one
    for logits in (drawn_logits(), sure):
        plain = torch.nn.functional.cross_entropy(logits[:3], LABELS)
        assert torch.equal(loss(logits, objective), plain)
    assert not objective.uses_pseudo_labels


def test_without_trusted_rows_it_is_plain_cross_entropy() -> None:
    logits = drawn_logits()[:3]
    found = loss_of(logits, LABELS, TARGETS[:0], WEIGHTS[:0], Objective())
    assert torch.equal(found, torch.nn.functional.cross_entropy(logits, LABELS))


def test_the_weight_scales_the_trusted_part() -> None:
    logits, zero = drawn_logits(), Objective(0.0, 0.2)
    parts = [loss(logits, Objective(weight, 0.2)) - loss(logits, zero) for weight in (1.0, 3.0)]
    torch.testing.assert_close(parts[1], 3 * parts[0])
