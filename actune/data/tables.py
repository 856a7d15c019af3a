"""Files into tables of cells: CSV, TSV, JSON lines, JSON and Parquet, plain or compressed, read in blocks."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from array import array
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from actune.core.strings import BLOCK
from actune.data.cells import Columns, Table
from actune.data.escaping import unescape
from actune.data.frames import Data, arrow_table, by_column, table_of
from actune.errors import DataError

PIECE = 2**20  # bytes that are checked at a time


def read_table(data: Data) -> Table:
    """The table in a file, whose suffix decides how it is read, or in a frame, a data set or a list in memory."""
    if not isinstance(data, (str, Path)):
        table, source = table_of(data), "the data"
    else:
        table, source = _read_file(Path(data)), str(data)
    if not len(table):
        raise DataError(f"{source} has no rows: it needs at least one text")
    return table


def _read_file(path: Path) -> Table:
    if path.is_dir():
        raise DataError(f"{path} is a folder, not a file: name a file in it")
    if not path.exists():
        raise DataError(f"there is no file {path}: check the path")
    kind = file_kind(path)
    if kind == ".parquet":
        return _parquet(path)
    _check_text(path)
    return _READERS[kind](path)


def file_kind(path: Path) -> str:
    """The suffix that decides how a file is read, without that of a compression."""
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    kind = name[name.rfind(".") :] if "." in name else ""
    if kind in _READERS or (kind == ".parquet" and path.name.lower().endswith(kind)):
        return kind
    raise DataError(
        f"{path} has a suffix that is not known: use one of {', '.join(_READERS)} (also with .gz or .zst) or .parquet"
    )


def has_known_suffix(path: Path) -> bool:
    """Whether a name looks like a file that can be read."""
    try:
        return bool(file_kind(path))
    except DataError:
        return False


def _check_text(path: Path) -> None:
    """Reads a file once, in blocks, and says in one sentence what keeps it from being text."""
    nul: tuple[int, int] | None = None  # the place and the line
    wrong = ""
    blank, before, lines = True, 0, 1
    decoder = getincrementaldecoder("utf-8")()
    try:
        with _opened(path) as stream:
            while block := bytes(stream.read(PIECE)):
                if before == 0:
                    if block[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
                        raise DataError(f"{path} is UTF-16 text: save it as UTF-8")
                    blank = not (body := block.removeprefix(BOM_UTF8)) or body.isspace()
                else:
                    blank = blank and block.isspace()
                if nul is None and (place := block.find(0)) >= 0:
                    nul = before + place, lines + block.count(b"\n", 0, place)
                wrong = wrong or _broken(decoder, block, before, lines)
                before, lines = before + len(block), lines + block.count(b"\n")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"cannot read {path} ({error}): check the file and its permissions") from None
    wrong = wrong or _broken(decoder, b"", before, lines)
    if nul is not None:
        raise DataError(f"{path} has a NUL character at byte {nul[0]}, line {nul[1]}: remove it, or save it as UTF-8")
    if wrong:
        raise DataError(f"{path} is not UTF-8 text ({wrong}): save it as UTF-8")
    if blank:
        raise DataError(f"{path} is empty: it needs at least one text")


def _broken(decoder: IncrementalDecoder, block: bytes, before: int, lines: int) -> str:
    """The first byte that is no UTF-8, with its place and its line; an empty block is the end of the file."""
    waiting = len(decoder.getstate()[0])  # bytes of a character that began in the block before
    try:
        decoder.decode(block, final=not block)
    except UnicodeDecodeError as error:
        line = lines + error.object.count(b"\n", 0, error.start)
        return f"byte 0x{error.object[error.start]:02x} at position {before - waiting + error.start}, line {line}"
    return ""


def _opened(path: Path) -> BinaryIO:
    if path.suffix.lower() == ".gz":
        return cast("BinaryIO", gzip.open(path, "rb"))
    if path.suffix.lower() == ".zst":
        import pyarrow

        return cast("BinaryIO", pyarrow.input_stream(str(path), compression="zstd"))
    return path.open("rb")


def _lines(path: Path) -> io.TextIOWrapper:
    # not str.splitlines: a text may hold U+2028 and other ends of lines that end no row
    return io.TextIOWrapper(_opened(path), encoding="utf-8-sig", newline="")


def _csv(path: Path, delimiter: str | None = None) -> Table:
    csv.field_size_limit(2**31 - 1)  # a text of a megabyte is a text
    delimiter = delimiter or _delimiter(path)
    header: list[str] = []
    flat: list[object] = []  # the cells of a block, row by row: rows as lists would keep the garbage collector busy
    numbers = array("q")
    columns = Columns()

    def flush() -> None:
        rows = len(flat) // len(header) if header else 0
        cells = {name: flat[place :: len(header)] for place, name in enumerate(header)}
        if (broken := unescape(cells)) is not None:
            line = numbers[len(numbers) - rows + broken]
            raise DataError(f"{path} line {line} has a broken mark of escaped cells: export the file again")
        columns.add(cells, rows)
        flat.clear()

    line = 1
    with _lines(path) as lines:
        # strict: a quote that is never closed would otherwise swallow the rest of the file without a word
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for row in reader:
                if row and not header:
                    header = _header(row, path)
                elif row:
                    if len(row) != len(header):
                        counts = f"{len(row)} cell{'s' if len(row) > 1 else ''} instead of {len(header)}"
                        raise DataError(f"{path} line {line} has {counts}: quote cells that hold a {delimiter!r}")
                    flat += row
                    numbers.append(line)
                    if not len(numbers) % BLOCK:
                        flush()
                line = reader.line_num + 1
        except csv.Error as error:
            raise DataError(f"{path} line {line} has a broken quote ({error}): double the quotes in a cell") from None
    flush()
    return Table(str(path), columns.cells(), numbers)


def _delimiter(path: Path) -> str:
    """A comma, or what splits a header that has no comma: spreadsheets write semicolons where commas are decimal."""
    with suppress(csv.Error), _lines(path) as lines:
        header = next((row for row in csv.reader(lines) if row), [])
        if len(header) == 1:
            return next((sign for sign in ";\t|" if sign in header[0]), ",")
    return ","


def _header(row: list[str], path: Path) -> list[str]:
    header = [name.strip() for name in row]
    if twice := next((name for name in header if name and header.count(name) > 1), ""):
        raise DataError(f"{path} has more than one column {twice!r}: rename one of them")
    return header


def _tsv(path: Path) -> Table:
    return _csv(path, delimiter="\t")


def _jsonl(path: Path) -> Table:
    records: list[dict[str, object]] = []
    numbers = array("q")
    columns = Columns()
    with _lines(path) as lines:
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


def _json(path: Path) -> Table:
    with _lines(path) as lines:
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


_READERS: dict[str, Callable[[Path], Table]] = {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl, ".json": _json}
