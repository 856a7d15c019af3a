"""Cells of Parquet files and of Arrow tables that cannot be read: a sentence with the column and the row."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actune.data.footers import Compact
from actune.data.formats import read_pool
from actune.data.tables import read_table
from actune.errors import DataError

FAR = pa.array([0, 0, 2**31 - 1], pa.date32())
BROKEN = pa.Array.from_buffers(
    pa.string(), 3, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0\4\0\0\0"), pa.py_buffer(b"ab\xff\xfe")]
)
TEXTS = ["one", "two", "three"]


def sentence(data: Any, **columns: str) -> str:
    with pytest.raises(DataError) as error:
        read_pool(data, **columns)  # type: ignore[arg-type]
    return str(error.value)


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (FAR, "date32[day] that cannot be read in row 3 (days=2147483647"),
        (pa.array([0, 0, 2**62], pa.timestamp("us")), "that cannot be read in row 3 (date value out of range"),
        (
            pa.array([0, 0, 1], pa.timestamp("ms", "Nowhere/Land")),
            "type timestamp[ms, tz=Nowhere/Land] that cannot be read in row 1",
        ),
        (BROKEN, "string that cannot be read in row 3 (Invalid UTF8"),
        (BROKEN.dictionary_encode(), "Invalid UTF8"),
        (pa.array([[0], [0], [2**31 - 1]], pa.list_(pa.date32())), "that cannot be read in row 3 (days"),
    ],
    ids=["date", "time", "zone", "text", "dictionary", "list"],
)
def test_a_cell_that_cannot_be_read(tmp_path: Path, column: pa.Array, reason: str) -> None:
    table = pa.table({"text": TEXTS, "odd": column})
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    for data in (path, table):
        place = "the data" if data is table else str(path)
        found = sentence(data, label="odd")
        assert found.startswith(f"column 'odd' in {place} has a value of type ") and found.endswith("): correct it")
        assert reason in found, found
        assert list(read_pool(data).texts) == TEXTS  # who does not use the column does not mind


def test_texts_that_are_no_texts(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": BROKEN}), tmp_path / "t.parquet")
    assert "column 'text' in" in (found := sentence(tmp_path / "t.parquet")) and "in row 3 (" in found


def test_numbers_of_values_that_are_not_there() -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 0, 7]), pa.array(["a"]), safe=False)
    assert "row 3 (" in sentence(pa.table({"text": texts}))


def test_other_types_are_read_as_before(tmp_path: Path) -> None:
    table = pa.table(
        {
            "text": pa.array(["a", "b", None], pa.string_view()),
            "large": pa.array(["a", None, "c"], pa.large_string()),
            "coded": pa.array(["x", "y", "x"]).dictionary_encode(),
            "lists": pa.array([["p", "q"], [], None]),
            "objects": pa.array([{"a": 1}, {"a": None}, None]),
            "maps": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int64())),
            "dotted.name": [1, 2, 3],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    assert read_table(tmp_path / "t.parquet").cells == {name: table[name].to_pylist() for name in table.column_names}
    assert list(read_pool(tmp_path / "t.parquet").texts) == ["a", "b"]


def test_columns_that_are_none_or_the_same(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array(TEXTS)] * 2, ["text", "text"]), tmp_path / "t.parquet")
    assert "more than one column 'text'" in sentence(tmp_path / "t.parquet")
    pq.write_table(pa.table({}), tmp_path / "t.parquet")
    assert "has no columns: it needs one with texts" in sentence(tmp_path / "t.parquet")


def nested(depth: int) -> bytes:
    kind: pa.DataType = pa.int8()
    for _ in range(depth):
        kind = pa.struct({"a": kind})
    sink = io.BytesIO()
    pq.write_table(pa.table({"text": pa.nulls(1, kind)}), sink, store_schema=False)
    return sink.getvalue()


def test_types_inside_of_each_other(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(nested(150))
    assert "more than 100 types inside of each other" in sentence(tmp_path / "t.parquet")


def test_a_footer_is_read_as_arrow_reads_it(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": TEXTS, "n": [[1, 2], [], None]}), path := tmp_path / "t.parquet", row_group_size=2)
    content = path.read_bytes()
    footer = Compact(content[-8 - int.from_bytes(content[-8:-4], "little") : -8]).struct()
    metadata = pq.ParquetFile(path).metadata
    assert (footer[3], len(footer[4])) == (metadata.num_rows, metadata.num_row_groups) == (3, 2)
    found = [chunk[3] for group in footer[4] for chunk in group[1]]
    chunks = [metadata.row_group(group).column(column) for group in range(2) for column in range(2)]
    assert [each[5] for each in found] == [chunk.num_values for chunk in chunks]
    assert [each[6] for each in found] == [chunk.total_uncompressed_size for chunk in chunks]
