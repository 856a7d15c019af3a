"""scikit-learn's own checks of an estimator.

They pass matrices of numbers, so they go through a front that writes these as texts. What concerns texts themselves is
in test_text_classifier.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import ClassifierMixin
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from actune import TextClassifier

EXCEPTIONS = {
    "check_estimators_pickle": "models are never pickled: save and load write safetensors",
    "check_classifiers_classes": "one of its label sets is {-1, 1}, and -1 stands for a text without a label",
}


class OnNumbers(TextClassifier):
    """The estimator with numbers as words in front of it. Rows are validated as any estimator of numbers does it."""

    def fit(self, X: Any, y: Any = None) -> OnNumbers:
        return super().fit(as_texts(validate_data(self, X)), y)

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self)
        return super().predict_proba(as_texts(validate_data(self, X, reset=False)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return ClassifierMixin.score(self, X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array, tags.input_tags.string = True, False, False
        return tags


def as_texts(numbers: Any) -> list[str]:
    return [" ".join(f"{number:.2f}" for number in row) for row in np.asarray(numbers)]


def exceptions(estimator: Any) -> dict[str, str]:
    return EXCEPTIONS


@parametrize_with_checks([OnNumbers(method="margin", device="cpu")], expected_failed_checks=exceptions)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_tags_say_that_it_takes_texts() -> None:
    tags = TextClassifier().__sklearn_tags__()
    assert tags.input_tags.string and tags.input_tags.one_d_array and not tags.input_tags.two_d_array
    assert tags.estimator_type == "classifier" and tags.target_tags.required and tags.requires_fit


def test_the_exceptions_are_those_that_fail() -> None:
    """So that none stays here after its reason has gone."""
    from sklearn.utils.estimator_checks import check_classifiers_classes, check_estimators_pickle

    for check in (check_classifiers_classes, check_estimators_pickle):
        with pytest.raises(Exception, match=r"two classes|cannot be pickled"):
            check("OnNumbers", OnNumbers(method="margin", device="cpu"))
