"""How much weak labels count beside answers: learnt by comparing them with a model of the answers alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

MASS = 100  # labelled rows that all weak rows together count for
IMAGINED = 5  # answers on each class of weak labels that are right as often as those on all
UNSEEN = 20  # answers with which an estimate of a model counts half: they do not show the classes that it never saw
USELESS = 0.05  # a share of the steps below which weak labels are left out
FEWEST = 100  # texts with a weak label on which agreement tells anything
TELLING = 0.2  # the least skill of weak labels by which a model can be judged
SUREST = 0.999  # a confidence above which no label counts as surer

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating]


def precision(guessed: Rows, answers: Rows, classes: int) -> npt.NDArray[np.float64]:  # (classes,)
    """How often the weak labels of each class are right; of a class with few answers about as often as of all."""
    both = guessed >= 0
    right = guessed[both][guessed[both] == answers[both]]
    hits, seen = (np.bincount(each, minlength=classes) for each in (right, guessed[both]))
    found: npt.NDArray[np.float64] = (hits + IMAGINED * (hits.sum() + 1) / (seen.sum() + 2)) / (seen + IMAGINED)
    return found


def share_right_elsewhere(sure: Floats, right: npt.NDArray[np.bool_], elsewhere: Floats) -> float:
    """How often weak labels are right on other texts, told by those on answered texts and by how sure they are.

    Methods ask about unsure texts, on which weak labels are often wrong. So it is not the share of right ones that is
    carried over, but by how much their confidence is wrong: one number added to its log-odds (Platt scaling with a
    fixed slope), with a normal prior around 0 because there are few answers at first.
    """
    from scipy.optimize import brentq
    from scipy.special import expit, logit

    odds, others = (logit(np.clip(each, 1 - SUREST, SUREST)) for each in (sure, elsewhere))
    most = len(odds) + 1.0  # beyond it the prior outweighs all answers
    shift = brentq(lambda by: float((expit(odds + by) - right).sum()) + by, -most, most)
    return float(expit(others + shift).mean())


def share_right_by_agreement(agreed: float, weak: float, classes: int) -> float:
    """How often a model is right, told by how often it agrees with weak labels that are right so often.

    If both err independently, they agree where both are right, and by chance where neither is. A model of few answers
    to a method's questions says one class too often, which its answers do not show and other labels do. Labels that are
    hardly better than guesses tell nothing: then it is 1.
    """
    if skill(weak, classes) < TELLING:
        return 1.0
    by_chance = (1 - weak) / (classes - 1)
    return float(np.clip((agreed - by_chance) / (weak - by_chance), 1 / classes, 1))


def share_right_unseen(estimate: float, answers: int, classes: int) -> float:
    """How often a model of so many answers is right: nearer to guessing than these say, as long as they are few."""
    return 1 / classes + (estimate - 1 / classes) * answers / (answers + UNSEEN)


def share_of_steps(weak: float, model: float, classes: int) -> float:
    """The share of a fit that has weak rows, by how often weak labels and a model of the answers alone are right.

    It is a half where both are equally good, and nearly the whole fit or nearly nothing of it where one is far better
    than the other. Good means better than a guess among the classes.
    """
    if skill(weak, classes) <= 0:
        return 0.0
    skills = np.clip([skill(share, classes) for share in (weak, model)], 1 - SUREST, SUREST)
    squared = (skills / (1 - skills)) ** 2
    return float(squared[0] / squared.sum())


def skill(share: float, classes: int) -> float:
    """What is right beyond guesses: 0 for guesses among the classes, and 1 where all is right."""
    return (share - 1 / classes) / (1 - 1 / classes)
