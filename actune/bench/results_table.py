"""The tidy table of results, one line per cell and round, as CSV and as Parquet."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.bench.parquet import read_limited
from actune.core.checks import told
from actune.core.places import open_regular
from actune.data.escaping import escape, unescape
from actune.errors import RunFolderError

if TYPE_CHECKING:
    import pandas as pd

TABLE, PARQUET = "results.csv", "results.parquet"
PLACE = ("task", "method", "model", "learner", "seed", "variant")
SECONDS = ("fit", "evaluate", "select")
TEXTS = ("cell", "task", "method", "model", "learner", "variant", "machine", "versions", "commit")
NUMBERS = ("seed", "round", "labels", "pseudo_labels")
RESULT_COLUMNS = (
    *("cell", *PLACE, "round", "labels", "accuracy", "macro_f1", "pseudo_labels", "pseudo_label_accuracy"),
    *(f"seconds_{phase}" for phase in SECONDS),
    *("machine", "versions", "commit"),
)
LARGEST = 2**53  # of a number in the table, so that sums and pictures of it work


def table_in(folder: Path) -> Path | None:
    """The table of a folder, as CSV or as Parquet."""
    return next((folder / name for name in (TABLE, PARQUET) if (folder / name).is_file()), None)


def read_results(file: Path) -> pd.DataFrame:
    """The table in a file of somebody else, or one sentence that says what is wrong with it."""
    import pyarrow as pa

    try:
        table = _read_csv(file) if file.name == TABLE else read_limited(file).to_pandas()
        if missing := [name for name in RESULT_COLUMNS if name not in table]:
            raise RunFolderError(f"{str(file)!r} is not a results table: it has no column {missing[0]!r}")
        return _checked(typed(table[list(RESULT_COLUMNS)]), file)
    # pandas and pyarrow raise one of these, or a kind of it, for whatever a file may hold
    except (ValueError, TypeError, OverflowError, RecursionError, OSError, pa.ArrowException) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise RunFolderError(f"{str(file)!r} is damaged or not a results table: {told(why)}") from error


def as_csv(table: pd.DataFrame) -> bytes:
    """The table as CSV, with words escaped that a spreadsheet would run as formulas."""
    import pandas as pd

    columns, rows = escape([*TEXTS], table[[*TEXTS]].to_numpy().tolist())
    words = pd.DataFrame(rows, columns=columns, index=table.index)
    marks = {name: words[name] for name in columns}
    content: str = table.assign(**marks).to_csv(index=False, lineterminator="\n")
    return content.encode()


def places(table: pd.DataFrame) -> dict[str, list[Any]]:
    """Where each cell of a table stands in its grid."""
    columns = [table[name].tolist() for name in ("cell", *PLACE)]
    return {cell: place for cell, *place in zip(*columns, strict=True)}


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """The table with every column in its own type."""
    texts = {name: table[name].fillna("").astype(str) for name in TEXTS}
    numbers = {name: table[name].astype("int64") for name in NUMBERS}
    others: Iterable[str] = [name for name in RESULT_COLUMNS if name not in texts and name not in numbers]
    return table.assign(**texts, **numbers, **{name: table[name].astype("float64") for name in others})


def _read_csv(file: Path) -> pd.DataFrame:
    import pandas as pd

    with open_regular(file) as handle:
        table = pd.read_csv(handle, dtype=str, keep_default_na=False)
    cells: dict[str, list[object]] = {str(name): table[name].tolist() for name in table}
    if (row := unescape(cells)) is not None:
        raise ValueError(f"line {row + 2:,} has a broken mark of its escaped cells")
    plain = pd.DataFrame(cells)
    return plain.mask(plain == "")


def _checked(table: pd.DataFrame, file: Path) -> pd.DataFrame:
    """No infinite or absurd number; a number may be missing."""
    for name in RESULT_COLUMNS:
        if name not in TEXTS and (table[name].abs() > LARGEST).any():
            worst = table[name].abs().max()
            raise RunFolderError(f"{str(file)!r} is damaged: its column {name!r} has the number {worst:g}")
    return table
