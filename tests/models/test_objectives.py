"""The laws of Eq. 14, and of the losses that other methods put in its place."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.core.objective import NO_GATE, Objective
from actune.models.objectives import certainty, contrast, from_uniform, gated_loss, masked_mean, sharpened, soft_loss
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


def test_the_weight_of_the_labels_scales_their_part() -> None:
    logits = drawn_logits()
    half, whole = (loss(logits, Objective(0.0, supervised=share)) for share in (0.5, 1.0))
    torch.testing.assert_close(2 * half, whole)


def test_trap_4_a_loss_of_nothing_but_its_own_row() -> None:
    """Targets, weights and losses are vectors: the sum over rows one by one is the sum over the batch."""
    student = drawn_logits()[3:]
    assert TARGETS.shape == WEIGHTS.shape == student[:, 0].shape == (5,)
    together = gated_loss(student, TARGETS, WEIGHTS, Objective(threshold=0.3))
    assert together.shape == ()
    alone = [
        gated_loss(student[row : row + 1], TARGETS[row : row + 1], WEIGHTS[row : row + 1], Objective(threshold=0.3))
        for row in range(5)
    ]
    torch.testing.assert_close(together, torch.stack(alone).mean())


# generalised cross-entropy


def test_a_small_power_is_cross_entropy_and_one_is_a_plain_difference() -> None:
    student = drawn_logits()[3:]
    nearly, plain = (gated_loss(student, TARGETS, WEIGHTS, Objective(power=power, threshold=0)) for power in (1e-7, 0))
    torch.testing.assert_close(nearly, plain, rtol=1e-5, atol=0)
    missing = 1 - student.softmax(1).gather(1, TARGETS[:, None])[:, 0]
    one = gated_loss(student, TARGETS, WEIGHTS, Objective(power=1.0, threshold=0))
    torch.testing.assert_close(one, (missing * WEIGHTS).mean())


def test_generalised_cross_entropy_teaches_a_hopeless_row_less() -> None:
    def pull(power: float) -> float:
        logits = torch.tensor([[-6.0, 6.0]], dtype=torch.float64, requires_grad=True)
        objective = Objective(power=power, threshold=NO_GATE)
        gated_loss(logits, TARGETS[:1], EQUAL[:1], objective).backward()  # type: ignore[no-untyped-call]
        assert logits.grad is not None
        return float(logits.grad.norm())

    assert pull(0.8) < 0.01 * pull(0.0)


# COSINE


def teacher(seed: int = 1, rows: int = 5) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return (2 * torch.randn(rows, 3, generator=draw, dtype=torch.float64)).softmax(1)


def embedding(seed: int = 2) -> torch.Tensor:
    return torch.randn(8, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


SOFT = Objective(0.7, NO_GATE, targets="soft", certainty=0.25, contrast=1.3, confidence_penalty=0.4)


def naive_soft(logits: torch.Tensor, said: torch.Tensor, places: torch.Tensor, objective: Objective) -> float:
    """COSINE's loss by loops, for one batch of three labelled and five other rows."""
    proba, q = logits.softmax(1).tolist(), said.tolist()
    supervised = sum(-math.log(proba[row][label]) for row, label in enumerate(LABELS.tolist())) / 3
    shares = [sum(row[kind] for row in q) for kind in range(3)]
    raised = [[row[kind] ** 2 / shares[kind] for kind in range(3)] for row in q]
    target = [[value / sum(row) for value in row] for row in raised]
    sure = [1 + sum(p * math.log(p) for p in row) / math.log(3) for row in q]
    kept = [row for row in range(5) if sure[row] > objective.certainty]
    student = proba[3:]
    learnt = [sure[r] * sum(t * math.log(t / student[r][k]) for k, t in enumerate(target[r])) for r in kept]
    apart = [-math.log(3) - sum(math.log(p) for p in student[r]) / 3 for r in kept]
    pairs = []
    for row in range(5):
        other = (row + 1) % 5
        if row in kept and other in kept:
            one, two = places[3 + row], places[3 + other]
            distance = 1 - float(one @ two / (one.norm() * two.norm()))
            same = q[row].index(max(q[row])) == q[other].index(max(q[other]))
            pairs.append((distance**2 if same else max(0.0, 1 - distance) ** 2) / 2)
    terms = [(1.0, learnt), (objective.contrast, pairs), (objective.confidence_penalty, apart)]
    trusted: float = sum(factor * sum(found) / max(1, len(found)) for factor, found in terms)
    return float(supervised + objective.weight * trusted)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.floats(0, 0.8))
