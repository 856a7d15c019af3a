"""The model of a round: fitted on answers, and on pseudo-labels of the last round's model or of a teacher."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from actune.core.classifier import Classifier
from actune.core.labels import Labels
from actune.core.objective import PLAIN
from actune.core.progress import Progress, part
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet, WeakRows
from actune.methods.memory import Pace
from actune.methods.method import Method
from actune.rounds.outputs import free_rows, view_of, view_of_some
from actune.rounds.prepared import PreparedTask
from actune.rounds.pseudo_labels import held_out, judged

if TYPE_CHECKING:
    import numpy.typing as npt

    from actune.core.objective import Objective

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fitted:
    """The model of a round, what it learnt from, and the pseudo-labels that were chosen, used or not."""

    classifier: Classifier
    training: TrainingSet
    pseudo_labels: PseudoLabels
    rival: Classifier | None = None  # of a teacher and its last student the one that was not taken
    notes: tuple[str, ...] = ()  # what is to be told of its weak labels

    @property
    def used(self) -> bool:
        """Whether the model has learnt from the pseudo-labels, so far as there are any."""
        return bool(len(self.training.pseudo_labels)) or not len(self.pseudo_labels)


def training_set(
    labels: Labels, weak: Mapping[int, int], pseudo_labels: PseudoLabels, weighed: WeakRows | None = None
) -> TrainingSet:
    """Labelled rows in row order, and the pseudo-labels of rows that nobody has answered or skipped since.

    Weak labels count as much as answers, and those that are `weighed` as much as they are worth.
    """
    known = {row: label for row, label in weak.items() if row not in labels.skipped} | labels.of_row
    rows = np.asarray(sorted(known), np.int64)
    classes = np.asarray([known[row] for row in rows.tolist()], np.int64)
    return TrainingSet(rows, classes, pseudo_labels.without({*labels.of_row, *labels.skipped}), weighed)


def fit(
    prepared: PreparedTask,
    method: Method,
    labels: Labels,
    training: TrainingSet,
    streams: Streams,
    horizon: int,
    rejected: Collection[int] = (),
) -> Fitted:
    """Eq. 1 and 14. A teacher, where the method has one, is fitted first and pseudo-labels what its student learns.

    Rejected rows get no pseudo-label.
    """
    teacher = method.teacher
    if teacher is None or method.self_training is None or not len(labels.of_row):
        classifier = _train(prepared, training, method.objective, streams, prepared.progress)
        return Fitted(classifier, training, training.pseudo_labels)
    taught = _train(prepared, training, PLAIN, streams, part(prepared.progress, 1, 1 + teacher.generations))
    newest = Fitted(taught, training, PseudoLabels.none())
    trusting = labels.without({*rejected} - labels.of_row.keys()) if rejected else labels
    for generation in range(1, teacher.generations + 1):  # the teacher's own streams are those of generation 0
        newest = student(prepared, method, newest, trusting, replace(streams, generation=generation), horizon)
    if newest.classifier is taught:
        return newest
    if teacher.may_stay and _clearly_better(prepared, taught, newest.classifier):
        return Fitted(taught, training, newest.pseudo_labels, newest.classifier)
    return replace(newest, rival=taught)


def student(
    prepared: PreparedTask, method: Method, teacher: Fitted, labels: Labels, streams: Streams, horizon: int
) -> Fitted:
    """The student of the newest model, or that model where it trusts nothing: the same fit again."""
    assert method.teacher and method.self_training
    pace, classifier = Pace(streams.round, horizon), teacher.classifier
    rows = _sample(free_rows(prepared, labels), method.teacher.reads, streams)
    if rows is None:
        view = view_of(prepared, classifier, labels, streams)
    else:
        view = view_of_some(prepared, classifier, rows, streams)
    found, _ = method.self_training(view, None, pace)
    pseudo_labels = judged(found, view, prepared, classifier, labels, streams, rows)
    if rows is not None:
        pseudo_labels = replace(pseudo_labels, rows=rows[pseudo_labels.rows])
    if not len(pseudo_labels):
        return teacher
    training = replace(teacher.training, pseudo_labels=pseudo_labels)
    start = classifier if method.teacher.hands_over else None
    progress = part(prepared.progress, 1 + streams.generation, 1 + method.teacher.generations)
    return Fitted(_train(prepared, training, method.objective, streams, progress, start), training, pseudo_labels)


def _sample(free: npt.NDArray[np.int64], most: int | None, streams: Streams) -> npt.NDArray[np.int64] | None:
    """The rows that a teacher reads where there are more than it would; None where it reads all."""
    if most is None or len(free) <= most:
        return None
    return np.sort(streams.rng("teacher's rows").choice(free, most, replace=False))


def _clearly_better(prepared: PreparedTask, one: Classifier, other: Classifier) -> bool:
    """Whether dev says so, by two standard errors of what the two disagree on; without a dev set nothing does."""
    if prepared.dev is None:
        return False
    ours, theirs = (held_out(each, prepared.dev).right for each in (one, other))
    ahead, behind = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
    return bool(ahead - behind > 2 * np.sqrt(ahead + behind))


def _train(
    prepared: PreparedTask,
    training: TrainingSet,
    objective: Objective,
    streams: Streams,
    progress: Progress,
    start: Classifier | None = None,
) -> Classifier:
    def train() -> Classifier:
        LOG.info("fitting on %d labels and %d pseudo-labels", len(training.rows), len(training.pseudo_labels))
        return prepared.learner.fit(prepared.pool, training, objective, streams, prepared.dev, progress, start)

    alike = streams.round == 0 and start is None and not len(training.pseudo_labels)
    return prepared.shared.first(prepared, training, objective, train) if prepared.shared and alike else train()
