"""Small files that would grow beyond any machine end in one sentence, and ordinary ones are read as before."""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actune.core.class_names import class_names
from actune.core.pool import pool_of
from actune.data.folders import make_task_from_folder
from actune.data.limits import LONGEST, VARIABLE
from actune.data.tables import read_table
from actune.data.tasks import resolve
from actune.errors import DataError, SettingError, nearest

MEGABYTE = 2**20
ROW = b"text,label\n" + b"a" * 99 + b",b\n"


def refused(path: Path, words: str) -> None:
    with pytest.raises(DataError, match=words) as error:
        read_table(path)
    assert "\n" not in str(error.value) and len(str(error.value)) < 1000


def in_little_memory(work: Callable[[], None], limit: int = 3 * 2**30) -> None:
    """Runs a check in a process that cannot have more than so many bytes beyond what it has now."""
    child = os.fork()
    if not child:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + limit, used + limit))
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def zst(write: Callable[[pa.CompressedOutputStream], None]) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        write(stream)
    return bytes(sink.getvalue())


def many(stream: io.IOBase | pa.CompressedOutputStream, megabytes: int = 300) -> None:
    stream.write(b"text,label\n")
    for _ in range(megabytes):
        stream.write((b"a" * 127 + b"\n") * (MEGABYTE // 128))


@pytest.mark.parametrize("name", ["bomb.csv.zst", "bomb.jsonl.zst", "bomb.csv.gz"])
def test_a_compressed_file_may_not_grow_without_end(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".zst"):
        path.write_bytes(zst(many))
    else:
        with gzip.open(path, "wb", 1) as stream:
            many(stream)
    in_little_memory(
        lambda: refused(path, "bytes and becomes more than 268,435,456 when it is read: .*ACTUNE_MAX_SIZE")
    )


def test_the_limit_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "small.csv.gz"
    path.write_bytes(gzip.compress(ROW))
    monkeypatch.setenv(VARIABLE, "100")
    refused(path, "becomes more than 100 when")
    for word in ("113", "1 kB", "1MB", "2gb"):
        monkeypatch.setenv(VARIABLE, word)
        assert len(read_table(path)) == 1
    for word in ("much", "-1", "0", "1e9", "1XB"):
        monkeypatch.setenv(VARIABLE, word)
        with pytest.raises(SettingError, match="ACTUNE_MAX_SIZE must be a size such as 500MB"):
            read_table(path)


def test_a_large_plain_file_has_no_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "100")
    (tmp_path / "plain.csv").write_bytes(ROW)
    assert len(read_table(tmp_path / "plain.csv")) == 1


def repeated(rows: int, length: int) -> pa.Table:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * length]))
    return pa.table({"text": texts})


@pytest.mark.parametrize(
    "table",
    [
        repeated(100_000, 100_000),
        repeated(100_000, 100_000).cast(pa.schema({"text": pa.dictionary(pa.int32(), pa.large_string())})),
        pa.table({"text": ["a"], "votes": pa.array([[0] * 40_000_000], pa.list_(pa.int8()))}),
        pa.table({"text": pa.nulls(300_000_000, pa.int64())}),
        pa.table({"text": [["x" * 100_000] * 5_000]}),
    ],
    ids=["repeated", "large", "list", "nulls", "texts in a list"],
)
def test_a_parquet_bomb(tmp_path: Path, table: pa.Table) -> None:
    pq.write_table(table, tmp_path / "bomb.parquet", compression="zstd", store_schema="large" not in str(table.schema))
    assert (tmp_path / "bomb.parquet").stat().st_size < 2 * MEGABYTE
    in_little_memory(lambda: refused(tmp_path / "bomb.parquet", "becomes more than 268,435,456 when it is read"))


def test_parquet_with_texts_that_repeat_is_read(tmp_path: Path) -> None:
    table = pa.table({"text": ["a" * 5000, "b", None] * 20_000, "tags": [["x", "y"], None, []] * 20_000})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=7_000)
    assert read_table(tmp_path / "t.parquet").cells == {name: table[name].to_pylist() for name in ("text", "tags")}


SHARED = (
    '<Override PartName="/xl/sharedStrings.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml" />'
)


def workbook(path: Path, sheet: str, strings: str = "") -> Path:
    """A workbook of a real program with another sheet in it."""
    book = openpyxl.Workbook()
    book.active.append(["text"])
    book.save(made := io.BytesIO())
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                content = sheet.encode()
            if name == "[Content_Types].xml" and strings:
                content = content.replace(b"</Types>", SHARED.encode() + b"</Types>")
            new.writestr(name, content)
        if strings:
            new.writestr("xl/sharedStrings.xml", strings)
    return path


MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def sheet_of(rows: str) -> str:
    return f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"


def inline(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def test_a_workbook_of_gigabytes(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", sheet_of(f"<row r='1'>{inline('A1', 'text')}</row>" + " " * (300 * MEGABYTE)))
    in_little_memory(lambda: refused(path, "becomes more than 268,435,456 when it is read"))


def test_a_text_in_every_cell_of_a_sheet(tmp_path: Path) -> None:
    rows = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 2000))
    strings = f'<sst {MAIN} count="1" uniqueCount="1"><si><t>{"x" * MEGABYTE}</t></si></sst>'
    path = workbook(tmp_path / "t.xlsx", sheet_of(rows), strings)
    in_little_memory(lambda: refused(path, "becomes more than 268,435,456 when it is read"))


