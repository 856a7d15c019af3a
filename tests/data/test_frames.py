"""What lies in memory becomes the pool that a file with the same cells becomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from actune.core.pool import UNKNOWN, pool_of
from actune.data.formats import as_pool, read_more, read_pool, read_texts
from actune.data.splits import Reading
from actune.data.tasks import resolve
from actune.errors import DataError

TEXTS = ["one", "two", 'three, "3"\nlines', "dré"]
LABELS = ["a", None, "b", "a"]
IDS = ["x", "y", "z", "w"]
CELLS: dict[str, Any] = {"text": TEXTS, "label": LABELS, "id": IDS}
RECORDS = [dict(zip(CELLS, row, strict=True)) for row in zip(*CELLS.values(), strict=True)]


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame(CELLS),
        pd.DataFrame(CELLS, dtype=object, index=[7, 7, 3, 1]),
        pd.DataFrame(CELLS).astype({"label": "category", "text": "string"}),
        pa.table(CELLS),
        pa.table(CELLS).cast(pa.schema({"text": pa.string_view(), "label": pa.large_string(), "id": pa.string()})),
        datasets.Dataset.from_dict(CELLS),
        CELLS,
        {name: np.array(cells, object) for name, cells in CELLS.items()},
        RECORDS,
        tuple(RECORDS),
    ],
    ids=["pandas", "objects", "categories", "arrow", "views", "datasets", "columns", "numpy", "records", "tuple"],
)
def test_equal_to_a_file(tmp_path: Path, data: Any) -> None:
    (tmp_path / "t.json").write_text(json.dumps(RECORDS))
    assert read_pool(data) == read_pool(tmp_path / "t.json")


@pytest.mark.parametrize(
    "data",
    [TEXTS, tuple(TEXTS), pd.Series(TEXTS), pd.Series(TEXTS, dtype=object), np.array(TEXTS), pa.chunked_array([TEXTS])],
)
def test_texts_alone(data: Any) -> None:
    assert read_pool(data) == pool_of(TEXTS)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, ""])
def test_every_kind_of_nothing(missing: Any) -> None:
    frame = pd.DataFrame({"text": ["one", "two"], "label": pd.Series(["a", missing], dtype=object)})
    assert read_pool(frame).labels.tolist() == [0, UNKNOWN]
    frame = pd.DataFrame({"text": pd.Series(["one", missing], dtype=object)})
    pool = read_pool(frame)
    assert (pool.texts, pool.ids, pool.notes) == (("one",), ("0",), ("1 row without a text was skipped: row 2",))
    with pytest.raises(DataError, match="column 'text' in the data has no text in row 2: fill or remove these rows"):
        read_texts(frame)


def test_numbers_are_names() -> None:
    frame = pd.DataFrame({"text": TEXTS, "label": [1.0, np.nan, 2.0, 10.0]})
    pool = read_pool(frame)
    assert pool.classes == ("1", "10", "2") and pool.labels.tolist() == [0, -1, 2, 1]


def test_named_columns() -> None:
    frame = pd.DataFrame({"body": TEXTS, "topic": LABELS, "key": IDS, 5: TEXTS})
    pool = read_pool(frame, text="body", label="topic", id="key", classes=["b", "a"])
    assert pool == pool_of(TEXTS, LABELS, IDS, ["b", "a"])
    assert read_pool(frame, text="5").texts == TEXTS
    with pytest.raises(DataError, match=r"the data has no column 'text': set it with --text \(.*known: 5, body, key"):
        read_pool(frame)


def test_class_labels_of_a_data_set() -> None:
    features = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["no", "yes"])})
    data = datasets.Dataset.from_dict({"text": TEXTS, "label": [1, -1, 0, None]}, features=features)
    assert read_pool(data) == pool_of(TEXTS, ["yes", None, "no", None])
    assert read_pool(data.select([2, 0])) == pool_of([TEXTS[2], TEXTS[0]], ["no", "yes"])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([], "the data has no rows"),
        (pd.DataFrame(), "the data has no rows"),
        (3, "cannot read texts from a int: give a pandas Series or DataFrame, a datasets.Dataset, an Arrow table"),
        (["one", 2], r"column 'text' in the data has values that are not text \(row 2, the first is 2\)"),
        (pd.Series(["one", 2]), r"column 'text' in the data has values that are not text \(row 2, the first is 2\)"),
        (["one", "\ud800"], r"column 'text' in the data has NUL or broken characters \(row 2\)"),
        ({"text": TEXTS, "label": ["a"]}, r"the columns have different lengths \(text 4, label 1\)"),
        (pd.DataFrame([["one", "two"]], columns=["text", "text"]), "more than one column 'text'"),
        (pa.Table.from_arrays([["a"], ["b"]], ["text", "text"]), "more than one column 'text'"),
        (
            {"train": datasets.Dataset.from_dict(CELLS)},
            r"has the splits train: give one of them, such as data\['train'\]",
        ),
    ],
)
def test_what_cannot_be_read(data: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        read_pool(data)


def test_wherever_files_are_read() -> None:
    frame = pd.DataFrame(CELLS)
    pool = pool_of(TEXTS, LABELS, IDS)
    assert as_pool(pool, {"text": "body"}) is pool
    assert as_pool(frame, {"label": "label", "dev": "dev.csv", "classes": ("a", "b")}) == pool
    assert read_texts(frame).labels.tolist() == [UNKNOWN] * 4
    assert read_more(["four", "one"], pool_of(TEXTS)).ids == ("4", "5")


def test_a_task_from_frames() -> None:
    frame = pd.DataFrame({"text": [f"text {row}" for row in range(50)], "label": ["a", "b"] * 25})
    task = resolve(frame, dev=frame[:6], test=frame[6:10])
    assert (len(task.pool), task.dev, task.test) == (50, read_pool(frame[:6]), read_pool(frame[6:10]))
    splits = {"train": frame[10:], "validation": frame[:6], "test": frame[6:10].assign(label=None), "other": frame}
    parts = resolve(splits)
    assert (
        parts.dev == task.dev and parts.test is not None and len(parts.test) == 8
    )  # held out: the given has no labels
    given = datasets.DatasetDict({"train": datasets.Dataset.from_pandas(frame)})
    held = resolve(given, reading=Reading(hold_out_dev=5, hold_out_test=0))
    assert held.dev is not None and (len(held.pool), len(held.dev), held.test) == (45, 5, None)
    with pytest.raises(DataError, match="the data already has splits"):
        resolve(splits, dev=frame)
