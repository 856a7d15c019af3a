"""How good predictions are, against known classes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Classes = npt.NDArray[np.int64]


def accuracy(predicted: Classes, known: Classes) -> float:
    return float((predicted == known).mean())


def macro_f1(predicted: Classes, known: Classes) -> float:
    """The mean F1 over the classes that occur in either."""
    scores = []
    for name in np.union1d(predicted, known):
        right = int(((predicted == name) & (known == name)).sum())
        scores.append(2 * right / int((predicted == name).sum() + (known == name).sum()))
    return float(np.mean(scores))
