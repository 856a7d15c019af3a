"""Tables into files, whole or not at all: CSV, TSV and Excel safe from formulas, JSON lines and Parquet as they are."""

from __future__ import annotations

import csv
import io
import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from actune.core.outputs import STANDARD_OUTPUT, named_output, writing
from actune.core.places import is_same
from actune.data.escaping import escape, is_risky
from actune.data.excel import check_excel, write_sheet
from actune.errors import DataError

Rows = Sequence[Sequence[object]]


def write_table(
    path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[object]], raw: bool = False
) -> list[str]:
    """Writes rows to a file, and gives notes on what the file cannot hold; the suffix decides how.

    `raw` leaves CSV cells as they are, for other programs.
    """
    path = check_target(path)
    kind, place = kind_of(path), named_output(path)
    rows = list(rows)
    mark = b""
    notes: list[str] = []
    if not raw and kind in (".csv", ".tsv"):
        check_names(columns)
        columns, rows = escape(columns, rows)
        if place != STANDARD_OUTPUT and not _ascii(columns, rows):
            mark = BOM_UTF8  # without it Excel takes UTF-8 for an old code page
    try:
        with writing(place) as handle:
            handle.write(mark)
            notes.extend(_WRITERS[kind](handle, columns, rows) or ())
    except UnicodeEncodeError as error:
        raise DataError(f"cannot write {path}: a cell has a broken character ({error.reason}); remove it") from None
    return notes


def check_target(path: str | Path, source: str | Path | None = None) -> Path:
    """The path of a file that can be written, or a sentence; to be called before long work whose end is a file.

    It must not be the file that the work reads, `source`.
    """
    kind = kind_of(Path(path))
    if kind not in _WRITERS:
        hint = "; for another labelling tool add --format label-studio or argilla" if kind == ".json" else ""
        raise DataError(f"cannot write {path}: its name must end in one of {', '.join(_WRITERS)}{hint}")
    if kind == ".xlsx":
        check_excel()
    named_output(path)
    if source is not None and is_same(Path(path), Path(source)):
        raise DataError(f"{path} is the file that is read: choose another output file")
    return Path(path)


def check_names(columns: Sequence[str]) -> None:
    """Refuses names of columns that a spreadsheet would run: an apostrophe there would make another name of them."""
    if risky := [name for name in columns if is_risky(name)]:
        raise DataError(
            f"a spreadsheet could run the column name {risky[0]!r} as a formula: rename the column, or add --raw"
        )


def _ascii(columns: Sequence[str], rows: Rows) -> bool:
    return all(cell.isascii() for row in (columns, *rows) for cell in row if isinstance(cell, str))


def kind_of(path: Path) -> str:
    """How a file is written, by its suffix; standard output gets CSV, which a terminal can show."""
    return ".csv" if path == STANDARD_OUTPUT else path.suffix.lower()


def _csv(handle: BinaryIO, columns: Sequence[str], rows: Rows, delimiter: str = ",") -> None:
    text = io.TextIOWrapper(handle, encoding="utf-8", newline="")
    # the usual line end of CSV, \r\n, because then Python quotes a lone \r in a cell too
    writer = csv.writer(text, delimiter=delimiter)
    try:
        writer.writerow(columns)
        writer.writerows([_plain(cell) for cell in row] for row in rows)
    finally:
        text.detach()


def _tsv(handle: BinaryIO, columns: Sequence[str], rows: Rows) -> None:
    _csv(handle, columns, rows, delimiter="\t")


def _jsonl(handle: BinaryIO, columns: Sequence[str], rows: Rows) -> None:
    for row in rows:
        # JSON has no NaN, and only NaN differs from itself
        cells = {name: None if cell != cell else cell for name, cell in zip(columns, row, strict=True)}
        handle.write(json.dumps(cells, ensure_ascii=False, default=str).encode("utf-8") + b"\n")


def _parquet(handle: BinaryIO, columns: Sequence[str], rows: Rows) -> list[str]:
    import pyarrow
    import pyarrow.parquet

    arrays, notes = [], []
    for place, name in enumerate(columns):
        cells = [row[place] for row in rows]
        array = _array(cells)
        if array is None:
            array = pyarrow.array([None if cell is None else str(_plain(cell)) for cell in cells])
            notes.append(
                f"column {name!r} has values of several types, which Parquet cannot store, so they were written as text"
            )
        arrays.append(array)
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(arrays, list(columns)), handle)
    return notes


def _array(cells: Sequence[object]) -> Any | None:
    """The cells as Parquet can hold them, None where it cannot: several types, empty objects, very large numbers."""
    import pyarrow
    import pyarrow.parquet

    try:
        array = pyarrow.array(cells)
        if pyarrow.types.is_nested(array.type):
            pyarrow.parquet.write_table(pyarrow.table({"cells": array[:1]}), io.BytesIO())
    except (pyarrow.ArrowException, OverflowError):
        return None
    return array


def _sheet(handle: BinaryIO, columns: Sequence[str], rows: Rows) -> list[str]:
    return write_sheet(handle, columns, [[_plain(cell) for cell in row] for row in rows])


def _plain(cell: object) -> object:
    """Lists and objects, which JSON lines and Parquet can hold, as JSON."""
    return json.dumps(cell, ensure_ascii=False, default=str) if isinstance(cell, (list, dict)) else cell


_WRITERS: dict[str, Callable[[BinaryIO, Sequence[str], Rows], list[str] | None]] = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
    ".xlsx": _sheet,
}
