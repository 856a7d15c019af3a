"""What we write we read: import(export(x)) == x, whole files only, and no formulas for spreadsheets."""

from __future__ import annotations

import csv
import os
import resource
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.annotators.files import read_answers
from actune.core.pool import Pool, pool_of
from actune.data.export import write_table
from actune.data.formats import read_pool, read_table
from actune.errors import DataError, StorageError
from tests.data.texts import LABELS as NAMES_OF_CLASSES
from tests.data.texts import NAMES, TEXTS

SIGNS = "=+-@'\"\t\r\n,;\\ "
CHARACTERS = st.one_of(st.sampled_from(SIGNS), st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
CELLS = st.text(CHARACTERS, max_size=12)
LABELS = st.sampled_from(["", "-1", "=sum", "it's", "'=x", "ä, b", 'c"d'])


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    rows = draw(st.lists(st.tuples(CELLS.filter(str.strip), LABELS), min_size=1, max_size=6))
    return pool_of([text for text, _ in rows], [label for _, label in rows])


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".xlsx"])
@pytest.mark.parametrize("raw", [False, True])
def test_pools_survive(tmp_path: Path, suffix: str, raw: bool) -> None:
    @settings(max_examples=40, deadline=None)
    @given(pools())
    def law(pool: Pool) -> None:
        labels = [pool.classes[label] if label >= 0 else None for label in pool.labels]
        rows = zip(pool.texts, pool.ids, labels, strict=True)
        write_table(tmp_path / f"pool{suffix}", ["text", "id", "label"], rows, raw=raw)
        assert read_pool(tmp_path / f"pool{suffix}") == pool

    law()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx"])
def test_tables_survive(tmp_path: Path, suffix: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.tuples(CELLS.filter(str.strip), CELLS), min_size=1, max_size=6), st.booleans())
    def law(rows: list[tuple[str, str]], raw: bool) -> None:
        write_table(tmp_path / f"t{suffix}", ["first", "second"], rows, raw=raw)
        table = read_table(tmp_path / f"t{suffix}")
        assert table.cells == {"first": [row[0] for row in rows], "second": [row[1] for row in rows]}

    law()


EXPORTED_ROWS = st.lists(
    st.tuples(NAMES, TEXTS, st.none() | NAMES_OF_CLASSES, st.sampled_from(["human", "pseudo"]), st.booleans(), TEXTS),
    min_size=1,
    max_size=6,
    unique_by=lambda row: row[0],
)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".xlsx"])
def test_exports_survive(tmp_path: Path, suffix: str) -> None:
    """Our own columns with a note beside them: as a table, as a pool and as answers."""
    path = tmp_path / f"labels{suffix}"
    columns = ("id", "text", "label", "source", "round", "confidence", "by", "skipped", "note")

    @settings(max_examples=60, deadline=None)
    @given(EXPORTED_ROWS, st.booleans())
    def law(drawn: list[Any], raw: bool) -> None:
        rows: list[list[object]] = []
        for id, text, label, source, skipped, note in drawn:
            source, skipped = (source, False) if label else (None, skipped)
            sure = 0.25 if source == "pseudo" else None
            by = "anna, me" if source == "human" or skipped else None
            rows.append([id, text, label, source, 3, sure, by, "yes" if skipped else None, note])
        write_table(path, columns, rows, raw)
        cells = read_table(path).cells
        assert [list(cells[name]) for name in ("id", "text", "note")] == [[row[n] for row in rows] for n in (0, 1, 8)]
        pool = read_pool(path)
        human = {str(row[0]): row[2] for row in rows if row[3] == "human"}
        assert {pool.ids[row]: pool.classes[pool.labels[row]] for row in pool.known_rows()} == human
        assert list(pool.texts) == [row[1] for row in rows]
        classes = sorted({str(row[2]) for row in rows if row[2]})
        said = read_answers(path, pool_of(pool.texts, ids=pool.ids, classes=classes)).answers
        assert {answer.id: answer.label for answer in said if answer.label} == human
        assert {answer.id for answer in said if not answer.label} == {row[0] for row in rows if row[7]}
        assert {answer.by for answer in said} <= {"anna, me"}

    law()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6))
