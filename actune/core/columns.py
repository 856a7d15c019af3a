"""Texts in Arrow files that are mapped into memory: opening a million of them reads none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from actune.core.arrow import as_numpy, integer_array
from actune.core.files import sync_folder
from actune.core.pool import Pool, as_labels
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


def open_columns(files: Sequence[Path], classes: Sequence[str]) -> Pool:
    """The rows of these files, one behind the other, as a pool whose texts are read when something asks for them."""
    import pyarrow

    table = pyarrow.concat_tables([_mapped(file) for file in files])
    ids, texts, labels = table.columns
    return Pool(Strings(texts), Strings(ids), tuple(classes), as_labels(as_numpy(labels)))


def _mapped(file: Path) -> pyarrow.Table:
    import pyarrow

    try:
        table = pyarrow.ipc.open_file(pyarrow.memory_map(str(file))).read_all()
    except (OSError, pyarrow.ArrowException) as error:
        raise RunFolderError(f"{str(file)!r} is missing or incomplete ({_first_line(error)}): restore it") from None
    if table.schema != _schema():
        raise RunFolderError(
            f"{str(file)!r} has the columns {', '.join(table.column_names)}, not those that actune writes: restore it"
        )
    return table


def _schema() -> pyarrow.Schema:
    import pyarrow

    text = pyarrow.large_string()
    return pyarrow.schema({"id": text, "text": text, "label": pyarrow.int64()})


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
