"""How many pseudo-labels are right, told by rows whose classes are known and which the model has not learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a model said about rows that it has not learnt: how sure it was of its class, and whether that was right."""

    confidence: npt.NDArray[np.float32]
    right: npt.NDArray[np.bool_]

    def accuracy_of(self, confidence: npt.NDArray[np.float32]) -> float | None:
        """The share of right ones among predictions of this confidence; none where nothing tells.

        That a prediction is right grows likelier with its confidence: isotonic regression on the held-out rows.
        """
        if not len(confidence) or not len(self.right):
            return None
        from sklearn.isotonic import IsotonicRegression

        rising = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(self.confidence, self.right)
        return float(rising.predict(confidence).mean())
