"""How good a model is where there is no test set: cross-validation on the answers themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from actune.core.facts import CrossValidation, Share
from actune.core.objective import PLAIN
from actune.core.progress import Progress, part
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.models.learners import PROBE, find_learner
from actune.models.probing import Probing
from actune.rounds.metrics import macro_f1

if TYPE_CHECKING:
    import numpy.typing as npt

    from actune.core.classifier import Learner
    from actune.core.labels import Labels
    from actune.core.streams import Streams
    from actune.rounds.prepared import PreparedTask

FOLDS = 5
FEWEST = 10  # answers that tell anything


def cross_validate(prepared: PreparedTask, labels: Labels, streams: Streams) -> CrossValidation | None:
    """Accuracy on each fifth of the answers of a model that was fitted on the other four; None with too few answers.

    An answer that is the only one of its class is never held out, because a model without it could not be right.
    It takes a second or two, because every fit is one on frozen embeddings. Its random numbers are its own, so that it
    changes nothing else in a round.
    """
    rows = np.asarray(sorted(labels.of_row), np.int64)
    known = np.asarray([labels.of_row[row] for row in rows.tolist()], np.int64)
    tested = np.flatnonzero(np.bincount(known, minlength=1)[known] > 1)
    if len(tested) < FEWEST:
        return None
    learner, inputs, name = _frozen(prepared, rows)
    folds, predicted = np.full(len(known), FOLDS), np.empty_like(known)
    folds[tested] = _folds(known[tested], streams.rng("cross-validation"))
    for fold in range(FOLDS):
        others, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        training = TrainingSet(others, known[others], PseudoLabels.none())
        progress = part(_validating(prepared.progress), fold + 1, FOLDS)
        classifier = learner.fit(inputs, training, PLAIN, streams, progress=progress)
        predicted[held_out] = classifier.read(inputs.only(held_out)).log_proba.argmax(1).cpu().numpy()
    predicted, known = predicted[tested], known[tested]
    share = Share.of(int((predicted == known).sum()), len(tested))
    return CrossValidation(share, macro_f1(predicted, known), FOLDS, name, left_out=len(rows) - len(tested))


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
