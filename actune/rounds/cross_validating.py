"""How good a model is where there is no test set: cross-validation on the answers themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from actune.core.calibration import calibrated_share, temperature
from actune.core.facts import CrossValidation, Share
from actune.core.objective import PLAIN
from actune.core.progress import Progress, part
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.models.learners import PROBE, find_learner
from actune.models.probing import Probing
from actune.rounds.metrics import macro_f1

if TYPE_CHECKING:
    import numpy.typing as npt

    from actune.core.classifier import Classifier, Learner
    from actune.core.labels import Labels
    from actune.core.streams import Streams
    from actune.rounds.prepared import PreparedTask

FOLDS = 5
FEWEST = 10  # answers that tell anything


@dataclass(eq=False)
class HeldOutAnswers:
    """What models that were fitted on the other answers say about each answer; those never held out are left out."""

    known: npt.NDArray[np.int64]
    log_proba: npt.NDArray[np.float32]  # (answers, classes)
    learner: str
    left_out: int
    plain: Classifier | None = None  # fitted on all answers alone, where it was needed


def cross_validate(prepared: PreparedTask, labels: Labels, streams: Streams) -> CrossValidation | None:
    """Accuracy on each fifth of the answers of a model that was fitted on the other four; None with too few answers."""
    found = hold_out(prepared, labels, streams)
    if found is None:
        return None
    predicted = found.log_proba.argmax(1)
    share = Share.of(int((predicted == found.known).sum()), len(predicted))
    return CrossValidation(share, macro_f1(predicted, found.known), FOLDS, found.learner, found.left_out)


def how_sure(
    prepared: PreparedTask,
    labels: Labels,
    streams: Streams,
    rows: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
) -> float | None:
    """The share of rows of the pool that have these classes, as far as the answers tell; None where they do not.

    It is told by a model of the answers alone, whose temperature is that of the held-out answers: a model that learnt
    its own predictions is surer than it is right. They tell it of a learner on a frozen encoder alone: a whole
    fine-tuning for every fold would take too long.
    """
    if not find_learner(prepared.learner_name).is_frozen_encoder or not len(rows):
        return None
    if (found := hold_out(prepared, labels, streams)) is None:
        return None
    said = _plain_model_says(prepared, labels, streams, found, rows)
    return calibrated_share(said, targets, temperature(found.log_proba, found.known))


def judge_answers(
    prepared: PreparedTask, labels: Labels, streams: Streams, rows: npt.NDArray[np.int64]
) -> tuple[float, npt.NDArray[np.int64] | None]:
    """How often a model of the answers alone is right about these rows, as far as the answers tell, and its classes.

    Where the encoder is fine-tuned they tell it of a probe and of texts like those that were asked about, and there are
    no classes of other rows.
    """
    if (found := hold_out(prepared, labels, streams)) is None:
        return 0.0, None
    if not find_learner(prepared.learner_name).is_frozen_encoder:
        return float((found.log_proba.argmax(1) == found.known).sum()) / len(labels.of_row), None
    said = _plain_model_says(prepared, labels, streams, found, rows)
    classes = said.argmax(1)
    return calibrated_share(said, classes, temperature(found.log_proba, found.known)) or 0.0, classes


def _plain_model_says(
    prepared: PreparedTask, labels: Labels, streams: Streams, found: HeldOutAnswers, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """What a model of the answers alone says about some rows, (rows, classes); it is fitted once a round."""
    if found.plain is None:
        answered = np.asarray(sorted(labels.of_row), np.int64)
        known = np.asarray([labels.of_row[row] for row in answered.tolist()], np.int64)
        training = TrainingSet(answered, known, PseudoLabels.none())
        progress = _validating(prepared.progress)
        found.plain = prepared.learner.fit(
            prepared.pool, training, PLAIN, replace(streams, generation=0), None, progress
        )
    said: npt.NDArray[np.float32] = found.plain.read(prepared.pool.only(rows)).log_proba.float().cpu().numpy()
    return said


def hold_out(prepared: PreparedTask, labels: Labels, streams: Streams) -> HeldOutAnswers | None:
    """Five fits, each without a fifth of the answers; the same answers in the same round are held out once.

    An answer that is the only one of its class is never held out, because a model without it could not be right.
    It takes a second or two, because every fit is one on frozen embeddings. Its random numbers are its own, so that it
    changes nothing else in a round.
    """
    key = streams.seed, streams.round, labels.of_row
    if prepared.held_out is None or prepared.held_out[0] != key:
        prepared.held_out = key, _hold_out(prepared, labels, replace(streams, generation=0))
    found: HeldOutAnswers | None = prepared.held_out[1]
    return found


def _hold_out(prepared: PreparedTask, labels: Labels, streams: Streams) -> HeldOutAnswers | None:
    rows = np.asarray(sorted(labels.of_row), np.int64)
    known = np.asarray([labels.of_row[row] for row in rows.tolist()], np.int64)
    tested = np.flatnonzero(np.bincount(known, minlength=1)[known] > 1)
    if len(tested) < FEWEST:
        return None
    learner, inputs, name = _frozen(prepared, rows)
    folds, log_proba = np.full(len(known), FOLDS), np.empty((len(known), len(prepared.task.pool.classes)), np.float32)
    folds[tested] = _folds(known[tested], streams.rng("cross-validation"))
    for fold in range(FOLDS):
        others, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        training = TrainingSet(others, known[others], PseudoLabels.none())
        progress = part(_validating(prepared.progress), fold + 1, FOLDS)
        classifier = learner.fit(inputs, training, PLAIN, streams, progress=progress)
        log_proba[held_out] = classifier.read(inputs.only(held_out)).log_proba.float().cpu().numpy()
    return HeldOutAnswers(known[tested], log_proba[tested], name, left_out=len(rows) - len(tested))


def _validating(progress: Progress) -> Progress:
    """These fits are not those of the round."""
    return lambda stage, done, total: progress("validate" if stage == "train" else stage, done, total)


def _frozen(prepared: PreparedTask, rows: npt.NDArray[np.int64]) -> tuple[Learner, Any, str]:
    """A learner on frozen embeddings and the answered texts as it reads them: the run's own one, or else a probe."""
    kind = find_learner(prepared.learner_name)
    if kind.is_frozen_encoder:
        return prepared.learner, prepared.pool.only(rows), kind.name
    classes, texts = len(prepared.task.pool.classes), [prepared.task.pool.texts[row] for row in rows.tolist()]
    probe = Probing(prepared.folder, classes, prepared.max_tokens, PROBE, prepared.device)
    return probe, probe.prepare(texts), "probe"


def _folds(known: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """The fold of each answer, with as equal shares of every class as there can be."""
    shuffled = rng.permutation(len(known))
    order = shuffled[np.argsort(known[shuffled], kind="stable")]
    folds = np.empty(len(known), np.int64)
    folds[order] = np.arange(len(known)) % FOLDS
    return folds
