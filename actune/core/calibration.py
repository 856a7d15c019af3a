"""How many pseudo-labels are right, told by rows whose classes are known and which the model has not learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a model said about rows that it has not learnt: the class, how sure it was, and whether that was right."""

    predicted: npt.NDArray[np.int64]
    confidence: npt.NDArray[np.float32]
    right: npt.NDArray[np.bool_]

    def accuracy_of(self, predicted: npt.NDArray[np.int64], confidence: npt.NDArray[np.float32]) -> float | None:
        """The share of right ones among rows so predicted, and of this confidence; none where nothing tells.

        That a prediction is right grows likelier with its confidence: isotonic regression on the held-out rows. They
        weigh as if each class were predicted as often there as here: where a rare class has as many pseudo-labels as a
        common one, its own mistakes count.
        """
        if not len(confidence) or not len(self.right):
            return None
        from sklearn.isotonic import IsotonicRegression

        weights = self._weights(predicted)
        rising = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(self.confidence, self.right, weights)
        return float(rising.predict(confidence).mean())

    def _weights(self, predicted: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        classes = 1 + max(self.predicted.max(), predicted.max())
        here, there = (np.bincount(each, minlength=classes) for each in (predicted, self.predicted))
        weights = (here / np.maximum(there, 1))[self.predicted]
        return weights if weights.any() else np.ones(len(weights))  # no class in common: confidence alone tells
