"""How much weak labels count: what answers say about them, and the least of it."""

from __future__ import annotations

import numpy as np
import pytest

from actune.weak.weighing import (
    agrees_by_chance,
    best_mass,
    least_mass,
    precision,
    share_of_steps,
    validated_hits,
)

CLASSES = 3
RNG = np.random.default_rng(5)
CENTRES = np.eye(CLASSES, 12)
TRUTH = RNG.integers(0, CLASSES, 700)
POINTS = CENTRES[TRUTH] + 0.5 * RNG.normal(size=(700, 12))


WRONG = (TRUTH + 1) % CLASSES


def hits_of(weak: np.ndarray, answers: int) -> list[int]:
    known, others = slice(0, answers), slice(answers, 700)
    rng = np.random.default_rng(0)
    return validated_hits(POINTS[known], TRUTH[known], POINTS[others], weak[others], CLASSES, rng).tolist()


def test_answers_tell_right_labels_from_wrong_ones() -> None:
    right, wrong = hits_of(TRUTH, 30), hits_of(WRONG, 30)
    assert right[0] == wrong[0]  # without weak rows
    assert right[-1] > right[0] > wrong[-1]


def test_wrong_labels_count_for_the_least_mass_alone() -> None:
    known, others = slice(0, 300), slice(300, 700)
    given = POINTS[known], TRUTH[known], POINTS[others], WRONG[others], CLASSES
    assert best_mass(*given, np.random.default_rng(0)) <= 50 < least_mass(100)
    assert best_mass(*given, np.random.default_rng(0), least=0.0) <= 50


def test_the_least_mass_falls_with_the_answers() -> None:
    found = [least_mass(count) for count in (0, 50, 200, 500, 2000)]
    assert found == [200, 156, 74, 16, 0]
    shares = [share_of_steps(count, CLASSES) for count in (0, 50, 500, 10**6)]
    assert shares[0] == 1 and shares == sorted(shares, reverse=True) and shares[-1] == pytest.approx(0.5, abs=1e-3)


def test_agreement_by_chance() -> None:
    answers = np.array([0, 1] * 20)
    assert agrees_by_chance(np.zeros(40, np.int64), answers, 2)  # half of them agree, as must be
    assert not agrees_by_chance(answers, answers, 2)
    assert not agrees_by_chance(np.zeros(40, np.int64)[:10], answers[:10], 2)  # too few to tell
    assert not agrees_by_chance(np.full(40, -1), answers, 2)


def test_precision_by_class_is_drawn_to_the_mean() -> None:
    guessed = np.array([0] * 20 + [1] * 20 + [-1] * 5)
    answers = np.array([0] * 20 + [2] * 20 + [1] * 5)
    found = precision(guessed, answers, CLASSES)
    assert found[0] > 0.85 and found[1] < 0.15 and 0.45 < found[2] < 0.55
