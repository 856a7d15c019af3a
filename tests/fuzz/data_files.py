"""Data files of every kind with odd but legal content, damaged in many ways: each is read or refused by a sentence."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from actune.annotators.files import check_replaceable, read_answers
from actune.core.pool import pool_of
from actune.data.export import write_table
from actune.data.formats import read_more, read_pool, read_table, read_texts
from actune.data.splits import Reading, make_task
from actune.errors import ActuneError
from actune.session.votes import read_votes

WORDS = (
    *("one", "two words", "", " ", "a,b", 'say "x"', "line\nbreak", "\r", "\r\n", "\t", "=1+1", "'=1", "-0", "@cmd"),
    *(
        "ä",
        "日本語",
        "👩‍👩‍👧",
        "\u202eabc",
        "\u2028",
        "\ufeff",
        "\x1b[31m",
        "\x85",
        "NaN",
        "nan",
        "null",
        "None",
        "1e400",
    ),
    *("x" * 300, "skip", "unskip", "A", "a ", "b", "0", "1", "-1", "[0, 1]", "[[[", "{}", "2020-01-01", "_x000D_"),
)
NAMES = ("text", "label", "id", "votes", "weak_labels", "vote_a", "lf_b", "split", "source", "round", "confidence")
ODD = (
    b"\0",
    b"\xff",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b'"',
    b"'",
    b",",
    b"\n",
    b"\r",
    b"[",
    b"{",
    b"}",
    b"\xed\xa0\x80",
    b"\x80",
)
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1", "utf-32", "shift_jis", "utf-7")
SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".xlsx", ".parquet")
PACKED = ("", "", "", ".gz", ".zst")
POOL = pool_of(["one", "two", "three"], ["a", "b", None], ["0", "1", "x"], ["a", "b"])
JSON_VALUES = (None, True, 0, -1, 1.5, 10**30, float("nan"), float("inf"), "\ud800", [], {}, [1, "a"], {"a": [None]})

Make = tuple[str, bytes]


def make(rng: Random) -> Make:
    """The name and the content of a file, most often a damaged one."""
    suffix, packed = rng.choice(SUFFIXES), ""
    content = _BUILDERS[suffix](rng)
    if suffix in _TEXTS:
        packed = rng.choice(PACKED)
    times = rng.choice((0, 1, 1, 2, 3, 8))
    if rng.random() < 0.5:
        content = _damaged_inside(rng, suffix, content, times)
        times = 0
    content = _compressed(packed, content)
    for _ in range(times):
        content = _damaged(rng, content)
    if rng.random() < 0.05:  # what is in it is not what its name says
        suffix, packed = rng.choice(SUFFIXES), rng.choice(PACKED)
    return f"file{suffix}{packed}", content


def run(path: Path) -> None:
    """Reads a file as some of the commands do, which its content decides; only sentences may come out."""
    for read in Random(zlib.crc32(path.read_bytes())).sample(_READERS, 3):
        try:
            read(path)
        except ActuneError as error:
            assert str(error) and "Traceback" not in str(error)


def _write_again(path: Path) -> None:
    table = read_table(path)
    rows = list(zip(*table.cells.values(), strict=True))
    for suffix in (".csv", ".jsonl", ".parquet") if len(rows) % 2 else (".tsv", ".xlsx"):
        try:
            write_table(path.with_name(f"written{suffix}"), list(table.cells), rows)
        except ActuneError:
            continue


def _read_task(path: Path) -> None:
    make_task("task", path, test=path, reading=Reading(split="split"))


_READERS: tuple[Callable[[Path], object], ...] = (
    read_pool,
    lambda path: read_pool(path, label="vote_a", id="text", encoding="cp1252"),
    lambda path: read_pool(path, encoding="utf-16"),
    lambda path: read_more(path, POOL),
    read_texts,
    lambda path: read_answers(path, POOL),
    lambda path: check_replaceable(path, {"0": "a"}, ("a", "b")),
    lambda path: read_votes(str(path)),
    lambda path: make_task("task", path),
    _read_task,
    _write_again,
)


def _columns(rng: Random) -> list[str]:
    names = rng.sample(NAMES, rng.randint(1, len(NAMES)))
    if rng.random() < 0.8 and "text" not in names:
        names[0] = "text"
    if rng.random() < 0.2:
        names[rng.randrange(len(names))] = rng.choice(WORDS)
    return names


def _words(rng: Random) -> list[list[str]]:
    names, count = _columns(rng), rng.choice((0, 1, 3, 10, 40))
    return [names, *([_word(rng, name, row) for name in names] for row in range(count))]


def _word(rng: Random, name: str, row: int) -> str:
    if rng.random() < 0.3:
        return rng.choice(WORDS)
    usual = {"id": str(row), "label": rng.choice("ab"), "votes": rng.choice(("[0, 1]", "[1, -1]")), "split": "train"}
    return usual.get(name, f"some words {row}")


def _csv(rng: Random, delimiter: str = "") -> bytes:
    import csv

    text = io.StringIO(newline="")
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    ends = rng.choice(("\r\n", "\n", "\r"))
    csv.writer(text, delimiter=delimiter or rng.choice(",;|\t"), quoting=quoting, lineterminator=ends).writerows(
        _words(rng)
    )
    return _encoded(rng, text.getvalue())


def _encoded(rng: Random, text: str) -> bytes:
    encoding = rng.choice(ENCODINGS) if rng.random() < 0.3 else "utf-8"
    return text.encode(encoding, "replace" if rng.random() < 0.5 else "ignore")


def _records(rng: Random) -> list[dict[str, object]]:
    names, *rows = _words(rng)
    records: list[dict[str, object]] = [dict(zip(names, row, strict=True)) for row in rows]
    for record in records:
        if rng.random() < 0.3:
            record[rng.choice(names)] = rng.choice(JSON_VALUES)
        if rng.random() < 0.1:
            record.pop(rng.choice(names), None)
    return records


def _jsonl(rng: Random) -> bytes:
    return _encoded(rng, "\n".join(json.dumps(record, ensure_ascii=rng.random() < 0.7) for record in _records(rng)))


def _json(rng: Random) -> bytes:
    found: Any = _records(rng)
    if rng.random() < 0.1:
        found = rng.choice((found[:1], {"data": found}, None, 1, [1], [[]]))
    return _encoded(rng, json.dumps(found, indent=rng.choice((None, 1)), ensure_ascii=rng.random() < 0.5))


def _xlsx(rng: Random) -> bytes:
    book = openpyxl.Workbook()
    for place in range(rng.choice((1, 1, 2))):
        sheet = book.active if not place else book.create_sheet()
        for row in _words(rng):
            sheet.append([_cell(rng, word) for word in row])
    book.save(made := io.BytesIO())
    return made.getvalue()


def _cell(rng: Random, word: str) -> object:
    values = (
        1,
        1.5,
        True,
        None,
        date(2020, 1, 1),
        datetime(2020, 1, 1, 12, 30),
        time(1, 2),
        timedelta(days=40),
        "=1+1",
        "#N/A",
    )
    if rng.random() < 0.1:
        return rng.choice(values)
    return "".join(letter for letter in word if letter >= " " or letter in "\t\n")


def _parquet(rng: Random) -> bytes:
    names, *rows = _words(rng)
    columns = {name: _array(rng, [row[place] for row in rows]) for place, name in enumerate(names)}
    if rng.random() < 0.1:
        table = pa.Table.from_arrays([*columns.values()] * 2, names=[*columns] * 2)
    else:
        table = pa.table(columns) if rng.random() < 0.97 else pa.table({})
    sink = io.BytesIO()
    pq.write_table(
        table,
        sink,
        compression=rng.choice(("none", "snappy", "zstd", "gzip", "lz4")),
        use_dictionary=rng.random() < 0.6,
        row_group_size=rng.choice((None, 3)),
        version=rng.choice(("1.0", "2.6")),
        data_page_version=rng.choice(("1.0", "2.0")),
        store_schema=rng.random() < 0.7,
        write_statistics=rng.random() < 0.5,
    )
    return sink.getvalue()


def _array(rng: Random, words: list[str]) -> pa.Array:
    """A column of texts, or of any other type that Parquet knows."""
    if rng.random() < 0.6:
        kind = rng.choice((pa.string(), pa.large_string(), pa.string_view(), pa.binary()))
        cells = [None if rng.random() < 0.1 else word.encode() if kind == pa.binary() else word for word in words]
        array = pa.array(cells, kind)
        return array.dictionary_encode() if rng.random() < 0.2 and kind == pa.string() else array
    kind, cells = rng.choice(_kinds())
    return pa.array([rng.choice(cells) for _ in words], kind)


@cache
def _kinds() -> tuple[tuple[pa.DataType, tuple[object, ...]], ...]:
    far = (0, 1, None, 2**31 - 1, -(2**31))
    farther = (0, 1, None, 2**62, -(2**62))
    return (
        (pa.int64(), (0, 1, -1, None, 2**63 - 1)),
        (pa.uint64(), (0, 1, 2**64 - 1)),
        (pa.int8(), (0, 1, -1, None)),
        (pa.float64(), (0.0, 1.0, -1.0, None, float("nan"), float("inf"), 1e300)),
        (pa.bool_(), (True, False, None)),
        (pa.date32(), far),
        (pa.timestamp("s"), (0, None, 2**42, -(2**42))),
        (pa.timestamp("us", "Europe/Berlin"), farther),
        (pa.timestamp("ms", "Nowhere/Land"), (0, 1, None)),
        (pa.timestamp("ns"), (0, 1000, None, datetime(2020, 1, 1, tzinfo=UTC))),
        (pa.duration("s"), farther),
        (pa.time64("us"), (0, 1, None)),
        (pa.decimal128(38, 2), (Decimal("1.00"), Decimal("-" + "9" * 36 + ".99"), None)),
        (pa.decimal256(76, 0), (Decimal(1), Decimal("9" * 76), None)),
        (pa.list_(pa.int64()), ([0, 1], [1, -1], [], None, [None])),
        (pa.list_(pa.string()), (["a", "b"], ["b"], None)),
        (pa.list_(pa.list_(pa.string())), ([["a"], []], None)),
        (pa.struct({"a": pa.string(), "b": pa.date32()}), ({"a": "x", "b": None}, None)),
        (pa.map_(pa.string(), pa.int64()), ([("a", 1)], [], None)),
        (pa.binary(4), (b"\xff\xfe\0\1", None)),
        (pa.null(), (None,)),
        (pa.float16(), (None,)),
    )


_BUILDERS: dict[str, Callable[[Random], bytes]] = {
    ".csv": _csv,
    ".tsv": lambda rng: _csv(rng, "\t"),
    ".jsonl": _jsonl,
    ".json": _json,
    ".xlsx": _xlsx,
    ".parquet": _parquet,
}
_TEXTS = (".csv", ".tsv", ".jsonl", ".json")


def _compressed(packed: str, content: bytes) -> bytes:
    if packed == ".gz":
        return gzip.compress(content, 1, mtime=0)
    if packed == ".zst":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(content)
        return bytes(sink.getvalue())
    return content


def _damaged(rng: Random, content: bytes) -> bytes:
    """One flipped bit, a cut, odd bytes, blocks that are swapped, repeated or gone, or a changed number."""
    if not content:
        return rng.choice(ODD)
    data, place = bytearray(content), rng.randrange(len(content))
    other, size = rng.randrange(len(content)), rng.choice((1, 2, 4, 16, 64, 512))
    match rng.randrange(9):
        case 0 | 1:
            data[place] ^= 1 << rng.randrange(8)
        case 2:
            del data[place:]
        case 3:
            data[place:place] = rng.choice(ODD) * rng.choice((1, 1, 3, 200))
        case 4:
            data[place : place + size], data[other : other + size] = (
                data[other : other + size],
                data[place : place + size],
            )
        case 5:
            del data[place : place + size]
        case 6:
            data[place:place] = data[other : other + size]
        case 7:
            data[place : place + size] = rng.randbytes(size)
        case _:
            number = rng.choice((0, 1, 0x7F, 0x80, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF))
            data[place : place + 4] = number.to_bytes(4, "little")
    return bytes(data)


def _damaged_inside(rng: Random, suffix: str, content: bytes, times: int) -> bytes:
    """Damage behind the checksums: in the files of a workbook, in the footer or the pages of a Parquet file."""
    for _ in range(times):
        if suffix == ".xlsx":
            content = _damaged_part(rng, content)
        elif suffix == ".parquet" and len(content) > 12 and rng.random() < 0.5:
            start = max(4, len(content) - 8 - int.from_bytes(content[-8:-4], "little"))
            content = (
                content[:start]
                + _damaged(rng, content[start:-8])[: len(content) - start - 8].ljust(len(content) - start - 8, b"\0")
                + content[-8:]
            )
        else:
            content = _damaged(rng, content)
    return content


def _damaged_part(rng: Random, content: bytes) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as old:
            parts = {name: old.read(name) for name in old.namelist()}
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError):
        return content
    name = rng.choice(sorted(parts))
    if rng.random() < 0.1:
        parts.pop(name)
    elif rng.random() < 0.4:
        parts[name] = _replaced(rng, parts[name])
    else:
        parts[name] = _damaged(rng, parts[name])
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name, part in parts.items():
            new.writestr(name, part)
    return made.getvalue()


def _replaced(rng: Random, part: bytes) -> bytes:
    """Another value in the XML: a cell far away, a type that is not there, a number that is none."""
    pairs = (
        *((b'r="1"', b'r="1048576"'), (b'r="2"', b'r="-5"'), (b'r="A1"', b'r="XFD1"'), (b'r="A2"', b'r="A99999999"')),
        *(
            (b't="inlineStr"', b't="s"'),
            (b't="n"', b't="d"'),
            (b't="n"', b't="e"'),
            (b"<v>", b"<v>nan"),
            (b"<v>", b"<v>-"),
        ),
        *(
            (b"<v>1", b"<v>999999999999999999"),
            (b"<t>", b"<t>&x;"),
            (b"<is>", b"<is/><is>"),
            (b'numFmtId="0"', b'numFmtId="14"'),
        ),
    )
    old, new = rng.choice(pairs)
    return part.replace(old, new, rng.choice((1, -1)))
