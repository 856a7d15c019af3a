"""What one fine-tuning learns from: labelled rows and pseudo-labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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

    def without(self, rows: Collection[int]) -> PseudoLabels:
        """The same without rows that a person has answered or skipped since."""
        import numpy as np

        keep = ~np.isin(self.rows, np.fromiter(rows, np.int64, len(rows)))
        proba, confidence = (None if each is None else each[keep] for each in (self.proba, self.confidence))
        return PseudoLabels(self.rows[keep], self.targets[keep], self.weights[keep], proba, confidence, self.estimate)


@dataclass(frozen=True)
class TrainingSet:
    """Labelled rows in row order (so that the order of answers changes nothing) and pseudo-labels."""

    rows: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    pseudo_labels: PseudoLabels
