"""How much weak labels count beside answers: learnt from the answers by cross-validation of a fast linear model."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

MASSES = (0, 50, 100, 200)  # labelled rows that all weak rows together may count for
# answers that each of these is given as right in advance: without any, weak labels count fully, and with hundreds of
# answers cross-validation alone decides
HEAD_START = (0.0, 1.0, 1.5, 2.0)
FADING = 200  # answers by which the least mass falls to a third
LAST_WORD = 0.5  # of a fit on very many answers: the share of its steps that have answers alone
IMAGINED = 5  # answers on each class of weak labels that are right as often as those on all
FOLDS = 5
PENALTY = 1.0  # of the squared weights, for vectors of length one
FEWEST_COMPARED = 20  # answers on rows with a weak label, before these can be called useless
CHANCE = 0.05  # as likely or likelier: agreement that chance explains

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating]


def precision(guessed: Rows, answers: Rows, classes: int) -> npt.NDArray[np.float64]:  # (classes,)
    """How often the weak labels of each class are right; of a class with few answers about as often as of all."""
    both = guessed >= 0
    right = guessed[both][guessed[both] == answers[both]]
    hits, seen = (np.bincount(each, minlength=classes) for each in (right, guessed[both]))
    found: npt.NDArray[np.float64] = (hits + IMAGINED * (hits.sum() + 1) / (seen.sum() + 2)) / (seen + IMAGINED)
    return found


def best_mass(
    answered: Floats,  # (answers, width), embeddings
    answers: Rows,
    vectors: Floats,  # (weak rows, width)
    labels: Rows,
    classes: int,
    rng: np.random.Generator,
    least: float = 1.0,  # the share of the least mass, and of the head start
) -> int:
    """The mass of the weak rows with which a linear model is most often right about answers that it has not seen.

    It is never below a mass that falls with the answers: methods ask about texts on which weak labels are often wrong,
    so the first answers make them look worse than they are elsewhere.
    """
    hits = validated_hits(answered, answers, vectors, labels, classes, rng)
    return max(MASSES[int((hits + least * np.array(HEAD_START)).argmax())], round(least * least_mass(len(answers))))


def least_mass(answers: int) -> int:
    """What weak labels count for in any case: 156 labelled rows with 50 answers, 74 with 200, 16 with 500."""
    return round(MASSES[-1] * math.exp(-answers / FADING))


def share_of_steps(answers: int, classes: int) -> float:
    """The share of a fit that has weak rows: nearly all of it with few answers, which would soon make it forget."""
    return 1 - LAST_WORD * answers / (answers + 2 * classes + FADING)


def agrees_by_chance(guessed: Rows, answers: Rows, classes: int) -> bool:
    """Whether weak labels and answers agree no more often than labels that were dealt out in the same proportions."""
    from scipy.stats import binom

    both = guessed >= 0
    count = int(both.sum())
    if count < FEWEST_COMPARED:
        return False
    shares = [np.bincount(each[both], minlength=classes) / count for each in (guessed, answers)]
    agreed = int((guessed[both] == answers[both]).sum())
    return bool(binom.sf(agreed - 1, count, shares[0] @ shares[1]) > CHANCE)


def validated_hits(
    answered: Floats, answers: Rows, vectors: Floats, labels: Rows, classes: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:  # (masses,)
    """How many answers a linear model predicts from the other folds and the weak rows, for each of their masses.

    Squared errors have a closed form, so that all these fits together take less than a second.
    """
    known, weak = _with_bias(answered), _with_bias(vectors)
    said, guessed = np.eye(classes)[answers], np.eye(classes)[labels]
    moments, targets = known.T @ known, known.T @ said
    weak_moments, weak_targets = weak.T @ weak / len(weak), weak.T @ guessed / len(weak)
    penalty = PENALTY * np.eye(known.shape[1])
    folds = _folds(answers, rng)
    hits = np.zeros(len(MASSES), np.int64)
    for fold in range(FOLDS):
        out = folds == fold
        inner = moments - known[out].T @ known[out]
        aims = targets - known[out].T @ said[out]
        for place, mass in enumerate(MASSES):
            solved = np.linalg.solve(inner + mass * weak_moments + penalty, aims + mass * weak_targets)
            hits[place] += int(((known[out] @ solved).argmax(1) == answers[out]).sum())
    return hits


def _folds(answers: Rows, rng: np.random.Generator) -> Rows:
    """The fold of each answer; each class is spread over all of them."""
    shuffled = rng.permutation(len(answers))
    folds = np.empty(len(answers), np.int64)
    folds[shuffled[np.argsort(answers[shuffled], kind="stable")]] = np.arange(len(answers)) % FOLDS
    return folds


def _with_bias(vectors: Floats) -> npt.NDArray[np.float64]:
    return np.concatenate([vectors, np.ones((len(vectors), 1))], axis=1, dtype=np.float64)
