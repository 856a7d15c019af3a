"""How many pseudo-labels are right, told by rows that the model has not learnt."""

from __future__ import annotations

import numpy as np
import pytest

from actune.core.calibration import HeldOut


def overconfident(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Predictions that are right less often than they say: with the square of their confidence."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.3, 1, rows).astype(np.float32)
    return confidence, rng.random(rows) < confidence**2


def test_an_overconfident_model_is_seen_through_also_where_trusted_rows_are_surer_than_others() -> None:
    held = HeldOut(*overconfident(2000, 0))
    confidence, right = overconfident(5000, 1)
    sure = confidence > 0.8
    assert held.accuracy_of(confidence[sure]) == pytest.approx(right[sure].mean(), abs=0.04)
    assert confidence[sure].mean() - right[sure].mean() > 0.08  # what the model says of itself is no estimate


def test_worked_out_by_hand() -> None:
    held = HeldOut(np.float32([0.2, 0.4, 0.6, 0.8]), np.array([False, True, False, True]))
    # 0.4 and 0.6 disagree with their order and share their mean
    assert held.accuracy_of(np.float32([0.1, 0.5, 0.9])) == pytest.approx((0 + 0.5 + 1) / 3)


def test_nothing_to_tell_is_no_number() -> None:
    none = np.empty(0, np.float32)
    assert HeldOut(none, np.empty(0, bool)).accuracy_of(np.float32([0.5])) is None
    assert HeldOut(np.float32([0.5]), np.array([True])).accuracy_of(none) is None
