"""The weak rows of a round: which rows still have a weak label, and how much these count beside the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from actune.core.training_set import WeakRows
from actune.models.learners import PROBE
from actune.models.probing import Embeddings, Probing
from actune.weak.weighing import agrees_by_chance, best_mass, precision, share_of_steps

if TYPE_CHECKING:
    import numpy.typing as npt

    from actune.core.labels import Labels
    from actune.core.streams import Streams
    from actune.rounds.prepared import PreparedTask

COMPARED = 4096  # weak rows that are looked at to learn what they are worth
BY_CHANCE = "are not used in this round, because they agree with the answers no more often than by chance"


@dataclass(frozen=True)
class Guesses:
    """Labels that nobody has given, by row of the pool as it was when the run began."""

    labels: npt.NDArray[np.int64]  # (rows,), -1 where there is none
    confidence: npt.NDArray[np.float64]  # (rows,), the probability of that label
    source: str  # what they come from, as a sentence begins with it
    least: float = 1.0  # the share of the least mass that they have whatever the answers say


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
    if agrees_by_chance(guessed[answered], answers, classes):
        return Weighed(notes=(f"{guesses.source} {BY_CHANCE}",))
    right = precision(guessed[answered], answers, classes)
    guessed[[*labels.of_row, *labels.skipped]] = -1
    rows = np.flatnonzero(guessed >= 0)
    given = guessed[rows]
    weights = guesses.confidence[rows] * right[given] ** 2
    if not len(rows) or not weights.sum():
        return Weighed()
    chances = weights / weights.sum()
    rng = streams.rng("weight of weak labels")
    drawn = min(COMPARED, int(np.count_nonzero(chances)))
    some = np.sort(rng.choice(len(rows), drawn, replace=False, p=chances))
    vectors = _vectors(prepared, np.concatenate([answered, rows[some]]))
    known, others = vectors[: len(answered)], vectors[len(answered) :]
    mass = best_mass(known, answers, others, given[some], classes, rng, guesses.least)
    until = share_of_steps(len(answered), classes)
    return Weighed(WeakRows(rows, given, chances, mass, until) if mass else None)


def _vectors(prepared: PreparedTask, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Frozen embeddings of some rows of the pool."""
    if isinstance(prepared.learner, Probing):
        found: Embeddings = prepared.pool.only(rows)
    else:
        classes, texts = len(prepared.task.pool.classes), prepared.task.pool.texts.take(rows)
        probe = Probing(prepared.folder, classes, prepared.max_tokens, PROBE, prepared.device)
        found = probe.prepare(texts, prepared.progress)
    vectors: npt.NDArray[np.float32] = found.vectors.cpu().numpy()
    return vectors
