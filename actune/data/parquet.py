"""Parquet files into tables, column by column and in batches, so that what a file becomes is counted as it comes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from actune.core.strings import BLOCK
from actune.data.cells import Cells, Table
from actune.data.footers import LISTED, claimed_size
from actune.data.limits import Growth, check_names
from actune.errors import DataError

BATCH = 2**25  # bytes that are read at a time, as far as the file says how many there are
TEXTS = {"STRING", "JSON", "ENUM", "BSON", "NONE"}  # the logical types of bytes that are a text or can be anything


def read_parquet(path: Path) -> Table:
    """The table in a Parquet file."""
    import pyarrow

    try:
        with path.open("rb") as handle:
            return _read(path, handle)
    except (OSError, pyarrow.ArrowException, ValueError, NotImplementedError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataError(f"cannot read {path} as Parquet ({reason}): write the file again") from None


def _read(path: Path, handle: Any) -> Table:
    import pyarrow.parquet

    claimed = claimed_size(path, handle)
    Growth(path).add(claimed)
    handle.seek(0)
    file = pyarrow.parquet.ParquetFile(handle)
    names = check_names(file.schema_arrow.names, str(path))
    if not names:
        raise DataError(f"{path} has no columns: it needs one with texts")
    rows, growth = file.metadata.num_rows, Growth(path)
    texts = pyarrow.parquet.ParquetFile(handle, metadata=file.metadata, read_dictionary=_texts(file.schema))
    cells: dict[str, Cells] = {}
    for name in names:
        batch = BATCH // max(1, claimed // max(1, rows), _longest(texts, name))
        cells[name] = Cells(list(_blocks(file, name, max(1, min(BLOCK, batch)), growth)), f"{name!r} in {path}")
        if len(cells[name]) != rows:
            raise DataError(f"column {name!r} in {path} does not have {rows:,} rows: write the file again")
    return Table(str(path), cells, range(1, rows + 1), unit="row")


def _texts(schema: Any) -> list[str]:
    """The columns of texts, to be read as dictionaries."""
    columns = [schema.column(number) for number in range(len(schema))]
    return [each.path for each in columns if each.physical_type == "BYTE_ARRAY" and each.logical_type.type in TEXTS]


def _longest(texts: Any, name: str) -> int:
    """The length of the longest text that is stored once for many rows: a batch of these rows must fit into memory."""
    found = 0
    for group in range(texts.metadata.num_row_groups):
        for batch in islice(texts.iter_batches(1, row_groups=[group], columns=[name], use_threads=False), 1):
            found = max(found, *map(_longest_in, batch.columns))
    return found


def _longest_in(block: Any) -> int:
    import pyarrow.compute

    if pyarrow.types.is_dictionary(block.type):
        return int(pyarrow.compute.max(pyarrow.compute.binary_length(block.dictionary)).as_py() or 0)
    return max(map(_longest_in, _inner(block)), default=0)


def _blocks(file: Any, name: str, rows: int, growth: Growth) -> Iterator[Any]:
    """The cells of one column, with each text written out."""
    import pyarrow

    for batch in file.iter_batches(rows, columns=[name], use_threads=False):
        block = batch.column(batch.schema.get_field_index(name))
        growth.add(_size(block))
        yield block.dictionary_decode() if pyarrow.types.is_dictionary(block.type) else block


def _size(block: Any) -> int:
    """The bytes of an array where each text counts as often as it occurs."""
    import pyarrow.compute

    if pyarrow.types.is_dictionary(block.type):
        if not len(block.dictionary) or not _has_length(block.dictionary.type):
            return int(block.nbytes)
        lengths = pyarrow.compute.binary_length(block.dictionary)
        return int(pyarrow.compute.sum(lengths.take(block.indices)).as_py() or 0) + int(block.indices.nbytes)
    if inner := _inner(block):
        return LISTED * len(block) + sum(map(_size, inner))
    return int(block.nbytes)


def _inner(block: Any) -> list[Any]:
    """The arrays inside of an array of lists or objects."""
    import pyarrow

    if pyarrow.types.is_struct(block.type):
        return list(block.flatten())
    if pyarrow.types.is_map(block.type):
        return [block.keys, block.items]
    return [block.flatten()] if pyarrow.types.is_nested(block.type) and hasattr(block, "flatten") else []


def _has_length(kind: Any) -> bool:
    import pyarrow

    return bool(
        pyarrow.types.is_string(kind)
        or pyarrow.types.is_large_string(kind)
        or pyarrow.types.is_binary(kind)
        or pyarrow.types.is_large_binary(kind)
    )