def test_a_sheet_with_a_cell_in_the_last_row_and_column(tmp_path: Path) -> None:
    rows = f'<row r="1">{inline("A1", "text")}</row><row r="1048576">{inline("A1048576", "last")}</row>'
    assert read_table(workbook(tmp_path / "rows.xlsx", sheet_of(rows))).cells == {"text": ["last"]}
    rows = f'<row r="1">{inline("A1", "text")}</row><row r="99999999999">{inline("A99999999999", "never")}</row>'
    refused(workbook(tmp_path / "beyond.xlsx", sheet_of(rows)), "has no rows")
    rows = f'<row r="1">{inline("A1", "text")}{inline("XFD1", "last")}</row>'
    refused(workbook(tmp_path / "columns.xlsx", sheet_of(rows)), "has 16,384 columns, and 10,000 can be read")
    rows = f'<row r="1">{inline("A1", "text")}</row>' + f"<row>{inline('NTP9', 'x')}</row>" * 12_000
    refused(workbook(tmp_path / "sparse.xlsx", sheet_of(rows)), "cells, but the header has 1")


def test_entities_that_multiply(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    document = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "ha">{entities}]>'
    path = workbook(tmp_path / "t.xlsx", document + sheet_of(f"<row>{inline('A1', '&e9;')}</row>"))
    in_little_memory(lambda: refused(path, "cannot read .* as an Excel file"))


def test_many_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",".join(map(str, range(1_000_000))) + "\n" + "," * 999_999 + "\n")
    refused(path, "has 1,000,000 columns, and 10,000 can be read: keep only those that you need")
    path.write_text(",".join(f"c{n}" for n in range(9_000)) + "\n" + ("," * 8_999 + "\n") * 30)
    assert len(read_table(path).cells) == 9_000


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_records_that_share_no_key(tmp_path: Path, suffix: str) -> None:
    def write(count: int, keys: int) -> Path:
        lines = [json.dumps({f"k{n % keys}": 1}) for n in range(count)]
        path = tmp_path / f"t{suffix}"
        path.write_text("\n".join(lines) if suffix == ".jsonl" else f"[{','.join(lines)}]")
        return path

    in_little_memory(lambda: refused(write(100_000, 100_000), "columns, and 10,000 can be read"))
    in_little_memory(
        lambda: refused(write(120_000, 9_000), "cells, of which only .* are filled: keep only the columns")
    )


def test_one_quote_that_swallows_a_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with path.open("wb") as handle:
        handle.write(b'text,label\n"')
        many(handle, 80)
    in_little_memory(lambda: refused(path, r"line 2 has a cell of more than 67,108,864 characters"))
    path.write_bytes(b"text\n" + b"," * (LONGEST + 2 * MEGABYTE))
    in_little_memory(lambda: refused(path, r"line 2 has more than 67,108,864 characters: check how its lines end"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.jsonl", '{"text":' + "[" * 5000 + "]" * 5000 + "}", "is not JSON|inside of each other"),
        ("t.jsonl", '{"text":' + "[" * 500 + "]" * 500 + "}", "line 1 has more than 100 lists or objects inside"),
        ("t.json", '[{"text":' + '{"a":' * 300 + "1" + "}" * 300 + "}]", "has more than 100 lists or objects inside"),
        ("t.json", "[" * 100_000, "is not JSON|inside of each other"),
        ("t.jsonl", '{"text": ' + "9" * 1_000_000 + "}", r"is not JSON \(Exceeds the limit .*digits"),
    ],
)
def test_json_that_python_gives_up_on(tmp_path: Path, name: str, content: str, words: str) -> None:
    (tmp_path / name).write_text(content)
    refused(tmp_path / name, words)


def test_a_file_of_holes_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "t.csv").open("wb") as handle:
        handle.write(b"text,label\n")
        handle.truncate(2**42)
    refused(tmp_path / "t.csv", "NUL|utf-16")


@pytest.mark.parametrize("name", ["train.csv", "train.parquet", "train.xlsx", "train.jsonl.zst", "labels.json"])
def test_a_pipe_in_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "train.csv").write_text("text,label\none,a\ntwo,b\n")
    (tmp_path / name).unlink(missing_ok=True)
    if name not in ("train.csv", "labels.json"):
        (tmp_path / "train.csv").unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match=r"is a pipe or a device, not a file|it is not a regular file"):
        make_task_from_folder(tmp_path)


def test_names_of_classes_in_a_pipe_or_in_brackets(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match=r"cannot read the class names in .*pipe"):
        class_names(f"@{tmp_path / 'pipe'}")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(DataError, match="is not a list of class names"):
        class_names(f"@{tmp_path / 'deep.json'}")


def test_a_column_of_ids_is_not_taken_for_classes(tmp_path: Path) -> None:
    rows = "".join(f"text {row},id-{row}\n" for row in range(10_001))
    (tmp_path / "t.csv").write_text(f"text,label\n{rows}")
    with pytest.raises(DataError, match="there are 10,001 classes, and a classifier can have at most 10,000"):
        resolve(str(tmp_path / "t.csv"))
    with pytest.raises(DataError, match="there are 10,001 classes"):
        pool_of(["a"], classes=[f"c{number}" for number in range(10_001)])


def test_hints_on_endless_names_are_short() -> None:
    assert len(nearest("a" * 10**6, [("a" * 10**6) + str(n) for n in range(1000)])) < 20_000
