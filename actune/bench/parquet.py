"""Parquet files of results, read under a limit: a small file can hold a table that no memory takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.core.places import is_regular
from actune.errors import RunFolderError

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES = 2_000_000_000  # of a table in memory
BATCH = 1_000  # rows at a time: the limit must be noticed before the memory is full


def read_limited(file: Path, cell: str | None = None) -> pa.Table:
    """The table in a file, or only the rows of one cell. pyarrow's errors are the caller's."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    if not is_regular(file):
        raise RunFolderError(f"cannot read {str(file)!r}: it is not a regular file")
    rows: Any = None if cell is None else ds.field("cell") == cell
    scanner = ds.dataset(file, format="parquet").scanner(
        filter=rows, batch_size=BATCH, batch_readahead=1, fragment_readahead=1, use_threads=False
    )
    batches, size = [], 0
    for batch in scanner.to_batches():
        size += batch.nbytes
        if size > MOST_BYTES:
            raise RunFolderError(
                f"{str(file)!r} holds more than {MOST_BYTES // 1_000_000_000} GB: it is damaged, or not a results table"
            )
        batches.append(batch)
    return pa.Table.from_batches(batches, schema=scanner.projected_schema)
