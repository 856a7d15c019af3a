"""Workbooks of Excel: the first sheet as a table of texts, as a person sees them, and tables as sheets of texts."""

from __future__ import annotations

import re
import warnings
import zipfile
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, BinaryIO

from actune.core.strings import BLOCK
from actune.data.cells import Columns, Table, header_of
from actune.data.limits import MOST_CELLS, Filling, Growth
from actune.errors import DataError

MOST_ROWS, MOST_PARTS = 1_048_576, 10_000  # rows of a sheet, a limit of Excel, and files in a workbook
LONGEST = 32_767  # UTF-16 units in a cell, a limit of Excel
TEXT_FORMAT = "@"  # what is typed into such a cell stays as it was typed: no dates, no numbers, no formulas
FORMATTED = 255  # older versions of Excel show ##### for a longer text in this format
WIDTHS = {"text": 80}  # of columns, in characters
USUAL_WIDTH = 16
# XML cannot hold these characters, and turns a carriage return into a new line
HIDDEN = re.compile("[\\x00-\\x08\\x0b-\\x1f\\ufffe\\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
SHOWN = re.compile("_x([0-9A-Fa-f]{4})_")


def read_sheet(path: Path) -> Table:
    """The first sheet of a workbook; formulas are read as the values that were saved with them."""
    numbers = array("q")
    columns = Columns()
    rows: list[list[str]] = []
    header: list[str] = []

    def flush() -> None:
        cells: dict[str, list[object]] = {name: [row[place] for row in rows] for place, name in enumerate(header)}
        columns.add(cells, len(rows))
        rows.clear()

    growth, filling = Growth(path), Filling(str(path))
    with _workbook(path) as (sheet, notes):
        for number, cells in enumerate(sheet.iter_rows(max_row=MOST_ROWS), start=1):
            if not cells:  # a sheet may end a million rows further down
                continue
            row = [_seen(cell) for cell in cells]
            growth.add(sum(map(len, row)))  # a text that is stored once may stand in every cell
            filling.add(len(row), sum(map(bool, row)))
            while row and not row[-1]:
                row.pop()
            if not any(cell.strip() for cell in row):  # spreadsheets leave such rows behind
                continue
            if not header:
                header = header_of(row, str(path))
                continue
            if len(row) > len(header):
                raise DataError(
                    f"{path} row {number} has {len(row)} cells, but the header has {len(header)}: add the missing "
                    "column names"
                )
            rows.append(row + [""] * (len(header) - len(row)))
            numbers.append(number)
            if len(rows) == BLOCK or len(rows) * len(header) > MOST_CELLS:
                flush()
    flush()
    if not header:
        raise DataError(f"{path} is empty: it needs at least one text")
    return Table(str(path), columns.cells(), numbers, "row", tuple(notes))


def write_sheet(handle: BinaryIO, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Writes a workbook with one sheet, whose texts are never formulas; a note counts cells too long for Excel."""
    if len(rows) >= MOST_ROWS:
        raise DataError(
            f"there are {len(rows):,} rows, and a sheet of Excel holds {MOST_ROWS - 1:,} beside the header: write "
            "a .csv or .parquet file"
        )
    excel = _openpyxl()
    shortened = sum(isinstance(value, str) and _too_long(value) for row in rows for value in row)
    values = [[_stored(value) for value in row] for row in (columns, *rows)]
    book = excel.Workbook(write_only=True)
    sheet = book.create_sheet("actune")
    sheet.freeze_panes = "A2"
    for place, name in enumerate(columns, start=1):
        letter = excel.utils.get_column_letter(place)
        sheet.column_dimensions[letter].width = WIDTHS.get(name, USUAL_WIDTH)
    for row in values:
        cells = []
        for value in row:
            cell = excel.cell.WriteOnlyCell(sheet)
            cell._value = value  # the property would take `=1` for a formula, and cut a long text without a word
            cell.data_type = "b" if isinstance(value, bool) else "s" if isinstance(value, str) else "n"
            if isinstance(value, str) and len(value) <= FORMATTED:
                cell.number_format = TEXT_FORMAT
            cells.append(cell)
        sheet.append(cells)
    book.save(handle)
    if not shortened:
        return []
    told = "1 cell was" if shortened == 1 else f"{shortened:,} cells were"
    return [
        f"{told} shortened to the {LONGEST:,} characters that Excel allows; write a .csv or .jsonl file to keep them "
        "whole"
    ]


def _stored(value: object) -> object:
    """A value as a cell holds it: numbers that Excel keeps exactly, and texts for all else."""
    if isinstance(value, bool) or (isinstance(value, (int, float)) and value == value and abs(value) < 1e15):
        return value
    text = "" if value is None or value != value else str(value)
    text = HIDDEN.sub(lambda found: f"_x{ord(found[0]):04X}_", _shortened(text) if _too_long(text) else text)
    text.encode()  # half a character is an error here, and not in the middle of the file
    return text


def check_excel() -> None:
    """Says what to install where Excel files cannot be read or written."""
    _openpyxl()


def _too_long(text: str) -> bool:
    """Whether Excel cannot hold this text in a cell."""
    return len(text) > LONGEST // 2 and _units(text) > LONGEST


def _shortened(text: str) -> str:
    marker = f" … ({len(text):,} characters, shortened for Excel)"
    kept = text[: LONGEST - len(marker)]
    while (over := _units(kept) + len(marker) - LONGEST) > 0:
        kept = kept[: len(kept) - (over + 1) // 2]
    return kept + marker


def _units(text: str) -> int:
    """The length of a text as Excel counts it: an emoji counts twice."""
    return len(text) + sum(letter > "\uffff" for letter in text)


@contextmanager
def _workbook(path: Path) -> Iterator[tuple[Any, list[str]]]:
    excel = _openpyxl()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of drop-down lists and colours that it leaves out
        try:
            with path.open("rb") as handle:
                _check_size(path, handle)
                book = excel.load_workbook(handle, read_only=True, data_only=True, keep_links=False)
                if not book.worksheets:
                    raise DataError(f"{path} has no sheet with cells: it needs one with texts")
                sheet, *others = book.worksheets
                sheet.reset_dimensions()  # some programs write wrong ones
                names = ", ".join(repr(other.title) for other in others)
                yield sheet, [f"{path} has several sheets: {sheet.title!r} is read, not {names}"] if others else []
        except DataError:
            raise
        except Exception as error:  # of the zip file, of its XML, of what is in it: there are dozens of kinds
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise DataError(f"cannot read {path} as an Excel file ({reason}): save it again as .xlsx") from None


def _check_size(path: Path, handle: BinaryIO) -> None:
    """Refuses a workbook whose files are too large before one of them is read; they cannot be larger than it says."""
    growth = Growth(path)
    with zipfile.ZipFile(handle) as book:
        parts = book.infolist()
    if len(parts) > MOST_PARTS:
        raise DataError(f"{path} has {len(parts):,} files inside: save it again as .xlsx")
    for part in parts:
        growth.add(part.file_size)
    handle.seek(0)


def _seen(cell: Any) -> str:
    """The value of a cell as a person sees it."""
    value = cell.value
    if isinstance(value, str):
        return SHOWN.sub(lambda found: chr(int(found[1], 16)), value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "seconds")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (int, float)):
        return _number(value, str(cell.number_format or ""))
    return str(value)


def _number(value: int | float, format: str) -> str:
    """`00042` where the format of a cell fills up with zeros, `12.5%` for a share, else the number itself."""
    if format and not format.strip("0") and value == int(value) and value >= 0:
        return str(int(value)).zfill(len(format))
    if format.endswith("%"):
        return f"{100 * value:.15g}%"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _openpyxl() -> Any:
    try:
        import openpyxl
        import openpyxl.cell
        import openpyxl.utils
    except ModuleNotFoundError:
        raise DataError("Excel files need the package openpyxl: pip install openpyxl") from None
    return openpyxl
