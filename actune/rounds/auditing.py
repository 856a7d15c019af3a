"""How good a model is on rows that were drawn at random and that it has not learnt: accuracy and macro-F1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from actune.core.classifier import Classifier
from actune.core.facts import AuditQuality, Interval, Share
from actune.core.streams import Streams
from actune.core.view import checked
from actune.rounds.outputs import readable
from actune.rounds.prepared import PreparedTask

if TYPE_CHECKING:
    import numpy.typing as npt

DRAWS = 2000  # of the bootstrap


def audit_quality(
    prepared: PreparedTask, classifier: Classifier, labels: Mapping[int, int], streams: Streams
) -> AuditQuality | None:
    """The quality on these labelled rows; None without any."""
    if not labels:
        return None
    rows = np.asarray(sorted(labels), np.int64)
    known = np.asarray([labels[row] for row in rows.tolist()], np.int64)
    found = readable(prepared, checked(classifier.read(prepared.pool.only(rows))))
    predicted = found.log_proba.argmax(1).cpu().numpy()
    share = Share.of(int((predicted == known).sum()), len(known))
    return AuditQuality(share, f1_interval(predicted, known, streams.rng("audit bootstrap")))


def f1_interval(predicted: npt.NDArray[np.int64], known: npt.NDArray[np.int64], rng: np.random.Generator) -> Interval:
    """Macro-F1 with the 95 % interval of the percentile bootstrap over the rows."""
    classes, size = 1 + int(max(predicted.max(), known.max())), len(known)
    cells = known * classes + predicted
    draws = [_macro_f1(np.bincount(cells[rng.integers(size, size=size)], minlength=classes**2)) for _ in range(DRAWS)]
    low, high = np.quantile(draws, [0.025, 0.975]).tolist()
    return Interval(_macro_f1(np.bincount(cells, minlength=classes**2)), low, high)


def _macro_f1(confusion: npt.NDArray[np.int64]) -> float:
    """The mean F1 of the classes that occur, from the counts of all pairs of a known and a predicted class."""
    side = round(len(confusion) ** 0.5)
    table = confusion.reshape(side, side)
    right, sums = table.diagonal(), table.sum(0) + table.sum(1)
    return float((2 * right[sums > 0] / sums[sums > 0]).mean())
