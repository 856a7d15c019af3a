"""The facts of every source, counted by hand on five rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from actune.weak.label_models import combine
from actune.weak.sources import SourceFacts, describe, in_conflict
from actune.weak.votes import Votes

VOTES = Votes(
    np.array([[0, 0, -1, -1], [0, 1, -1, -1], [-1, 1, 1, -1], [2, -1, -1, -1], [-1, -1, -1, -1]]), tuple("abcd")
)


def test_facts_by_hand() -> None:
    facts = describe(VOTES, combine("majority", VOTES, 3), np.array([0, 1, 1, -1, 0]))
    a, b, c, d = facts
    assert a == SourceFacts("a", (0, 2), 0.6, 0.4, 0.2, pytest.approx((1 + 0.5 + 1) / 3), 0.5, 2)
    assert b == SourceFacts("b", (0, 1), 0.6, 0.6, 0.2, pytest.approx((1 + 0.5 + 1) / 3), 1.0, 3)
    assert c == SourceFacts("c", (1,), 0.2, 0.2, 0.0, 1.0, 1.0, 1)
    assert (d.classes, d.coverage, d.measured_accuracy, d.measured_on) == ((), 0.0, None, 0)
    assert math.isnan(d.estimated_accuracy)
    assert in_conflict(VOTES).tolist() == [False, True, False, False, False]


def test_without_truth() -> None:
    facts = describe(VOTES, combine("em", VOTES, 3))
    assert {(one.measured_accuracy, one.measured_on) for one in facts} == {(None, 0)}
