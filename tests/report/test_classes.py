"""Scores by class and confusions, by hand and from a run's own folder."""

from __future__ import annotations

import numpy as np
import pytest

from actune.report.classes import MOST_CLASSES, MOST_CONFUSIONS, OnTest, error_of_change, interval, on_test


def result(truth: list[int], predicted: list[int], classes: int) -> OnTest:
    names = tuple(f"c{number}" for number in range(classes))
    return OnTest("the model", np.array(truth), np.array(predicted), None, names, (1,) * classes)


def test_scores_by_hand():
    found = result([0, 0, 0, 1], [0, 0, 1, 1], 3)
    first, second, third = found.scores()
    assert (first.precision, first.recall, first.f1, first.support) == (1, pytest.approx(2 / 3), pytest.approx(0.8), 3)
    assert (second.precision, second.recall, second.support) == (0.5, 1, 1)
    assert (third.precision, third.recall, third.f1, third.support) == (None, None, None, 0)
    assert found.matrix.tolist() == [[2, 1, 0], [0, 1, 0], [0, 0, 0]]
    (pair,) = found.confusions()
    assert (pair.true, pair.predicted, pair.count, pair.share) == ("c0", "c1", 1, pytest.approx(1 / 3))


def test_of_many_classes_the_worst_and_the_most_frequent_confusions_are_told():
    truth = np.repeat(np.arange(77), 10)
    predicted = truth.copy()
    for number in range(40):  # class n is wrong n times out of ten at most
        predicted[10 * number : 10 * number + number % 10] = (number + 1) % 77
    found = result(truth.tolist(), predicted.tolist(), 77)
    scores, pairs = found.scores(), found.confusions()
    assert not found.whole and len(scores) == MOST_CLASSES and len(pairs) == MOST_CONFUSIONS
    assert [score.f1 for score in scores] == sorted(score.f1 for score in scores)
    assert scores[0].name == "c9" or scores[0].recall == 0.1
    assert [pair.count for pair in pairs] == sorted((pair.count for pair in pairs), reverse=True)


def test_the_result_of_a_run_is_that_of_its_last_round(opened):
    session = opened["actune"]
    found, last = on_test(session), session.rounds()[-1]
    assert (found.truth == found.predicted).mean() == pytest.approx(last.accuracy)
    assert found.model == f"the model of round {last.round}" and found.answers == last.class_counts
    assert found.confidence.shape == found.truth.shape and 0 < found.confidence.min() <= found.confidence.max() <= 1
    assert on_test(opened["project"]) is None and on_test(opened["begun"]) is None


def test_wilsons_interval():
    low, high = interval(0.8, 500)
    assert (low, high) == (pytest.approx(0.7627, abs=1e-4), pytest.approx(0.8327, abs=1e-4))
    assert interval(1.0, 10)[1] == pytest.approx(1.0) and interval(1.0, 10)[0] < 0.75


def test_the_error_of_a_change_counts_only_texts_that_changed():
    right = np.array([1] * 80 + [0] * 20)
    assert error_of_change(right, right) == 0
    after = right.copy()
    after[:4], after[80:90] = 0, 1  # ten better and four worse out of a hundred
    assert error_of_change(right, after) == pytest.approx(1.96 * np.sqrt(0.14 - 0.06**2) / 10)