def test_no_cell_runs_in_a_spreadsheet(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.getbasetemp() / "safe.csv"
    write_table(path, ["first", "second"], rows)
    with path.open(encoding="utf-8", newline="") as handle:
        cells = [cell for row in csv.reader(handle) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


@pytest.mark.parametrize("sign", list("=+-@\t\r"))
def test_each_sign_is_escaped(tmp_path: Path, sign: str) -> None:
    write_table(tmp_path / "t.tsv", ["text"], [[f"{sign}x"]])
    with (tmp_path / "t.tsv").open(newline="") as handle:
        assert list(csv.reader(handle, delimiter="\t"))[1] == [f"'{sign}x", '["text"]']


def test_the_marker_is_there_only_when_needed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, ["text", "score"], [["plain", -0.5], ["'tis", None]])
    assert path.read_text() == "text,score\nplain,-0.5\n'tis,\n"
    write_table(path, ["text"], [["=1+1"], ["'=1+1"], ["plain"]])
    assert path.read_text().splitlines()[:2] == ["text,actune_escaped", '\'=1+1,"[""text""]"']
    assert read_table(path).cells == {"text": ["=1+1", "'=1+1", "plain"]}


def test_an_edited_cell_keeps_its_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('actune_escaped,text\n"[""text"", ""gone""]",edited\n,\'=x\n')
    assert read_table(path).cells == {"text": ["edited", "'=x"]}


def test_letters_beyond_ascii_are_marked_for_excel(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, ["text"], [["naïve"]])
    assert path.read_bytes() == b"\xef\xbb\xbftext\r\nna\xc3\xafve\r\n"
    assert read_table(path).cells == {"text": ["naïve"]}
    write_table(path, ["text"], [["naïve"]], raw=True)
    assert path.read_bytes().startswith(b"text")


def test_numbers_and_empty_cells_in_json_lines(tmp_path: Path) -> None:
    write_table(tmp_path / "t.jsonl", ["a", "b"], [[1, None], [0.5, float("nan")]])
    assert (tmp_path / "t.jsonl").read_text() == '{"a": 1, "b": null}\n{"a": 0.5, "b": null}\n'


@pytest.mark.parametrize(
    ("name", "column", "cells", "expected"),
    [
        ("t.xls", "text", ["a"], "name must end in one of .csv, .tsv, .jsonl, .parquet, .xlsx"),
        ("t.csv", "=text", ["a"], "could run the column name '=text' as a formula"),
        ("t.csv", "text", ["\ud800"], "a broken character"),
        ("t.jsonl", "text", ["\ud800"], "a broken character"),
        ("t.xlsx", "text", ["\ud800"], "a broken character"),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, name: str, column: str, cells: list[object], expected: str) -> None:
    with pytest.raises(DataError) as error:
        write_table(tmp_path / name, [column], [[cell] for cell in cells])
    assert expected in str(error.value)
    assert not list(tmp_path.iterdir())


def test_cells_of_several_kinds(tmp_path: Path) -> None:
    day = datetime(2026, 5, 1, 12)
    rows = [[1, day, ["a"]], ["one", None, {"b": 2}]]
    notes = write_table(tmp_path / "t.parquet", ["a", "b", "c"], rows)
    assert [note.split(",")[0] for note in notes] == [f"column {name!r} has values of several types" for name in "ac"]
    cells = read_table(tmp_path / "t.parquet").cells
    assert cells == {"a": ["1", "one"], "b": [day, None], "c": ['["a"]', '{"b": 2}']}
    for suffix in (".csv", ".jsonl", ".xlsx"):
        assert write_table(tmp_path / f"t{suffix}", ["a", "b", "c"], rows) == []
        shown = read_table(tmp_path / f"t{suffix}").cells
        assert str(shown["b"][0]) == "2026-05-01 12:00:00"
    assert shown["c"] == ['["a"]', '{"b": 2}']


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".xlsx"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    write_table(path, ["text"], [["old"]])
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, limits[1]))  # the system refuses to write more, as a full disk
    try:
        with pytest.raises(StorageError, match="free some space"):
            write_table(path, ["text"], [[os.urandom(50).hex()] for _ in range(5_000)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"there is no folder .*choose another folder"):
        write_table(tmp_path / "no" / "t.csv", ["text"], [["a"]])
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(StorageError, match="is a folder: give a file"):
        write_table(tmp_path / "t.csv", ["text"], [["a"]])


FORMULAS = ("=1+1", "+1", "-1", "@SUM(1)", "＝1", "＋1", "－1", "＠x", "=cmd|' /C calc'!A0", "=HYPERLINK(1)")
BEFORE = ("", " ", "  ", "\t", "\r", "\n", '"', "\u00a0", "\u3000", "\ufeff", "\u200b")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx"])
def test_no_formula_behind_what_a_spreadsheet_trims(tmp_path: Path, suffix: str) -> None:
    cells = [before + formula for before in BEFORE for formula in FORMULAS]
    path = tmp_path / f"t{suffix}"
    write_table(path, ["text", "other"], [[cell, cell] for cell in cells])
    if suffix == ".xlsx":
        sheet = openpyxl.load_workbook(path).worksheets[0]
        assert sheet.title == "actune"
        assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "inlineStr"}
    else:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            stored = [row[:2] for row in csv.reader(handle, delimiter="\t" if suffix == ".tsv" else ",")][1:]
        assert stored == [[f"'{cell}", f"'{cell}"] for cell in cells]
    assert read_table(path).cells == {"text": cells, "other": cells}


@pytest.mark.parametrize("name", ["=x", " =x", "＝x", '"+x', "\t@x", "-x"])
def test_no_formula_in_a_header(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="a spreadsheet could run the column name"):
        write_table(tmp_path / "t.csv", ["text", name], [["a", "b"]])
    write_table(tmp_path / "t.xlsx", ["text", name], [["a", "b"]])
    header = next(openpyxl.load_workbook(tmp_path / "t.xlsx").worksheets[0].iter_rows())
    assert [cell.data_type for cell in header] == ["s", "s"] or {cell.data_type for cell in header} == {"inlineStr"}


def test_values_that_parquet_cannot_hold(tmp_path: Path) -> None:
    notes = write_table(tmp_path / "t.parquet", ["a", "b"], [[{}, 2**70], [{}, 1]])
    assert len(notes) == 2 and read_table(tmp_path / "t.parquet").cells["b"] == [str(2**70), "1"]
