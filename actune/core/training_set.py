"""What one fine-tuning learns from: labelled rows and pseudo-labels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


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
