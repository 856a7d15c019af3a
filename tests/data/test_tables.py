"""Each format gives the same table, and each broken file one sentence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from actune.data.tables import read_table
from actune.errors import DataError

RECORDS = [{"text": "one", "label": "a"}, {"text": 'two, "2"\nlines', "label": "b"}, {"text": "dré", "label": "a"}]
CELLS = {name: [record[name] for record in RECORDS] for name in ("text", "label")}
LINES = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in RECORDS)
COMMAS = 'text,label\none,a\n"two, ""2""\nlines",b\ndré,a\n'


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def zst(content: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content.encode())
    return bytes(sink.getvalue())


def sentence(path: Path) -> str:
    with pytest.raises(DataError) as error:
        read_table(path)
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("name", "content", "numbers"),
    [
        ("t.csv", COMMAS, [2, 3, 5]),
        ("t.CSV", "\ufeff" + COMMAS.replace("\n", "\r\n"), [2, 3, 5]),
        ("t.csv.gz", gzip.compress(COMMAS.encode(), mtime=0), [2, 3, 5]),
        ("t.tsv", 'text\tlabel\none\ta\n\n"two, ""2""\nlines"\tb\ndré\ta\n', [2, 4, 6]),
        ("t.jsonl", "\n" + LINES, [2, 3, 4]),
        ("t.jsonl.gz", gzip.compress(LINES.encode(), mtime=0), [1, 2, 3]),
        ("t.jsonl.zst", zst(LINES), [1, 2, 3]),
        ("t.json", json.dumps(RECORDS), [1, 2, 3]),
    ],
)
def test_formats_agree(tmp_path: Path, name: str, content: str | bytes, numbers: list[int]) -> None:
    table = read_table(write(tmp_path / name, content))
    cells = {column: [str(cell).replace("\r\n", "\n") for cell in cells] for column, cells in table.cells.items()}
    assert cells == CELLS
    assert list(table.numbers) == numbers


def test_parquet(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table(CELLS), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.cells == CELLS
    assert table.where([0, 2]) == "rows 1, 3"


def test_json_lines_may_lack_keys_and_hold_other_line_ends(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.jsonl", '{"text": "a\u2028b"}\r\n{"text": "c", "label": 3}\n'))
    assert table.cells == {"text": ["a\u2028b", "c"], "label": [None, 3]}


def test_long_cells_are_read(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "text\n" + "x" * 1_000_000 + "\n"))
    assert len(str(table.cells["text"][0])) == 1_000_000


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "\ufeff\n", "is empty"),
        ("t.csv", "text,label\n", "has no rows"),
        ("t.json", "[]", "has no rows"),
        ("t.txt", "text", "use one of .csv, .tsv, .jsonl, .json (also with .gz or .zst), .xlsx or .parquet"),
        ("t.parquet.gz", "", "has an unknown file type"),
        ("t.csv", "text,label\na,1\nb,1,2\n", "line 3 has 3 cells instead of 2"),
        ("t.csv", 'text,label\n"a\nb",1\nc\n', "line 4 has 1 cell instead of 2"),
        ("t.csv", 'text,label\na,1\n"b,1\nc,1\n', "line 3 has a broken quote"),
        ("t.csv", 'text,label\n"b" c,1\n', "line 2 has a broken quote"),
        ("t.csv", "text,text\na,b\n", "more than one column 'text'"),
        ("t.csv", "text,actune_escaped\na,what\n", "line 2 has a damaged marker"),
        ("t.csv", "text,actune_escaped\na,5\n", "line 2 has a damaged marker"),
        ("t.csv", "text,actune_escaped\na," + "[" * 100_000 + "\n", "line 2 has a damaged marker"),
        ("t.csv", "text,actune_escaped\na,[[1]]\n", "line 2 has a damaged marker"),
        ("t.csv", "text,actune_escaped\na,[{}]\n", "line 2 has a damaged marker"),
        ("t.csv", "text\na\nb\0c\n", "has a NUL character in line 3"),
        (
            "t.csv",
            "text\na\ncaf\xe9 cr\xe8me\n".encode("cp1252"),
            "is not UTF-8; it seems to be cp1252 (the first such line is 3: café crème): add --encoding cp1252",
        ),
        ("t.csv", b"text\n\x81\n", "it seems to be latin-1 (the first such line is 2"),
        ("t.csv", "text\nä\nö\n".encode() + b"b\xff\n", "is UTF-8 except for line 4 (b\ufffd): correct this line"),
        ("t.csv", "text\nabc\n".encode("utf-16-le"), "seems to be utf-16-le: add --encoding utf-16-le"),
        ("t.csv", "text\nn\xe9\n".encode("utf-16-be"), "seems to be utf-16-be"),
        ("t.xlsx", "plain", "as an Excel file"),
        ("t.jsonl", '{"text": "a"}\n{"text": \n', "line 2 is not JSON"),
        ("t.jsonl", '{"text": "a"}\n\n["b"]\n', "line 3 is not a JSON object"),
        ("t.jsonl", "[" * 100_000, "line 1 is not JSON"),
        ("t.json", "{", "is not JSON"),
        ("t.json", '{"text": "a"}', "is not a list of objects"),
        ("t.jsonl.gz", "plain", "cannot read"),
        ("t.jsonl.gz", gzip.compress(LINES.encode(), mtime=0)[:-9], "cannot read"),
        ("t.jsonl.zst", zst(LINES)[:-3], "Truncated compressed stream"),
        ("t.parquet", "plain", "as Parquet"),
    ],
)
def test_broken_files(tmp_path: Path, name: str, content: str | bytes, expected: str) -> None:
    path = write(tmp_path / name, content)
    message = sentence(path)
    assert expected in message
    assert str(path) in message


def test_missing_files_and_folders(tmp_path: Path) -> None:
    assert "there is no file" in sentence(tmp_path / "t.csv")
    assert "is a folder" in sentence(tmp_path)


def test_a_missing_column_names_the_nearest(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "Text,label\na,1\n"))
    with pytest.raises(DataError, match=r"no column 'text': set it with --text \(did you mean 'Text'.*Text, label"):
        table.column("text", "--text")


@pytest.mark.parametrize("sign", list(";\t|"))
def test_other_signs_than_commas(tmp_path: Path, sign: str) -> None:
    lines = [["text", "label"], ["a, b", "1"], [f'"c{sign}d"', "2"]]
    path = write(tmp_path / "t.csv", "\ufeff" + "".join(f"{sign.join(line)}\r\n" for line in lines))
    assert read_table(path).cells == {"text": ["a, b", f"c{sign}d"], "label": ["1", "2"]}


def test_many_lines_are_counted(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "text\n" + "a\n" * 20))
    assert table.where([3]) == "line 5"
    assert table.where(range(12)) == "lines 2, 3, 4, 5, 6 and 7 more"


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        ("Nr;Frage, genau;x, y\n1;a, b;c\n2;d;e\n", [["1", "2"], ["a, b", "d"], ["c", "e"]]),
        ('text,"a;b;c"\none,1;2\n', [["one"], ["1;2"]]),
        ("text;label\na;x;;\nb;y;\n", [["a", "b"], ["x", "y"]]),
        ("text\tlabel, or none\na, b\tx\nc\td\n", [["a, b", "c"], ["x", "d"]]),
        ("text\none; two\nthree\n", [["one; two", "three"]]),
    ],
)
def test_the_separator_is_the_one_that_fits(tmp_path: Path, content: str, cells: list[list[str]]) -> None:
    assert list(read_table(write(tmp_path / "t.csv", content)).cells.values()) == cells


def test_a_quote_in_the_last_of_many_lines_is_found_where_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "text,label\n" + 'a,"x\ny"\n' * 100 + 'b,"x\n')
    assert "line 202 has a broken quote" in sentence(path)