def test_soft_targets_are_the_formula(seed: int, sure: float) -> None:
    objective = Objective(0.7, NO_GATE, targets="soft", certainty=sure, contrast=1.3, confidence_penalty=0.4)
    logits, said, places = drawn_logits(seed), teacher(seed), embedding(seed)
    found = loss_of(logits, LABELS, TARGETS, WEIGHTS, objective, proba=said, embedding=places)
    assert found.item() == pytest.approx(naive_soft(logits, said, places, objective), abs=1e-8)


def test_where_no_row_is_certain_enough_the_labels_are_left() -> None:
    objective = Objective(0.7, NO_GATE, targets="soft", certainty=1.0, contrast=1.3, confidence_penalty=0.4)
    logits = drawn_logits()
    found = loss_of(logits, LABELS, TARGETS, WEIGHTS, objective, proba=teacher(), embedding=embedding())
    assert torch.equal(found, torch.nn.functional.cross_entropy(logits[:3], LABELS))


def test_soft_targets_do_not_look_at_hard_ones_or_their_weights() -> None:
    found = [
        loss_of(drawn_logits(), LABELS, targets, weights, SOFT, proba=teacher(), embedding=embedding())
        for targets, weights in ((TARGETS, WEIGHTS), (2 - TARGETS, 0 * WEIGHTS))
    ]
    assert torch.equal(*found)


def test_sharpened_targets_are_distributions_that_favour_sure_and_rare_classes() -> None:
    said = teacher()
    torch.testing.assert_close(sharpened(said).sum(1), EQUAL)
    alone = sharpened(torch.tensor([[0.6, 0.4], [0.4, 0.6]]).double())
    assert alone[0, 0] > 0.6 and alone[1, 1] > 0.6
    crowded = sharpened(torch.tensor([[0.51, 0.49]] + [[0.99, 0.01]] * 9).double())
    assert crowded[0].argmax() == 1


def test_a_class_that_nobody_predicts_divides_nothing_by_zero() -> None:
    said = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert sharpened(said).tolist() == [[1, 0], [1, 0]]
    assert certainty(said).tolist() == pytest.approx([1, 1])
    assert torch.isfinite(soft_loss(torch.zeros(2, 2), said, torch.tensor([True, True])))


def test_certainty_is_one_for_one_class_and_none_for_all() -> None:
    said = torch.tensor([[1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.0]])
    assert certainty(said).tolist() == pytest.approx([1, 0, 1 - math.log(2) / math.log(3)], abs=1e-6)


def test_contrast_draws_rows_of_one_class_together_and_of_two_apart() -> None:
    def moved(classes: list[int]) -> float:
        places = torch.tensor([[1.0, 0.0], [0.6, 0.8]], requires_grad=True)
        kept = torch.tensor([True, True])
        (slope,) = torch.autograd.grad(contrast(places, torch.tensor(classes), kept), places)
        after = places.detach() - 0.1 * slope
        return float(torch.cosine_similarity(after[0], after[1], dim=0)) - 0.6

    assert moved([1, 1]) > 0.01 and moved([0, 1]) < -0.01


def test_only_pairs_of_kept_rows_are_contrasted() -> None:
    places = embedding()[:4].clone()
    classes, kept = torch.tensor([0, 1, 0, 1]), torch.tensor([True, True, False, True])
    before = contrast(places, classes, kept)
    places[2] += 5
    assert torch.equal(before, contrast(places, classes, kept)) and before > 0
    assert contrast(places, classes, torch.tensor([True, False, True, False])) == 0


def test_the_confidence_term_is_none_for_an_even_student_and_grows() -> None:
    found = from_uniform(torch.tensor([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [9.0, 0.0, 0.0]])).tolist()
    assert found[0] == pytest.approx(0, abs=1e-6) and found[0] < found[1] < found[2]


def test_a_mean_of_nothing_is_nothing() -> None:
    values = torch.tensor([1.0, 2.0, 6.0])
    assert masked_mean(values, torch.tensor([True, False, True])) == 3.5
    assert masked_mean(values, torch.tensor([False, False, False])) == 0


@pytest.mark.parametrize("objective", [SOFT, Objective(1.0, 0.2, targets="sharpened"), Objective(1.0, 0.2, power=0.7)])
def test_every_kind_of_loss_agrees_with_finite_differences(objective: Objective) -> None:
    def of(logits: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        return loss_of(logits, LABELS, TARGETS, WEIGHTS, objective, proba=teacher(), embedding=places)

    assert torch.autograd.gradcheck(of, (drawn_logits().requires_grad_(), embedding().requires_grad_()))
