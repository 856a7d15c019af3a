"""A pool: rows with ids, classes as numbers inside and names outside, and nothing that a row keeps for itself."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from actune.core.pool import UNKNOWN, Coded, as_labels, pool_of, pool_of_numbers
from actune.errors import DataError


def test_from_lists() -> None:
    pool = pool_of(["one", "two", "three"], ["b", None, "a"])
    assert (pool.texts, pool.ids, pool.classes) == (("one", "two", "three"), ("0", "1", "2"), ("a", "b"))
    assert pool.labels.tolist() == [1, UNKNOWN, 0] and pool.labels.dtype == np.int64
    assert pool.known_rows() == [0, 2] and pool.row_of["2"] == 2 and len(pool) == 3
    with pytest.raises(ValueError, match="read-only"):
        pool.labels[0] = 0


def test_labels_as_numbers_of_names_are_the_same_labels() -> None:
    coded = Coded(("b", "never", "a"), as_labels([0, -1, 2]))
    assert pool_of(["one", "two", "three"], coded) == pool_of(["one", "two", "three"], ["b", "", "a"])
    assert pool_of(["one", "two", "three"], coded, classes=["a", "b"]).labels.tolist() == [1, UNKNOWN, 0]
    with pytest.raises(DataError, match="unknown label 'b': known: a"):
        pool_of(["one", "two", "three"], coded, classes=["a"])


def test_equal_pools() -> None:
    pool = pool_of(["one", "two"], ["a", "b"])
    assert pool == pool_of(["one", "two"], ["a", "b"], notes=["read with care"])
    assert pool == pool_of_numbers(["one", "two"], ["0", "1"], ["a", "b"], [0, 1])
    others = {"texts": ["one", "2"], "ids": ["0", "2"], "classes": ["a", "b", "c"], "labels": ["a", None]}
    for name, other in others.items():
        words = {"texts": ["one", "two"], "ids": ["0", "1"], "classes": ["a", "b"], "labels": ["a", "b"]} | {
            name: other
        }
        assert pool != pool_of(**words)  # type: ignore[arg-type]
    assert pool != "a pool"


def test_only_some_rows_and_more_rows() -> None:
    pool = pool_of(["one", "two", "three"], ["b", None, "a"], ["x", "y", "z"])
    part = pool.only([2, 0])
    assert (part.texts, part.ids, part.labels.tolist()) == (("three", "one"), ("z", "x"), [0, 1])
    whole = part.followed_by(replace(pool.only(np.array([1])), notes=()))
    assert (whole.texts, whole.ids, whole.labels.tolist()) == (("three", "one", "two"), ("z", "x", "y"), [0, 1, -1])
    assert whole.row_of["y"] == 2
    with pytest.raises(DataError, match=r"2 of the new ids are already in the pool \(the first is 'x'"):
        part.followed_by(pool)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"ids": ["a", "b", "a"]}, "the id 'a' occurs more than once"),
        ({"ids": ["a", "b"]}, "there are 3 texts, 2 ids and 3 labels"),
        ({"labels": ["a"]}, "there are 3 texts, 3 ids and 1 labels"),
    ],
)
def test_what_does_not_belong_together(words: dict[str, list[str]], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        pool_of(["one", "two", "three"], **words)  # type: ignore[arg-type]


def test_importing_it_is_instant() -> None:
    code = "import sys, actune.core.pool; print([m for m in ('numpy', 'pyarrow', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
