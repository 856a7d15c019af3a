"""What one fine-tuning learns from: labelled rows and pseudo-labels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


ARRAYS = ("rows", "targets", "weights", "proba", "confidence")
PREFIX = "pseudo_"  # of their names among the arrays of a round
EARLIER_PREFIX = "trusted_"  # in run folders that an earlier version has made


@dataclass(frozen=True)
class PseudoLabels:
    """Rows that the method trusts, with a class and a weight each, and what the teacher said where that is needed."""

    rows: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]
    proba: npt.NDArray[np.float32] | None = None  # (rows, classes)
    confidence: npt.NDArray[np.float32] | None = None  # (rows,) of the model that chose them, in these classes
    estimate: float | None = None  # the share of right ones, as far as the model that chose them can tell

    @staticmethod
    def none() -> PseudoLabels:
        import numpy as np

        return PseudoLabels(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))

    @staticmethod
    def from_arrays(arrays: Mapping[str, Any]) -> PseudoLabels:
        """The pseudo-labels among the arrays of a round; none where the method trusts nothing."""
        found = {
            name.removeprefix(prefix): array
            for prefix in (PREFIX, EARLIER_PREFIX)
            for name, array in arrays.items()
            if name.startswith(prefix)
        }
        if "estimate" in found:
            found["estimate"] = float(found["estimate"][0])
        return PseudoLabels(**found) if found else PseudoLabels.none()

    def as_arrays(self) -> dict[str, Any]:
        """What is kept of them; `from_arrays` reads it."""
        import numpy as np

        values = {f"{PREFIX}{name}": getattr(self, name) for name in ARRAYS}
        if self.estimate is not None:
            values[f"{PREFIX}estimate"] = np.array([self.estimate])
        return {name: array for name, array in values.items() if array is not None}

    def __len__(self) -> int:
        return len(self.rows)

    def is_older(self, classes: Sequence[str]) -> bool:
        """Whether some of these classes were added since."""
        return self.proba is not None and self.proba.shape[1] < len(classes)

    def renamed(self, meaning: Callable[[int], int | None], classes: int) -> PseudoLabels:
        """The same in the classes that stand for those of before; one that none stands for is left out."""
        import numpy as np

        targets = [meaning(number) for number in self.targets.tolist()]
        keep = np.asarray([target is not None for target in targets], bool)
        now = np.asarray([target for target in targets if target is not None], np.int64)
        proba, confidence = (None if each is None else each[keep] for each in (self.proba, self.confidence))
        if proba is not None:
            proba = renamed_columns(proba, meaning, classes)
        return PseudoLabels(self.rows[keep], now, self.weights[keep], proba, confidence, self.estimate)

    def without(self, rows: Collection[int]) -> PseudoLabels:
        """The same without rows that a person has answered or skipped since."""
        import numpy as np

        keep = ~np.isin(self.rows, np.fromiter(rows, np.int64, len(rows)))
        proba, confidence = (None if each is None else each[keep] for each in (self.proba, self.confidence))
        return PseudoLabels(self.rows[keep], self.targets[keep], self.weights[keep], proba, confidence, self.estimate)


def renamed_columns(proba: npt.NDArray[Any], meaning: Callable[[int], int | None], classes: int) -> npt.NDArray[Any]:
    """Probabilities with a column for each class, added up where several classes became one; NaN rows stay NaN."""
    import numpy as np

    found = np.repeat(proba[:, :1] * 0, classes, axis=1)
    for number in range(proba.shape[1]):
        if (target := meaning(number)) is not None:
            found[:, target] += proba[:, number]
    return found


@dataclass(frozen=True)
class WeakRows:
    """Rows with labels from rules, class names or an earlier classifier, beside labelled ones.

    A fit begins with them and ends without, so that the answers have the last word.
    """

    rows: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    chances: npt.NDArray[np.float64]  # of each row to be drawn; they add up to 1
    mass: int  # as many labelled rows they count for, all together and over the whole fit
    until: float  # the share of the steps after which they are left out


@dataclass(frozen=True)
class TrainingSet:
    """Labelled rows in row order (so that the order of answers changes nothing), pseudo-labels, and weak rows."""

    rows: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    pseudo_labels: PseudoLabels
    weak: WeakRows | None = None

    @property
    def supervised(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The rows that are trained on with a label that is no pseudo-label, weak ones last, and their labels."""
        import numpy as np

        if self.weak is None:
            return self.rows, self.labels
        weak = self.weak
        return np.concatenate([self.rows, weak.rows]), np.concatenate([self.labels, weak.labels])
