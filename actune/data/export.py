"""Tables into files, whole or not at all: CSV and TSV safe for spreadsheets, JSON lines and Parquet as they are."""

from __future__ import annotations

import csv
import io
import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from actune.core.files import replacing
from actune.data.escaping import RISKY, escape
from actune.errors import DataError, StorageError

Rows = Sequence[Sequence[object]]


def write_table(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[object]], raw: bool = False) -> None:
    """Writes rows to a file; the suffix decides how. `raw` leaves CSV cells as they are, for machines."""
    path = check_target(path)
    rows = list(rows)
    mark = b""
    if not raw and path.suffix.lower() in (".csv", ".tsv"):
        if risky := [name for name in columns if name.startswith(RISKY)]:
            raise DataError(f"a spreadsheet may run the column name {risky[0]!r}: rename it, or export with --raw")
        columns, rows = escape(columns, rows)
        mark = b"" if _ascii(columns, rows) else BOM_UTF8  # without it Excel takes UTF-8 for an old code page

    def write(handle: BinaryIO) -> None:
        handle.write(mark)
        _WRITERS[path.suffix.lower()](handle, columns, rows)

    try:
        _write_whole(path, write)
    except UnicodeEncodeError as error:
        raise DataError(f"cannot write {path}: a cell holds half a character ({error.reason}), remove it") from None


def check_target(path: str | Path) -> Path:
    """The path of a file that can be written, or a sentence; to be called before long work whose end is a file."""
    path = Path(path)
    if path.suffix.lower() not in _WRITERS:
        raise DataError(f"cannot write {path}: its suffix must be one of {', '.join(_WRITERS)}")
    if not path.parent.is_dir():
        raise StorageError(f"cannot write {path} (there is no folder {path.parent}): choose another folder")
    return path


def _ascii(columns: Sequence[str], rows: Rows) -> bool:
    return all(cell.isascii() for row in (columns, *rows) for cell in row if isinstance(cell, str))


def _write_whole(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Writes a file beside the old one and then puts it in its place, so that no half of it is ever seen."""
    try:
        with replacing(path) as scratch, scratch.open("wb") as handle:
            write(handle)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(f"cannot write {path} ({reason}): free some space or choose another folder") from None


def _csv(handle: BinaryIO, columns: Sequence[str], rows: Rows, delimiter: str = ",") -> None:
    text = io.TextIOWrapper(handle, encoding="utf-8", newline="")
    # the usual line end of CSV, \r\n, because then Python quotes a lone \r in a cell too
    writer = csv.writer(text, delimiter=delimiter)
    try:
        writer.writerow(columns)
        writer.writerows(rows)
    finally:
        text.detach()


def _tsv(handle: BinaryIO, columns: Sequence[str], rows: Rows) -> None:
    _csv(handle, columns, rows, delimiter="\t")


def _jsonl(handle: BinaryIO, columns: Sequence[str], rows: Rows) -> None:
    for row in rows:
        # JSON has no NaN, and only NaN differs from itself
        cells = {name: None if cell != cell else cell for name, cell in zip(columns, row, strict=True)}
        handle.write(json.dumps(cells, ensure_ascii=False).encode("utf-8") + b"\n")


def _parquet(handle: BinaryIO, columns: Sequence[str], rows: Rows) -> None:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.table({name: [row[place] for row in rows] for place, name in enumerate(columns)})
    except pyarrow.ArrowException as error:
        raise DataError(f"a column holds cells of several kinds, which Parquet cannot take ({error})") from None
    pyarrow.parquet.write_table(table, handle)


_WRITERS: dict[str, Callable[[BinaryIO, Sequence[str], Rows], None]] = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
}
