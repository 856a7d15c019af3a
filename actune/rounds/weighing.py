"""The weak rows of a round: which rows still have a weak label, and how much these count beside the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from actune.core.training_set import WeakRows
from actune.rounds.cross_validating import judge_answers
from actune.weak.weighing import (
    FEWEST,
    MASS,
    USELESS,
    precision,
    share_of_steps,
    share_right_by_agreement,
    share_right_elsewhere,
    share_right_unseen,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from actune.core.labels import Labels
    from actune.core.streams import Streams
    from actune.rounds.prepared import PreparedTask

READ = 4096  # rows of the pool on which the model of the answers alone is judged
NOT_USED = "are not used in this round: they are hardly better than guesses, or a model of the answers is far better"


@dataclass(frozen=True)
class Guesses:
    """Labels that nobody has given, by row of the pool as it was when the run began."""

    labels: npt.NDArray[np.int64]  # (rows,), -1 where there is none
    confidence: npt.NDArray[np.float64]  # (rows,), the probability of that label
    source: str  # what they come from, as a sentence begins with it


@dataclass(frozen=True)
class Weighed:
    """The weak rows to train on beside the answers, none where these are better off alone, and what is to be told."""

    rows: WeakRows | None = None
    notes: tuple[str, ...] = ()


def weigh(prepared: PreparedTask, labels: Labels, guesses: Guesses, streams: Streams) -> Weighed:
    """How the answers so far judge the guesses: those that are rarely right are trained on seldom or never."""
    classes = len(prepared.task.pool.classes)
    answered = np.asarray(sorted(labels.of_row), np.int64)
    answers = np.asarray([labels.of_row[row] for row in answered.tolist()], np.int64)
    guessed = np.full(len(prepared.task.pool), -1)
    guessed[: len(guesses.labels)] = guesses.labels  # texts that were added later have none
    said = guessed[answered]
    right = precision(said, answers, classes)
    guessed[[*labels.of_row, *labels.skipped]] = -1
    rows = np.flatnonzero(guessed >= 0)
    sure, given = guesses.confidence[rows], guessed[rows]
    weights = sure * right[given] ** 2
    if not len(rows) or not weights.sum():
        return Weighed()
    both = said >= 0
    weak = share_right_elsewhere(guesses.confidence[answered[both]], (said == answers)[both], sure)
    until = share_of_steps(weak, _share_of_the_model(prepared, labels, streams, guessed, weak), classes)
    if until < USELESS:
        return Weighed(notes=(f"{guesses.source} {NOT_USED}",))
    return Weighed(WeakRows(rows, given, weights / weights.sum(), MASS, until))


def _share_of_the_model(
    prepared: PreparedTask, labels: Labels, streams: Streams, guessed: npt.NDArray[np.int64], weak: float
) -> float:
    """How often a model of the answers alone is right about texts of the pool: the lower of two estimates."""
    count, classes = len(prepared.task.pool), len(prepared.task.pool.classes)
    rows = np.sort(streams.rng("judged by answers").choice(count, min(READ, count), replace=False))
    estimate, said = judge_answers(prepared, labels, streams, rows)
    both = guessed[rows] >= 0
    if said is not None and both.sum() >= FEWEST:
        agreed = float((said == guessed[rows])[both].mean())
        estimate = min(estimate, share_right_by_agreement(agreed, weak, classes))
    return share_right_unseen(estimate, len(labels.of_row), classes)
