"""How many pseudo-labels are right, told by rows of known classes that the model, or one like it, has not learnt."""

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


COLDEST, HOTTEST = -1.0, 4.0  # logarithms of temperatures that are looked at


def temperature(log_proba: npt.NDArray[np.float32], known: npt.NDArray[np.int64]) -> float:
    """Guo et al. 2017. What log-probabilities are divided by, so that rows that were not learnt are likeliest."""
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax

    def loss(power: float) -> float:
        return -float(log_softmax(log_proba / np.exp(power), axis=1)[np.arange(len(known)), known].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(COLDEST, HOTTEST), method="bounded").x))


def calibrated_share(log_proba: npt.NDArray[np.float32], targets: npt.NDArray[np.int64], warmth: float) -> float | None:
    """The share of rows whose class is right, by a model's probabilities at this temperature."""
    from scipy.special import softmax

    if not len(targets):
        return None
    return float(softmax(log_proba / warmth, axis=1)[np.arange(len(targets)), targets].mean())
