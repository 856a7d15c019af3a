"""How much weak labels count: what answers say about them, and about a model of the answers alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from actune.weak.weighing import (
    precision,
    share_of_steps,
    share_right_by_agreement,
    share_right_elsewhere,
    share_right_unseen,
)

CLASSES = 3


def test_labels_on_hard_texts_are_not_taken_for_all_of_them() -> None:
    """Only texts with unsure labels are asked about; the share on all others is told by the confidence there."""
    rng = np.random.default_rng(0)
    for wrong_by in (-1.0, 0.0, 1.0):  # how far the log-odds of the confidence are from the truth
        sure = rng.uniform(0.2, 0.95, 20_000)
        right = rng.random(20_000) < expit(logit(sure) + wrong_by)
        asked = np.argsort(sure)[:400]
        found = share_right_elsewhere(sure[asked], right[asked], sure)
        assert found == pytest.approx(right.mean(), abs=0.05)
        assert abs(right[asked].mean() - right.mean()) > 0.2  # what the asked texts say, taken as it is


def test_without_answers_the_confidence_is_believed() -> None:
    none = np.empty(0)
    assert share_right_elsewhere(none, none.astype(bool), np.array([0.5, 0.9])) == pytest.approx(0.7)
    one = share_right_elsewhere(np.array([0.6]), np.array([False]), np.array([0.6]))
    assert 0.4 < one < 0.6  # one wrong label says little


def test_confidence_of_one_and_nought_is_no_error() -> None:
    sure = np.array([1.0, 1.0, 0.0])
    assert 0 < share_right_elsewhere(sure, np.array([True, False, True]), sure) < 1


def test_agreement_with_weak_labels_tells_how_good_a_model_is() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 50_000)

    def said(right: float) -> np.ndarray:
        """Labels that err independently of all others."""
        return np.where(rng.random(len(truth)) < right, truth, (truth + rng.integers(1, 4, len(truth))) % 4)

    for weak, model in ((0.6, 0.4), (0.6, 0.9), (0.9, 0.5)):
        agreed = float((said(weak) == said(model)).mean())
        assert share_right_by_agreement(agreed, weak, 4) == pytest.approx(model, abs=0.03)
    assert share_right_by_agreement(0.3, 0.35, 4) == share_right_by_agreement(0.3, 0.1, 4) == 1  # they tell nothing
    assert share_right_by_agreement(0.0, 0.7, 4) == 0.25


@pytest.mark.parametrize("count", [30, 199, 200])
def test_labels_that_are_sure_and_wrong_are_not_believed(count: int) -> None:
    sure = np.full(count, 0.9999)
    assert share_right_elsewhere(sure, np.zeros(count, bool), sure) < 0.5
    assert share_right_elsewhere(1 - sure, np.ones(count, bool), 1 - sure) > 0.5


def test_few_answers_do_not_show_what_a_model_gets_wrong() -> None:
    found = [share_right_unseen(0.7, count, 5) for count in (0, 20, 80, 10**6)]
    assert found == pytest.approx([0.2, 0.45, 0.6, 0.7], abs=1e-4)


def test_the_better_of_weak_labels_and_model_has_most_of_a_fit() -> None:
    assert share_of_steps(0.7, 0.7, 4) == 0.5
    assert share_of_steps(0.75, 0.625, 4) == pytest.approx(0.8)  # 2/3 and 1/2 of the way from a guess to the truth
    assert share_of_steps(0.625, 0.75, 4) == pytest.approx(0.2)
    assert share_of_steps(0.3, 0.9, 5) < 0.01 and share_of_steps(0.9, 0.0, 5) > 0.99
    assert 0 <= share_of_steps(0.0, 1.0, 2) < share_of_steps(1.0, 0.0, 2) <= 1


def test_guesses_have_no_part_in_a_fit() -> None:
    assert share_of_steps(0.2, 0.1, 5) == share_of_steps(0.5, 0.5, 2) == 0


def test_precision_by_class_is_drawn_to_the_mean() -> None:
    guessed = np.array([0] * 20 + [1] * 20 + [-1] * 5)
    answers = np.array([0] * 20 + [2] * 20 + [1] * 5)
    found = precision(guessed, answers, CLASSES)
    assert found[0] > 0.85 and found[1] < 0.15 and 0.45 < found[2] < 0.55
