"""Workbooks of Excel: what a person sees in a cell is what is read, and nothing that is written can run."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from actune.data.export import write_table
from actune.data.formats import read_pool
from actune.data.tables import read_table
from actune.errors import DataError


def workbook(path: Path, rows: list[list[Any]], *other_sheets: str, formats: dict[str, str] | None = None) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "posts"
    for row in rows:
        sheet.append(row)
    for place, format in (formats or {}).items():
        sheet[place].number_format = format
    for name in other_sheets:
        book.create_sheet(name)
    book.save(path)
    return path


def test_cells_are_what_a_person_sees(tmp_path: Path) -> None:
    cells = [12, 0.1 + 0.2, True, date(2026, 5, 1), datetime(2026, 5, 1, 9, 30), time(9, 30), None, 42, 0.125, "007"]
    path = workbook(tmp_path / "t.xlsx", [["text", "n"], *([f"t{n}", cell] for n, cell in enumerate(cells))])
    book = openpyxl.load_workbook(path)
    book["posts"]["B9"].number_format, book["posts"]["B10"].number_format = "00000", "0.0%"
    book.save(path)
    assert read_table(path).cells["n"] == [
        *("12", "0.3", "TRUE", "2026-05-01", "2026-05-01 09:30:00"),
        *("09:30:00", "", "00042", "12.5%", "007"),
    ]


def test_rows_have_the_numbers_that_excel_shows(tmp_path: Path) -> None:
    rows = [[None, None], ["text", "label"], ["one", "a"], [], ["two", "b"], ["", "  "], ["three"]]
    table = read_table(workbook(tmp_path / "t.xlsx", rows))
    assert table.cells == {"text": ["one", "two", "three"], "label": ["a", "b", ""]}
    assert table.where([0, 1, 2]) == "rows 3, 5, 7"


def test_the_first_sheet_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    pool = read_pool(workbook(tmp_path / "t.xlsx", [["text"], ["one"]], "notes", "old"))
    assert pool.notes == (f"{tmp_path}/t.xlsx has several sheets: 'posts' is read, not 'notes', 'old'",)


def test_formulas_are_read_as_their_saved_values(tmp_path: Path) -> None:
    """What Excel saves beside a formula; openpyxl itself writes no values, so the file is edited."""
    path = workbook(tmp_path / "t.xlsx", [["text", "n"], ["one", "=1+1"]])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = (
        parts[sheet]
        .replace(b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>")
        .replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>")
    )
    assert b"<v>2</v>" in parts[sheet]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert read_table(path).cells["n"] == ["2"]


def test_nothing_that_is_written_can_run(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "007", "#N/A", "2026-05-01", "1e5"]
    write_table(path, ["id", "n"], [[text, 1.5] for text in texts])
    sheet = openpyxl.load_workbook(path).active
    assert sheet is not None
    cells = [row[0] for row in sheet.iter_rows(min_row=2)]
    assert [(cell.value, cell.data_type, cell.number_format) for cell in cells] == [(text, "s", "@") for text in texts]
    assert sheet["B2"].value == 1.5 and sheet["B2"].data_type == "n"
    assert read_table(path).cells["id"] == texts


@pytest.mark.parametrize("letter", ["x", "😀"])
def test_long_cells_are_shortened_with_a_word(tmp_path: Path, letter: str) -> None:
    path = tmp_path / "t.xlsx"
    whole = letter * (32_767 // (1 if letter == "x" else 2))
    assert write_table(path, ["text"], [[whole]]) == []
    assert read_table(path).cells["text"] == [whole]
    (note,) = write_table(path, ["text"], [[letter * 100_000], ["short"]])
    assert "1 cell was shortened to the 32,767 characters that Excel allows" in note
    cell = str(read_table(path).cells["text"][0])
    assert cell.endswith(" … (100,000 characters, shortened for Excel)")
    assert 32_700 < len(cell.encode("utf-16-le")) // 2 <= 32_767


def test_more_rows_than_a_sheet_holds(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there are 1,048,576 rows, and a sheet of Excel holds 1,048,575 beside"):
        write_table(tmp_path / "t.xlsx", ["text"], [["one"]] * 1_048_576)
    assert not list(tmp_path.iterdir())


def test_dates_are_what_a_person_reads(tmp_path: Path) -> None:
    days = [date(2026, 5, 1), datetime(2026, 5, 1, 9, 30), time(9, 30), "2026-05-01"]
    write_table(tmp_path / "t.xlsx", ["text", "at"], [["one", day] for day in days])
    assert read_table(tmp_path / "t.xlsx").cells["at"] == [
        "2026-05-01",
        "2026-05-01 09:30:00",
        "09:30:00",
        "2026-05-01",
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], "is empty: it needs at least one text"),
        ([["text", "label"]], "has no rows"),
        ([["text"], ["one", "two"]], "row 2 has 2 cells, but the header has 1"),
        ([["text", "text"], ["one", "two"]], "more than one column 'text'"),
    ],
)
def test_sheets_that_cannot_be_used(tmp_path: Path, rows: list[list[Any]], expected: str) -> None:
    with pytest.raises(DataError) as error:
        read_table(workbook(tmp_path / "t.xlsx", rows))
    assert expected in str(error.value)


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    """In a process that cannot import openpyxl: one sentence, and CSV works as ever."""
    (tmp_path / "t.csv").write_text("text\none\n")
    workbook(tmp_path / "t.xlsx", [["text"], ["one"]])
    code = (
        "import sys; sys.modules['openpyxl'] = None\n"
        "from actune.data.tables import read_table\n"
        "print(len(read_table(sys.argv[1] + '/t.csv')))\n"
        "try: read_table(sys.argv[1] + '/t.xlsx')\n"
        "except Exception as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert said.stdout.splitlines() == ["1", "Excel files need the package openpyxl: pip install openpyxl"]
