"""Files into tables of cells: CSV, TSV, JSON lines, JSON and Parquet, plain or compressed."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from actune.data.escaping import unescape
from actune.errors import DataError, nearest

SHOWN = 5  # so many line numbers are named in a message, the rest is counted


@dataclass(frozen=True)
class Table:
    """Cells by column, as the file holds them, with the line of each row as a person sees it in the file."""

    source: str
    cells: dict[str, list[object]]
    numbers: Sequence[int]
    unit: str = "line"

    def __len__(self) -> int:
        return len(self.numbers)

    def where(self, rows: Sequence[int]) -> str:
        """These rows in words: `line 4`, or `lines 4, 9, 12, 15, 20 and 7 more`."""
        named = ", ".join(str(self.numbers[row]) for row in rows[:SHOWN])
        more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
        return f"{self.unit}{'s' if len(rows) > 1 else ''} {named}{more}"

    def column(self, name: str, option: str) -> list[object]:
        """The cells of a column, or a sentence that lists the columns there are."""
        if name in self.cells:
            return self.cells[name]
        raise DataError(
            f"{self.source} has no column {name!r}, name one with {option}: {nearest(name, map(str, self.cells))}"
        )


def read_table(path: str | Path) -> Table:
    """The table in a file; the suffix decides how it is read."""
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder, not a file: name a file in it")
    if not path.exists():
        raise DataError(f"there is no file {path}: check the path")
    kind = kind_of(path)
    table = _parquet(path) if kind == ".parquet" else _READERS[kind](_bytes(path), str(path))
    if not len(table):
        raise DataError(f"{path} has no rows: it needs at least one text")
    return table


def kind_of(path: Path) -> str:
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
        return bool(kind_of(path))
    except DataError:
        return False


def _bytes(path: Path) -> bytes:
    try:
        data = _opened(path)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"cannot read {path} ({error}): check the file and its permissions") from None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError(f"{path} is UTF-16 text: save it as UTF-8")
    if (place := data.find(b"\0")) >= 0:
        line = data.count(b"\n", 0, place) + 1
        raise DataError(f"{path} has a NUL character at byte {place}, line {line}: remove it, or save it as UTF-8")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        wrong = f"byte 0x{data[error.start]:02x} at position {error.start}, line {line}"
        raise DataError(f"{path} is not UTF-8 text ({wrong}): save it as UTF-8") from None
    if not (body := data.removeprefix(b"\xef\xbb\xbf")) or body.isspace():
        raise DataError(f"{path} is empty: it needs at least one text")
    return data


def _opened(path: Path) -> bytes:
    if path.suffix.lower() == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix.lower() == ".zst":
        import pyarrow

        with pyarrow.input_stream(str(path), compression="zstd") as stream:
            return bytes(stream.read())
    return path.read_bytes()


def _csv(data: bytes, source: str, delimiter: str | None = None) -> Table:
    csv.field_size_limit(2**31 - 1)  # a text of a megabyte is a text
    delimiter = delimiter or _delimiter(data)
    # strict: a quote that is never closed would otherwise swallow the rest of the file without a word
    reader = csv.reader(_lines(data), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    flat: list[object] = []  # all cells, row by row: a million rows as lists would keep the garbage collector busy
    numbers: list[int] = []
    line = 1
    try:
        for row in reader:
            if header is None and row:
                header = _header(row, source)
            elif header is not None and row:
                if len(row) != len(header):
                    counts = f"{len(row)} cell{'s' if len(row) > 1 else ''} instead of {len(header)}"
                    raise DataError(f"{source} line {line} has {counts}: quote cells that hold a {delimiter!r}")
                flat += row
                numbers.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{source} line {line} has a broken quote ({error}): double the quotes in a cell") from None
    cells = {name: flat[place :: len(header)] for place, name in enumerate(header)} if header else {}
    if (broken := unescape(cells)) is not None:
        raise DataError(f"{source} line {numbers[broken]} has a broken mark of escaped cells: export the file again")
    return Table(source, cells, numbers)


def _delimiter(data: bytes) -> str:
    """A comma, or what splits a header that has no comma: spreadsheets write semicolons where commas are decimal."""
    with suppress(csv.Error):
        header = next((row for row in csv.reader(_lines(data)) if row), [])
        if len(header) == 1:
            return next((sign for sign in ";\t|" if sign in header[0]), ",")
    return ","


def _header(row: list[str], source: str) -> list[str]:
    header = [name.strip() for name in row]
    if twice := next((name for name in header if name and header.count(name) > 1), ""):
        raise DataError(f"{source} has more than one column {twice!r}: rename one of them")
    return header


def _tsv(data: bytes, source: str) -> Table:
    return _csv(data, source, delimiter="\t")


def _jsonl(data: bytes, source: str) -> Table:
    records: list[dict[str, object]] = []
    numbers: list[int] = []
    for number, line in enumerate(_lines(data), start=1):
        if line.strip():
            records.append(_record(line, f"{source} line {number}"))
            numbers.append(number)
    return Table(source, _by_column(records), numbers)


def _record(line: str, place: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f'{place} is not JSON ({error}): each line must be an object like {{"text": "..."}}') from None
    if not isinstance(record, dict):
        raise DataError(f'{place} is not a JSON object: each line must be one like {{"text": "..."}}')
    return record


def _json(data: bytes, source: str) -> Table:
    try:
        records = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{source} is not JSON ({error}): name it .jsonl if each line is an object") from None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise DataError(f'{source} is not a list of objects: it must look like [{{"text": "..."}}, ...]')
    return Table(source, _by_column(records), range(1, len(records) + 1), unit="row")


def _parquet(path: Path) -> Table:
    import pyarrow
    import pyarrow.parquet

    try:
        with path.open("rb") as handle:
            cells = pyarrow.parquet.ParquetFile(handle).read().to_pydict()
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"cannot read {path} as Parquet ({error}): write the file again") from None
    return Table(str(path), cells, range(1, max(map(len, cells.values()), default=0) + 1), unit="row")


def _lines(data: bytes) -> io.TextIOWrapper:
    # not str.splitlines: a text may hold U+2028 and other ends of lines that end no row
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")


def _by_column(records: Sequence[dict[str, object]]) -> dict[str, list[object]]:
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


_READERS: dict[str, Callable[[bytes, str], Table]] = {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl, ".json": _json}
