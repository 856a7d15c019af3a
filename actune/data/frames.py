"""Tables of what lies in memory already: frames of pandas, polars or Arrow, data sets of the hub, and lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from actune.core.checks import several
from actune.data.cells import Cells, Table, packed
from actune.data.exchange import records_in
from actune.data.limits import check_names
from actune.data.record_tables import table_of_records
from actune.errors import DataError

Data = Any  # the path of a file, or what `table_of` takes
IN_MEMORY = "the data"  # what messages call a table that has no file
KINDS = "a pandas Series or DataFrame, a datasets.Dataset, an Arrow table, a dict of columns, or a list of texts"


def is_in_memory(data: object) -> bool:
    """Whether this is data itself, and not the name of a file or of a data set."""
    return not isinstance(data, (str, Path))


def table_of(data: Data) -> Table:
    """The same table that a file with these columns would be; a column of texts alone is the column `text`."""
    if hasattr(data, "features") and hasattr(data, "with_format"):
        return _dataset_table(data)
    if _is_series(data):
        return _table({"text": _series(data)})
    if hasattr(data, "iloc"):
        return _table(_pandas_columns(data))
    if hasattr(data, "__arrow_c_stream__"):
        return _arrow_stream(data)
    if isinstance(data, Mapping):
        if splits := [name for name, part in data.items() if hasattr(part, "with_format")]:
            raise DataError(f"the data has the splits {', '.join(splits)}: give one of them, such as data['train']")
        return _table(
            {str(name): Cells([packed(list(several(cells, f"cells of {name!r}")))]) for name, cells in data.items()}
        )
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes, set, frozenset)):  # a set has no order
        return _list_table(list(data))
    raise DataError(f"cannot read texts from a {type(data).__name__}: give {KINDS}")


def arrow_table(table: Any, source: str = IN_MEMORY) -> Table:
    """An Arrow table, column by column."""
    names = check_names(map(str, table.column_names), source)
    cells = {name: Cells([column], f"{name!r} in {source}") for name, column in zip(names, table.columns, strict=True)}
    return Table(source, cells, range(1, table.num_rows + 1), unit="row")


def by_column(records: Sequence[Mapping[str, object]]) -> dict[str, list[object]]:
    """The cells of records by name, None where a record lacks one."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _table(cells: Mapping[str, Sequence[object]]) -> Table:
    lengths = {name: len(column) for name, column in cells.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise DataError(f"the columns have different lengths ({shown}): give all columns the same length")
    return Table(IN_MEMORY, dict(cells), range(1, max(lengths.values(), default=0) + 1), unit="row")


def _list_table(items: list[Any]) -> Table:
    if items and all(isinstance(item, Mapping) for item in items):
        found = records_in(items)
        return _table(by_column(items)) if found is None else table_of_records(found, IN_MEMORY)
    return _table({"text": Cells([packed(items)])})


def _arrow_stream(data: Any) -> Table:
    """Whatever gives its columns by Arrow's own protocol, such as a polars frame or an Arrow table."""
    import pyarrow

    found = pyarrow.table(data) if _has_columns(data) else pyarrow.table({"text": pyarrow.chunked_array(data)})
    return arrow_table(found)


def _has_columns(data: Any) -> bool:
    return hasattr(data, "column_names") or hasattr(data, "columns")


def _is_series(data: Any) -> bool:
    return hasattr(data, "iloc") and not hasattr(data, "columns")


def _pandas_columns(frame: Any) -> dict[str, Sequence[object]]:
    names = check_names(map(str, frame.columns), IN_MEMORY)
    return {name: _series(frame.iloc[:, place], name) for place, name in enumerate(names)}


def _series(series: Any, name: str = "text") -> Sequence[object]:
    """The cells of a pandas Series; every kind of missing value (NaN, NaT, NA) is nothing."""
    import pyarrow

    try:
        return Cells([pyarrow.array(series, from_pandas=True)], f"{name!r} in {IN_MEMORY}")
    except (pyarrow.ArrowException, UnicodeEncodeError):  # cells of several kinds, or half a character
        missing = series.isna()
        return Cells([[None if nothing else cell for cell, nothing in zip(series, missing, strict=True)]])


def _dataset_table(dataset: Any) -> Table:
    """A data set of the hub, with names for the numbers of its labels; -1 there means that a label is hidden."""
    table = arrow_table(dataset.with_format("arrow")[:])
    cells = dict(table.cells)
    for name, feature in dataset.features.items():
        if names := getattr(feature, "names", None):
            numbers = table.cells[name]
            cells[name] = [names[n] if isinstance(n, int) and n >= 0 else None for n in numbers]
    return Table(table.source, cells, table.numbers, table.unit)
