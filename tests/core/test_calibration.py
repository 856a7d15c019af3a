"""How many pseudo-labels are right, told by rows that the model has not learnt."""

from __future__ import annotations

import numpy as np
import pytest

from actune.core.calibration import HeldOut, calibrated_share, temperature


def overconfident(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Predictions that are right less often than they say: with the square of their confidence."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.3, 1, rows).astype(np.float32)
    return confidence, rng.random(rows) < confidence**2


def of_one_class(confidence: np.ndarray, right: np.ndarray) -> HeldOut:
    return HeldOut(np.zeros(len(right), np.int64), confidence, right)


def asked(held: HeldOut, confidence: np.ndarray) -> float | None:
    return held.accuracy_of(np.zeros(len(confidence), np.int64), confidence)


def test_an_overconfident_model_is_seen_through_also_where_trusted_rows_are_surer_than_others() -> None:
    held = of_one_class(*overconfident(2000, 0))
    confidence, right = overconfident(5000, 1)
    sure = confidence > 0.8
    assert asked(held, confidence[sure]) == pytest.approx(right[sure].mean(), abs=0.04)
    assert confidence[sure].mean() - right[sure].mean() > 0.08  # what the model says of itself is no estimate


def test_worked_out_by_hand() -> None:
    held = of_one_class(np.float32([0.2, 0.4, 0.6, 0.8]), np.array([False, True, False, True]))
    # 0.4 and 0.6 disagree with their order and share their mean
    assert asked(held, np.float32([0.1, 0.5, 0.9])) == pytest.approx((0 + 0.5 + 1) / 3)


def test_a_class_passed_on_more_often_than_it_is_predicted_counts_more() -> None:
    held = HeldOut(np.array([0, 0, 0, 1]), np.full(4, 0.7, np.float32), np.array([True, True, True, False]))
    confidence = np.full(4, 0.7, np.float32)
    assert held.accuracy_of(np.array([0, 0, 0, 1]), confidence) == pytest.approx(3 / 4)  # as it is predicted
    assert held.accuracy_of(np.array([0, 1, 0, 1]), confidence) == pytest.approx(1 / 2)  # in equal shares
    assert held.accuracy_of(np.array([1, 1, 1, 1]), confidence) == pytest.approx(0)
    assert held.accuracy_of(np.array([0, 1, 2, 2]), confidence) == pytest.approx(1 / 2)  # nothing is known of class 2
    assert held.accuracy_of(np.array([2, 2, 3, 3]), confidence) == pytest.approx(3 / 4)  # nor of any: all tell alike


def test_nothing_to_tell_is_no_number() -> None:
    none = np.empty(0, np.float32)
    assert asked(of_one_class(none, np.empty(0, bool)), np.float32([0.5])) is None
    assert asked(of_one_class(np.float32([0.5]), np.array([True])), none) is None


def sharpened(rows: int, by: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities of three classes that are `by` times as sharp as the classes are drawn, and these classes."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(rows, 3)) * 2
    chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    known = (chances.cumsum(1) < rng.random((rows, 1))).sum(1)
    said = by * logits
    return said - np.log(np.exp(said).sum(1, keepdims=True)), known


@pytest.mark.parametrize("by", [0.5, 1.0, 3.0])
def test_the_temperature_takes_back_what_made_a_model_too_sure(by: float) -> None:
    log_proba, known = sharpened(20_000, by, 0)
    found = temperature(log_proba, known)
    assert found == pytest.approx(by, rel=0.05)
    others, truth = sharpened(20_000, by, 1)
    predicted = others.argmax(1)
    assert calibrated_share(others, predicted, found) == pytest.approx((predicted == truth).mean(), abs=0.02)


def test_no_rows_have_no_share() -> None:
    assert calibrated_share(np.zeros((0, 2), np.float32), np.zeros(0, np.int64), 1.0) is None
