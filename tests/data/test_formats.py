"""Pools from files: which columns are used, and each bad cell by its line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from actune.core.pool import UNKNOWN
from actune.data.formats import read_more, read_pool, read_texts
from actune.errors import DataError

JAPANESE = ("shift_jis", "iso2022_jp", "gb18030", "utf-7")  # can write it; two of them in ASCII alone


def write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def lines(path: Path, *cells: object) -> Path:
    return write(path, "".join(json.dumps({"text": cell}) + "\n" for cell in cells))


def test_default_columns(tmp_path: Path) -> None:
    pool = read_pool(write(tmp_path / "t.csv", "id, label ,text\nx,b,one\ny,,two\nz, a , three\n"))
    assert pool.texts == ("one", "two", " three")
    assert pool.ids == ("x", "y", "z")
    assert pool.classes == ("a", "b")
    assert pool.labels.tolist() == [1, UNKNOWN, 0]


def test_without_labels_and_ids(tmp_path: Path) -> None:
    pool = read_pool(write(tmp_path / "t.csv", "text\none\ntwo\n"))
    assert (pool.ids, pool.labels.tolist(), pool.classes) == (("0", "1"), [UNKNOWN, UNKNOWN], ())


def test_named_columns_and_classes(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "text,body,topic,key\nx,one,b,7\nx,two,,8\n")
    pool = read_pool(path, text="body", label="topic", id="key", classes=["b", "a"])
    assert (pool.texts, pool.ids, pool.classes) == (("one", "two"), ("7", "8"), ("b", "a"))
    assert pool.labels.tolist() == [0, -1]


def test_labels_of_other_kinds(tmp_path: Path) -> None:
    cells = [3, None, float("nan"), True, 2.0, "", "NaN", "none"]
    path = tmp_path / "t.jsonl"
    write(path, "".join(json.dumps({"text": f"t{row}", "label": cell}) + "\n" for row, cell in enumerate(cells)))
    pool = read_pool(path)
    assert [pool.classes[label] if label >= 0 else None for label in pool.labels] == [
        *("3", None, None, "True"),
        *("2", None, None, "none"),
    ]
    pyarrow.parquet.write_table(pa.table({"text": ["a", "b"], "label": pa.array([1, None])}), tmp_path / "t.parquet")
    assert read_pool(tmp_path / "t.parquet").labels.tolist() == [0, UNKNOWN]


def test_repeated_texts_are_kept_and_noted(tmp_path: Path) -> None:
    pool = read_pool(lines(tmp_path / "t.jsonl", "a", "b", "a", "b", "b", "c"))
    assert len(pool) == 6
    assert pool.notes == ("2 texts occur more than once (5 rows)",)
    assert read_pool(lines(tmp_path / "t.jsonl", "a", "b")).notes == ()


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("txt,label\na,1\n", {}, "no column 'text': set it with --text (did you mean 'txt'? known: label, txt"),
        ("text\na\n", {"text": "body"}, "no column 'body'"),
        ("text\na\n", {"label": "label"}, "no column 'label': set it with --label"),
        ("text\na\n", {"id": "id"}, "no column 'id': set it with --id"),
        ("text,label\n" + " ,1\n" * 8, {}, "column 'text' in {path} is empty: set the text column"),
        ("id,text\n1,a\n1,b\n", {}, "{path}: the id '1' occurs more than once"),
        ("id,text\n1,a\n,b\n", {}, "has no id in line 3"),
        ("text,label\na,x\n", {"classes": ["y", "z"]}, "{path}: unknown label 'x' in line 2: known: y, z"),
        ("text,label\na,x\nb,y\nc,w\n", {"classes": ["y"]}, "'w' in line 4 (and 1 other labels that are not classes)"),
        ("text,label\na,x\nb,\n", {"require_labels": True}, "has no label in line 3"),
        ("text\na\n", {"require_labels": True}, "has no label in line 2"),
    ],
)
def test_bad_tables(tmp_path: Path, content: str, options: dict[str, object], expected: str) -> None:
    path = write(tmp_path / "t.csv", content)
    with pytest.raises(DataError) as error:
        read_pool(path, **options)  # type: ignore[arg-type]
    assert expected.format(path=path) in str(error.value)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (12, "values that are not text (line 2, the first is 12)"),
        (["a", "b"], "values that are not text (line 2, the first is ['a', 'b'])"),
        ("x" + "\0", "NUL or broken characters (line 2)"),
        ("\ud800", "NUL or broken characters (line 2)"),
    ],
)
def test_bad_cells(tmp_path: Path, cell: object, expected: str) -> None:
    with pytest.raises(DataError) as error:
        read_pool(lines(tmp_path / "t.jsonl", "fine", cell))
    assert expected in str(error.value)


def test_several_labels_in_a_cell(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", '{"text": "a", "label": ["x", "y"]}\n')
    with pytest.raises(DataError, match="must have one label per row"):
        read_pool(path)


def test_import_is_light() -> None:
    code = (
        "import sys, actune.data.formats as f; print([m for m in ('pandas', 'torch', 'pyarrow') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_more_texts_get_free_numbers(tmp_path: Path) -> None:
    pool = read_pool(write(tmp_path / "t.csv", "id,text,label\n3,one,a\nx,two,b\n"))
    more = read_more(write(tmp_path / "more.csv", "text,label\ntwo,b\nthree,\nfour,a\n"), pool)
    assert more.ids == ("2", "4", "5")
    assert more.classes == pool.classes
    assert more.notes == ("1 of the new texts are already in the pool",)
    assert read_more(write(tmp_path / "more.csv", "id,text\n7,five\n"), pool).ids == ("7",)


def test_pseudo_labels_of_an_export_are_no_labels(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "text,label,source,round,confidence\none,a,human,0,\ntwo,b,pseudo,1,.9\n")
    pool = read_pool(path, classes=["a", "b"])
    assert pool.labels.tolist() == [0, UNKNOWN]
    assert pool.notes == ("1 row is a pseudo-label from an export and not used as a label",)
    assert read_pool(path, label="label").labels.tolist() == [0, 1]
    assert read_pool(write(path, "text,label,source\none,a,pseudo\n")).labels.tolist() == [0]


def test_texts_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", json.dumps({"text": "one", "label": ["a", "b"]}) + "\n")
    assert read_texts(path).texts == ("one",)


def test_rows_without_a_text_are_left_out_and_keep_their_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "text,label\na,1\n,1\nb,2\n  ,2\n\nc,1\n")
    pool = read_pool(path)
    assert (pool.texts, pool.ids, pool.labels.tolist()) == (("a", "b", "c"), ("0", "2", "4"), [0, 1, 0])
    assert pool.notes == ("2 rows without a text were skipped: lines 3, 5",)
    with pytest.raises(DataError, match="has no text in lines 3, 5: fill or remove these rows"):
        read_texts(path)  # a prediction for each row is wanted
    pyarrow.parquet.write_table(pa.table({"text": ["a", None, "b"], "label": [1, 2, 3]}), tmp_path / "t.parquet")
    assert read_pool(tmp_path / "t.parquet").classes == ("1", "3")


def test_labels_in_another_case_mean_their_class(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "text,label\na, SPAM\nb,Ham\nc,ham\nd,\n")
    pool = read_pool(path, classes=["spam", "ham"])
    assert pool.labels.tolist() == [0, 1, 1, UNKNOWN]
    assert pool.notes == ("2 labels were matched to a class after ignoring case and spaces",)
    with pytest.raises(DataError, match="unknown label 'SPAM' in line 2"):
        read_pool(path, classes=["spam", "Spam", "ham"])


def test_more_texts_are_read_as_the_project_was(tmp_path: Path) -> None:
    pool = read_pool(write(tmp_path / "t.csv", "text,label\none,spam\ntwo,ham\n"))
    remembered = {"text": "body", "label": "topic", "id": "key", "encoding": "cp1252", "sample": 3}
    path = tmp_path / "more.csv"
    path.write_bytes("key,body,topic,text,label\nx,drê,HAM,no,no\n".encode("cp1252"))
    more = read_more(path, pool, remembered=remembered)
    assert (more.texts, more.ids, more.labels.tolist()) == (("drê",), ("x",), [pool.class_number("ham")])
    more = read_more(path, pool, text="text", label="topic", remembered=remembered)
    assert more.texts == ("no",)
    assert read_more(write(path, "text\nvier ö\n"), pool, remembered=remembered).texts == ("vier ö",)
    assert read_texts(write(path, "body\nfünf\n"), remembered=remembered).texts == ("fünf",)


@pytest.mark.parametrize(
    ("encoding", "given"),
    [
        ("utf-8", "cp1252"),
        ("utf-8-sig", "cp1252"),
        ("utf-16", None),
        ("utf-16-le", "utf-16-le"),
        ("cp1252", "cp1252"),
        *((name, name) for name in JAPANESE),
    ],
)
def test_encodings(tmp_path: Path, encoding: str, given: str | None) -> None:
    text = "だ" if encoding in JAPANESE else "naïve"
    for name, content in (("t.csv", f"text,n\n{text},1\n"), ("t.jsonl", f'{{"text": "{text}"}}\n')):
        (tmp_path / name).write_bytes(content.encode(encoding))
        assert read_pool(tmp_path / name, encoding=given).texts == (text,)
