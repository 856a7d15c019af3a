"""What scikit-learn users pass as `X` and `y`, as texts and class numbers; each mistake is one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from actune.core.checks import told
from actune.core.pool import UNKNOWN
from actune.core.strings import is_text
from actune.errors import InputError

NO_LABEL = -1  # in a `y` of numbers, as in scikit-learn's semi-supervised estimators


def texts_of(X: Any) -> list[str]:
    """The texts in a list, an array, a Series, any other iterable, or a table of one column."""
    if isinstance(X, (str, bytes)) or not isinstance(X, Iterable) or issparse(X):
        raise InputError(f"X is a {type(X).__name__}: give a list of texts, an array, a Series or a column of texts")
    if isinstance(X, pd.DataFrame):
        X = X.to_numpy()
    if isinstance(X, np.ndarray) and X.ndim != 1:
        if X.ndim != 2 or X.shape[1] != 1:
            raise InputError(f"X has the shape {X.shape}: reshape it to one column of texts, (n,) or (n, 1)")
        X = X[:, 0]
    texts = [str(text) if isinstance(text, str) else text for text in X]  # NumPy has strings of its own
    if not texts:
        raise InputError("X has 0 samples: give at least one text")
    for row, text in enumerate(texts):
        if not is_text(text):
            raise InputError(f"row {row:,} of X is {text!r}, which is not a text: replace it, or leave the row out")
    return texts


@dataclass(frozen=True)
class Targets:
    """The classes in their order, and the number of its class for each row; UNKNOWN where it has none."""

    classes: npt.NDArray[Any]
    numbers: npt.NDArray[np.int64]

    @property
    def names(self) -> tuple[str, ...]:
        """The classes as text, in which form pools and saved models have them."""
        return tuple(map(str, self.classes.tolist()))


def targets_of(y: Any, texts: int) -> Targets:
    """What `y` says about so many texts."""
    if y is None:
        raise InputError(
            "TextClassifier requires y to be passed, but the target y is None: give the labels that are known"
        )
    labels = labels_of(y)
    if len(labels) != texts:
        raise InputError(f"X has {texts:,} texts and y has {len(labels):,} labels: give one label (or None) per text")
    known = is_labelled(labels)
    if not known.any():
        raise InputError(f"none of the {texts:,} texts has a label: label some texts of at least two classes")
    given = labels[known]
    kinds = {type(label).__name__ for label in given.tolist()}
    if len(kinds) > 1 and "str" in kinds:
        raise InputError(f"y mixes labels of the types {' and '.join(sorted(kinds))}: use one type")
    if not isinstance(y, np.ndarray):
        given = np.asarray(given.tolist())
    check_classification_targets(given)
    classes, numbers = np.unique(given, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"y has one class only, {classes.tolist()[0]!r}: a classifier needs at least two classes")
    every: npt.NDArray[np.int64] = np.full(texts, UNKNOWN, np.int64)
    every[known] = numbers
    return Targets(classes, every)


def labels_of(y: Any) -> npt.NDArray[Any]:
    """`y` as one array, in which None and NaN are what they were: NumPy would make a list of them and names text."""
    try:
        return column_or_1d(np.asarray(y, object) if isinstance(y, (list, tuple)) else y, warn=True)  # type: ignore[no-any-return]
    except ValueError as error:
        raise InputError(f"y is {told(y)}, which is not a list of labels: {error}") from None


def is_labelled(labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which rows have a label: None, NaN, -1 and the empty text are none."""
    missing = np.asarray(pd.isna(labels))
    if labels.dtype.kind == "O":
        missing |= np.fromiter((isinstance(each, str) and not each for each in labels), bool, len(labels))
        missing |= np.fromiter((_is_minus_one(each) for each in labels), bool, len(labels))
    elif labels.dtype.kind in "US":
        missing |= labels == labels.dtype.type()
    elif labels.dtype.kind in "if":
        missing |= labels == NO_LABEL
    return ~missing


def _is_minus_one(label: object) -> bool:
    return isinstance(label, (int, float, np.number)) and not isinstance(label, bool) and label == NO_LABEL
