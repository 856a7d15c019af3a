"""Files into tables of cells: CSV, TSV, JSON lines, JSON, Excel and Parquet, text also compressed, read in blocks."""

from __future__ import annotations

import csv
import gzip
import io
import json
from array import array
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from actune.core.strings import BLOCK
from actune.data.cells import Columns, Table, header_of
from actune.data.encodings import find_encoding
from actune.data.escaping import unescape
from actune.data.excel import read_sheet
from actune.data.frames import Data, arrow_table, by_column, table_of
from actune.errors import DataError

DELIMITERS = ",;\t|"
SAMPLED = 50  # rows that show what separates the cells of a file


def read_table(data: Data, encoding: str | None = None) -> Table:
    """The table in a file, whose suffix decides how it is read, or in a frame, a data set or a list in memory.

    `encoding` is that of a text file that is not UTF-8.
    """
    if not isinstance(data, (str, Path)):
        table, source = table_of(data), "the data"
    else:
        table, source = _read_file(Path(data), encoding), str(data)
    if not len(table):
        raise DataError(f"{source} has no rows: it needs at least one text")
    return table


def _read_file(path: Path, encoding: str | None) -> Table:
    if path.is_dir():
        raise DataError(f"{path} is a folder, not a file: give a file in it")
    if not path.exists():
        raise DataError(f"there is no file {path}: check the path")
    kind = file_kind(path)
    if kind in _BINARY:
        return _BINARY[kind](path)
    return _READERS[kind](path, find_encoding(path, _opened, encoding))


def file_kind(path: Path) -> str:
    """The suffix that decides how a file is read, without that of a compression."""
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    kind = name[name.rfind(".") :] if "." in name else ""
    if kind in _READERS or (kind in _BINARY and path.name.lower().endswith(kind)):
        return kind
    known = f"{', '.join(_READERS)} (also with .gz or .zst), {' or '.join(_BINARY)}"
    raise DataError(f"{path} has an unknown file type: use one of {known}")


def has_known_suffix(path: Path) -> bool:
    """Whether a name looks like a file that can be read."""
    try:
        return bool(file_kind(path))
    except DataError:
        return False


def _opened(path: Path) -> BinaryIO:
    if path.suffix.lower() == ".gz":
        return cast("BinaryIO", gzip.open(path, "rb"))
    if path.suffix.lower() == ".zst":
        import pyarrow

        return cast("BinaryIO", pyarrow.input_stream(str(path), compression="zstd"))
    return path.open("rb")


def _lines(path: Path, encoding: str) -> io.TextIOWrapper:
    # not str.splitlines: a text may hold U+2028 and other ends of lines that end no row
    return io.TextIOWrapper(_opened(path), encoding=encoding, newline="")


def _csv(path: Path, encoding: str, delimiter: str | None = None) -> Table:
    csv.field_size_limit(2**31 - 1)  # a text of a megabyte is a text
    delimiter = delimiter or _delimiter(path, encoding)
    header: list[str] = []
    flat: list[object] = []  # the cells of a block, row by row: rows as lists would keep the garbage collector busy
    numbers = array("q")
    columns = Columns()

    def flush() -> None:
        rows = len(flat) // len(header) if header else 0
        cells = {name: flat[place :: len(header)] for place, name in enumerate(header)}
        if (broken := unescape(cells)) is not None:
            line = numbers[len(numbers) - rows + broken]
            raise DataError(f"{path} line {line} has a damaged marker of escaped cells: export the file again")
        columns.add(cells, rows)
        flat.clear()

    line = 1
    with _lines(path, encoding) as lines:
        # strict: a quote that is never closed would otherwise swallow the rest of the file without a word
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for row in reader:
                if row and not header:
                    header = header_of(row, str(path))
                elif row:
                    while len(row) > len(header) and not row[-1]:  # more separators at the end than the header has
                        row.pop()
                    if len(row) != len(header):
                        counts = f"{len(row)} cell{'s' if len(row) > 1 else ''} instead of {len(header)}"
                        raise DataError(
                            f"{path} line {line} has {counts}: put quotes around cells that contain {delimiter!r}"
                        )
                    flat += row
                    numbers.append(line)
                    if not len(numbers) % BLOCK:
                        flush()
                line = reader.line_num + 1
        except csv.Error as error:
            raise DataError(f"{path} line {line} has a broken quote ({error}): double the quotes in a cell") from None
    flush()
    return Table(str(path), columns.cells(), numbers)


def _delimiter(path: Path, encoding: str) -> str:
    """The sign that splits the first rows into the same number of cells; else a comma, or what splits the header.

    Spreadsheets write semicolons where commas are decimal, and texts may hold any of these signs.
    """
    for sign in DELIMITERS:
        with suppress(csv.Error), _lines(path, encoding) as lines:
            rows = [len(row) for row in islice(csv.reader(lines, delimiter=sign, strict=True), SAMPLED) if row]
            if rows and rows[0] > 1 and len(set(rows)) == 1:
                return sign
    with suppress(csv.Error), _lines(path, encoding) as lines:
        header = next((row for row in csv.reader(lines) if row), [])
        if len(header) == 1:
            return next((sign for sign in DELIMITERS if sign in header[0]), ",")
    return ","


def _tsv(path: Path, encoding: str) -> Table:
    return _csv(path, encoding, delimiter="\t")


def _jsonl(path: Path, encoding: str) -> Table:
    records: list[dict[str, object]] = []
    numbers = array("q")
    columns = Columns()
    with _lines(path, encoding) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                records.append(_record(line, f"{path} line {number}"))
                numbers.append(number)
                if len(records) == BLOCK:
                    columns.add(by_column(records), len(records))
                    records.clear()
    columns.add(by_column(records), len(records))
    return Table(str(path), columns.cells(), numbers)


def _record(line: str, place: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f'{place} is not JSON ({error}): each line must be an object like {{"text": "..."}}') from None
    if not isinstance(record, dict):
        raise DataError(f'{place} is not a JSON object: each line must be one like {{"text": "..."}}')
    return record


def _json(path: Path, encoding: str) -> Table:
    with _lines(path, encoding) as lines:
        try:
            records = json.load(lines)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path} is not JSON ({error}): name it .jsonl if each line is an object") from None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise DataError(f'{path} is not a list of objects: it must look like [{{"text": "..."}}, ...]')
    return Table(str(path), by_column(records), range(1, len(records) + 1), unit="row")


def _parquet(path: Path) -> Table:
    import pyarrow
    import pyarrow.parquet

    try:
        with path.open("rb") as handle:
            table = pyarrow.parquet.ParquetFile(handle).read()
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"cannot read {path} as Parquet ({error}): write the file again") from None
    return arrow_table(table, str(path))


_READERS: dict[str, Callable[[Path, str], Table]] = {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl, ".json": _json}
_BINARY: dict[str, Callable[[Path], Table]] = {".xlsx": read_sheet, ".parquet": _parquet}
