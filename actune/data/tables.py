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

from actune.core.places import is_regular
from actune.core.strings import BLOCK
from actune.data.cells import Columns, Table, header_of
from actune.data.encodings import PIECE, find_encoding, reading
from actune.data.escaping import unescape
from actune.data.excel import read_sheet
from actune.data.exchange import records_in
from actune.data.frames import Data, by_column, table_of
from actune.data.limits import DEEPEST, LONGEST, MOST_CELLS, MOST_COLUMNS, Filling, Grown, Growth, check_names, is_deep
from actune.data.parquet import read_parquet
from actune.data.record_tables import table_of_records
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
    check_file(path)
    kind = file_kind(path)
    with reading(path):
        if kind in _BINARY:
            return _BINARY[kind](path)
        longest = None if kind == ".json" else LONGEST  # a whole JSON file is often one line
        return _READERS[kind](path, find_encoding(path, _opened, encoding, longest))


def check_file(path: Path) -> None:
    """Refuses what is not there and what cannot be read twice, as a file is: first to see what it is."""
    if is_regular(path):
        return
    with reading(path):
        if path.is_dir():
            raise DataError(f"{path} is a folder, not a file: give a file in it")
        if not path.exists():
            raise DataError(f"there is no file {path}: check the path")
    raise DataError(f"{path} is a pipe or a device, not a file: save the data to a file first")


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
        return _grown(cast("BinaryIO", gzip.open(path, "rb")), path)
    if path.suffix.lower() == ".zst":
        import pyarrow

        return _grown(cast("BinaryIO", pyarrow.input_stream(path.open("rb"), compression="zstd")), path)
    return path.open("rb")


def _grown(stream: BinaryIO, path: Path) -> BinaryIO:
    return io.BufferedReader(Grown(stream, Growth(path)), PIECE)


def _lines(path: Path, encoding: str) -> io.TextIOWrapper:
    # not str.splitlines: a text may hold U+2028 and other ends of lines that end no row
    return io.TextIOWrapper(_opened(path), encoding=encoding, newline="")


def _csv(path: Path, encoding: str, delimiter: str | None = None) -> Table:
    csv.field_size_limit(LONGEST)  # a text of a megabyte is a text
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
                    if not len(numbers) % BLOCK or len(flat) > MOST_CELLS:
                        flush()
                line = reader.line_num + 1
        except csv.Error as error:
            if "field larger" in str(error):
                raise DataError(
                    f"{path} line {line} has a cell of more than {LONGEST:,} characters: check whether a quote is "
                    "missing"
                ) from None
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
    names: dict[str, None] = {}
    numbers = array("q")
    columns = Columns()
    filling = Filling(str(path))

    def flush() -> None:
        filling.add(len(records) * len(names), sum(map(len, records)))
        columns.add(by_column(records), len(records))
        records.clear()

    with _lines(path, encoding) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                records.append(record := _record(line, f"{path} line {number}"))
                if not record.keys() <= names.keys():
                    names.update(dict.fromkeys(record))
                    if len(names) > MOST_COLUMNS:
                        check_names(names, str(path))
                numbers.append(number)
                if len(records) == BLOCK or len(records) * len(names) > MOST_CELLS:
                    flush()
    flush()
    return Table(str(path), columns.cells(), numbers)


def _record(line: str, place: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f'{place} is not JSON ({_reason(error)}): each line must be an object like {{"text": "..."}}'
        ) from None
    if not isinstance(record, dict):
        raise DataError(f'{place} is not a JSON object: each line must be one like {{"text": "..."}}')
    if line.count("[") + line.count("{") > DEEPEST and is_deep(record):
        raise DataError(f"{place} has more than {DEEPEST} lists or objects inside of each other: flatten them")
    return record


def _reason(error: Exception) -> str:
    return str(error).partition(";")[0]  # what follows tells a programmer how to raise a limit of Python


def _json(path: Path, encoding: str) -> Table:
    with _lines(path, encoding) as lines:
        try:
            records = json.load(lines)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"{path} is not JSON ({_reason(error)}): name it .jsonl if each line is an object"
            ) from None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise DataError(f'{path} is not a list of objects: it must look like [{{"text": "..."}}, ...]')
    if is_deep(records):
        raise DataError(f"{path} has more than {DEEPEST} lists or objects inside of each other: flatten them")
    if (found := records_in(records)) is not None:
        return table_of_records(found, str(path))
    names = check_names({name: None for record in records for name in record}, str(path))
    Filling(str(path)).add(len(records) * len(names), sum(map(len, records)))
    return Table(str(path), by_column(records), range(1, len(records) + 1), unit="row")


_READERS: dict[str, Callable[[Path, str], Table]] = {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl, ".json": _json}
_BINARY: dict[str, Callable[[Path], Table]] = {".xlsx": read_sheet, ".parquet": read_parquet}
