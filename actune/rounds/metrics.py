"""How good predictions are, against known classes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Classes = npt.NDArray[np.int64]


def accuracy(predicted: Classes, known: Classes) -> float:
    return float((predicted == known).mean())


def macro_f1(predicted: Classes, known: Classes) -> float:
    """The mean F1 over the classes that occur in either."""
    from sklearn.metrics import f1_score

    return float(f1_score(known, predicted, average="macro"))
