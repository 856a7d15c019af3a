"""How good a round's model is, what self-training brought, and how many pseudo-labels were right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from actune.core.classifier import Classifier, Labelled
from actune.core.facts import Metrics, PseudoLabelFacts
from actune.core.pool import UNKNOWN, Pool
from actune.core.view import checked
from actune.rounds.fitting import Fitted
from actune.rounds.metrics import accuracy, macro_f1
from actune.rounds.prepared import PreparedTask

if TYPE_CHECKING:
    import numpy.typing as npt


def measure(prepared: PreparedTask, classifier: Classifier) -> tuple[Metrics, dict[str, npt.NDArray[Any]]]:
    """The metrics, and the arrays on test behind them: predictions and their probabilities; none without the set."""
    task, found = prepared.task, Metrics()
    on_test: dict[str, npt.NDArray[Any]] = {}
    if prepared.test is not None and task.test is not None:
        (predicted, confidence), known = _predicted(classifier, prepared.test, task.test), prepared.test.labels
        found = Metrics(accuracy(predicted, known), macro_f1(predicted, known))
        on_test = {"test_predictions": predicted.astype(np.int16), "test_confidence": confidence}
    if prepared.dev is not None and task.dev is not None:
        on_dev = accuracy(_predicted(classifier, prepared.dev, task.dev)[0], prepared.dev.labels)
        found = Metrics(found.accuracy, found.macro_f1, on_dev)
    return found, on_test


def gains(prepared: PreparedTask, fitted: Fitted, metrics: Metrics) -> tuple[float | None, float | None]:
    """What self-training brings on test and on dev: the last student's accuracy minus its teacher's, taken or not."""
    if fitted.rival is None:
        return None, None
    other, _ = measure(prepared, fitted.rival)
    sign = 1 if fitted.used else -1

    def gain(ours: float | None, theirs: float | None) -> float | None:
        return None if ours is None or theirs is None else sign * (ours - theirs)

    return gain(metrics.accuracy, other.accuracy), gain(metrics.dev_accuracy, other.dev_accuracy)


def describe(prepared: PreparedTask, fitted: Fitted) -> PseudoLabelFacts:
    """How many pseudo-labels there are, of which classes, and how many are right where the truth is known."""
    found = fitted.pseudo_labels
    known = np.asarray(prepared.task.pool.labels, np.int64)[found.rows]
    told = known != UNKNOWN
    return PseudoLabelFacts(
        count=len(found),
        classes=tuple(np.bincount(found.targets, minlength=len(prepared.task.pool.classes)).tolist()),
        accuracy=accuracy(found.targets[told], known[told]) if told.any() else None,
        estimate=found.estimate,
        used=fitted.used,
    )


def _predicted(
    classifier: Classifier, known: Labelled, split: Pool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """The most probable class of every text, and its probability."""
    log_proba = checked(classifier.read(known.inputs), split.ids).log_proba
    classes = log_proba.argmax(1)
    return classes.cpu().numpy(), log_proba.gather(1, classes[:, None])[:, 0].float().exp().cpu().numpy()
