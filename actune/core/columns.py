"""Texts in Arrow files that are mapped into memory: opening a million of them reads none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from actune.core.arrow import as_numpy, integer_array
from actune.core.files import sync_folder
from actune.core.places import is_regular
from actune.core.pool import UNKNOWN, Pool, as_labels
from actune.core.strings import BLOCK, Strings
from actune.errors import RunFolderError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow


def write_columns(file: Path, ids: Strings, texts: Strings, labels: npt.NDArray[np.int64]) -> None:
    """Writes rows as an uncompressed Arrow file; on return it is safe on the disk. More rows go into another file."""
    import pyarrow

    with file.open("xb") as stream:  # a link there would lead elsewhere
        with pyarrow.ipc.new_file(stream, _schema()) as writer:
            for start in range(0, len(texts), BLOCK):
                rows = slice(start, start + BLOCK)
                cells = [ids[rows].column, texts[rows].column, integer_array(labels[rows])]
                writer.write_table(pyarrow.table(cells, _schema()), BLOCK)
        stream.flush()
        os.fsync(stream.fileno())
    sync_folder(file.parent)


def open_columns(files: Sequence[Path], classes: Sequence[str], rows: Sequence[int] | None = None) -> Pool:
    """The rows of these files, one behind the other, as a pool whose texts are read when something asks for them.

    `rows` says how many each file must have.
    """
    import pyarrow

    tables = [_mapped(file) for file in files]
    for file, table, wanted in zip(files, tables, rows or map(len, tables), strict=True):
        if len(table) != wanted:
            raise _wrong(file, f"has {len(table):,} rows in the place of {wanted:,}")
        _check_cells(file, table, len(classes) or None)
    ids, texts, labels = pyarrow.concat_tables(tables).columns
    return Pool(Strings(texts), Strings(ids), tuple(classes), as_labels(as_numpy(labels)))


def _mapped(file: Path) -> pyarrow.Table:
    import pyarrow

    if file.is_symlink() or (file.exists() and not is_regular(file)):
        raise _wrong(file, "is a link or no regular file")
    try:
        table = pyarrow.ipc.open_file(pyarrow.memory_map(str(file))).read_all()
    except (OSError, ValueError, MemoryError, pyarrow.ArrowException) as error:
        raise _wrong(file, f"is missing or incomplete ({_first_line(error)})") from None
    if table.schema != _schema():
        raise _wrong(file, f"has the columns {', '.join(table.column_names)}, not those that actune writes")
    return table


def _check_cells(file: Path, table: pyarrow.Table, classes: int | None) -> None:
    """Arrow itself trusts its files, and would read anywhere in memory; no text is read here."""
    import numpy as np

    *strings, labels = table.columns
    for chunk in (chunk for column in strings for chunk in column.chunks if len(chunk)):
        _, offsets, data = chunk.buffers()
        size = 0 if data is None else data.size
        ends = np.frombuffer(offsets, np.int64, min(offsets.size // 8, chunk.offset + len(chunk) + 1))[chunk.offset :]
        if len(ends) <= len(chunk) or ends[0] < 0 or ends[-1] > size or (np.diff(ends) < 0).any():
            raise _wrong(file, "is damaged")
    if any(column.null_count for column in table.columns):
        raise _wrong(file, "is damaged")
    numbers = as_numpy(labels)
    if len(numbers) and (numbers.min() < UNKNOWN or (classes is not None and numbers.max() >= classes)):
        raise _wrong(file, "has labels that are no classes of this run")


def _wrong(file: Path, why: str) -> RunFolderError:
    return RunFolderError(f"{str(file)!r} {why}: restore it from a backup")


def _schema() -> pyarrow.Schema:
    import pyarrow

    text = pyarrow.large_string()
    return pyarrow.schema({"id": text, "text": text, "label": pyarrow.int64()})


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
