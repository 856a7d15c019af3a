"""Pools of texts from files and from data in memory, with every bad cell named by its line."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from actune.core.checks import told
from actune.core.matching import matches
from actune.core.pool import UNKNOWN, Coded, Pool, as_labels, pool_of
from actune.core.strings import Strings, is_text
from actune.data.cells import Cells, Table, blocks_of
from actune.data.frames import Data
from actune.data.records import PSEUDO
from actune.data.tables import read_table
from actune.errors import DataError, nearest

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "EXPORT_COLUMNS",
    "SKIPPED",
    "SKIPPED_COLUMN",
    "Table",
    "as_pool",
    "columns_in",
    "names_in",
    "pool_from",
    "read_more",
    "read_pool",
    "read_table",
    "read_texts",
    "rows_without_text",
    "with_texts",
]

COLUMNS = ("text", "label", "id")
EXPORT_COLUMNS = ("id", "text", "label", "source", "round", "confidence", "by")  # of our own exports
EXPORTED = {"source", "round", "confidence"}  # those by which an export is known
SKIPPED_COLUMN, SKIPPED = "skipped", "yes"


def read_pool(
    data: Data,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    classes: Sequence[str] | None = None,
    require_labels: bool = False,
    encoding: str | None = None,
) -> Pool:
    """A pool from a file, or from a frame, a data set or a list in memory.

    A column that is not named is `text`, `label` or `id`; the last two may be absent. Rows without a text are left
    out, which the pool's notes tell. `encoding` is that of a file that is not UTF-8.
    """
    return pool_from(read_table(data, encoding), text, label, id, classes, require_labels)


def as_pool(data: Data, reading: Mapping[str, Any]) -> Pool:
    """A pool itself, or what `read_pool` makes of the data with the columns and classes that `reading` names."""
    words = {name: reading[name] for name in (*COLUMNS, "classes", "encoding") if name in reading}
    return data if isinstance(data, Pool) else read_pool(data, **words)


def pool_from(
    table: Table,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    classes: Sequence[str] | None = None,
    require_labels: bool = False,
) -> Pool:
    """A pool from the columns of a table; an empty label is an unknown one, and a row without a text is left out."""
    for word in (text, label, id):
        if word is not None and not isinstance(word, str):
            raise DataError(f"the name of a column must be a string, not {told(word)}")
    table = with_texts(table, text)
    texts = _texts(table.cells[text or "text"])
    labels = _labels(table, label or "label", table.column(label, "--label") if label else table.cells.get("label"))
    pseudo = [] if label else pseudo_rows(table)
    if pseudo:
        labels = _without(labels, pseudo)
    notes = [*table.notes]
    if pseudo:
        rows = "1 row is a pseudo-label" if len(pseudo) == 1 else f"{len(pseudo):,} rows are pseudo-labels"
        notes.append(f"{rows} from an export and not used as {'a label' if len(pseudo) == 1 else 'labels'}")
    if classes is not None:
        labels, matched = _matched(table, labels, classes)
        notes += matched
    if require_labels and len(bare := (labels.numbers == UNKNOWN).nonzero()[0]):
        raise DataError(f"{table.source} has no label in {table.where(bare.tolist())}: label or remove these rows")
    ids = _ids(table, id or "id", table.column(id, "--id") if id else table.cells.get("id"))
    try:
        return pool_of(texts, labels, ids, classes, [*notes, *repeats(texts)])
    except DataError as error:
        raise DataError(f"{table.source}: {error}") from None


def with_texts(table: Table, text: str | None = None) -> Table:
    """The table without the rows that have no text; a note counts them.

    The other rows keep the numbers that they have in the file as ids, where there is no column of ids.
    """
    import numpy as np

    if not (empty := rows_without_text(table, text)):
        return table
    kept = np.delete(np.arange(len(table)), empty)
    if not len(kept):
        name = text or "text"
        raise DataError(f"column {name!r} in {table.source} is empty: set the text column with --text")
    rows = "1 row without a text was" if len(empty) == 1 else f"{len(empty):,} rows without a text were"
    left = table.only(kept)
    ids = {} if "id" in table.cells else {"id": list(map(str, kept.tolist()))}
    return replace(left, cells={**left.cells, **ids}, notes=(*table.notes, f"{rows} skipped: {table.where(empty)}"))


def rows_without_text(table: Table, text: str | None = None) -> list[int]:
    """The rows whose cell in the column of texts is empty; a cell that is no text is an error."""
    name = text or "text"
    cells = table.column(name, "--text")
    empty: list[int] = []
    other: list[int] = []
    bad: list[int] = []
    for row, cell in enumerate(cells):
        if _missing(cell):
            empty.append(row)
        elif not isinstance(cell, str):
            other.append(row)
        elif not _writable(cell):
            bad.append(row)
    if other:
        first = f"{table.where(other)}, the first is {_short(cells[other[0]])}"
        place = f"column {name!r} in {table.source}"
        raise DataError(f"{place} has values that are not text ({first}): write them as strings")
    _check(table, name, bad)
    return empty


def read_texts(
    data: Data,
    text: str | None = None,
    id: str | None = None,
    encoding: str | None = None,
    remembered: Mapping[str, Any] | None = None,
) -> Pool:
    """A pool of texts to predict: labels do not matter, and each row must have a text, for its prediction.

    `remembered` has the columns and the encoding that a project was made with.
    """
    table = read_table(data, encoding or (remembered or {}).get("encoding"))
    columns = columns_in(table, {"text": text, "id": id}, remembered)
    if empty := rows_without_text(table, columns["text"]):
        name = columns["text"] or "text"
        place = f"column {name!r} in {table.source}"
        raise DataError(f"{place} has no text in {table.where(empty)}: fill or remove these rows")
    cells = {name: cells for name, cells in table.cells.items() if name != "label"}
    return pool_from(replace(table, cells=cells), columns["text"], id=columns["id"])


def read_more(
    data: Data,
    pool: Pool,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    encoding: str | None = None,
    remembered: Mapping[str, Any] | None = None,
) -> Pool:
    """More texts for a pool, with its classes; where the data has no ids, numbers that are still free there.

    `remembered` has the columns and the encoding that a project was made with.
    """
    table = read_table(data, encoding or (remembered or {}).get("encoding"))
    columns = columns_in(table, {"text": text, "label": label, "id": id}, remembered)
    more = pool_from(table, columns["text"], columns["label"], columns["id"], pool.classes)
    if known := more.texts.in_common(pool.texts):
        more = replace(more, notes=(*more.notes, f"{known:,} of the new texts are already in the pool"))
    if columns["id"] or "id" in table.cells:
        return more
    return replace(more, ids=_free_numbers(pool, len(more)))


def columns_in(
    table: Table, given: Mapping[str, str | None], remembered: Mapping[str, Any] | None = None
) -> dict[str, str | None]:
    """The columns that the user names now, or else those that a project was made with, where the table has them.

    Our own exports have our own columns, whatever those of the project are called.
    """
    if table.cells.keys() >= set(EXPORT_COLUMNS):
        remembered = None
    kept = {name: column for name, column in (remembered or {}).items() if name in COLUMNS and column in table.cells}
    return {name: column or kept.get(name) for name, column in given.items()}


def _free_numbers(pool: Pool, count: int) -> Strings:
    """The first numbers from the length of the pool on that are not ids there."""
    import numpy as np

    found, first = Strings.of(()), len(pool)
    while len(found) < count:
        numbers = Strings.numbered(count, first)
        found += numbers.take(np.flatnonzero(pool.ids.rows_of(numbers) < 0))
        first += count
    return found[:count]


def repeats(texts: Sequence[str]) -> list[str]:
    """A note on texts that occur more than once: they stay rows, but the user should know."""
    different, rows = Strings.of(texts).repeated()
    words = "text occurs" if different == 1 else "texts occur"
    return [f"{different:,} {words} more than once ({rows:,} rows)"] if different else []


def _texts(cells: Sequence[object]) -> Strings:
    kept = cells.strings() if isinstance(cells, Cells) else None
    return kept if kept is not None else Strings.of(str(cell) for cell in cells)


def names_in(table: Table, name: str, cells: Sequence[object] | None) -> list[str | None]:
    """The cells of a column as words, None where there is nothing."""
    found = _labels(table, name, cells)
    names = (*found.names, None)  # the last is for UNKNOWN
    return [names[number] for number in found.numbers.tolist()]


def _labels(table: Table, name: str, cells: Sequence[object] | None) -> Coded:
    """The cells of a column as numbers of words, UNKNOWN where there is nothing."""
    import numpy as np

    if cells is None:
        return Coded((), np.full(len(table), UNKNOWN))
    number_of: dict[str, int] = {}  # by word
    number_in: dict[str, int] = {"nan": UNKNOWN, "NaN": UNKNOWN}  # by cell, where that is a string
    several: list[int] = []
    blocks: list[npt.NDArray[np.int64]] = []
    done = 0
    for block in blocks_of(cells):
        numbers: list[int] = []
        for cell in block:
            number = number_in.get(cell) if isinstance(cell, str) else None
            if number is None:
                if isinstance(cell, (list, tuple, dict)):
                    several.append(done + len(numbers))
                number = UNKNOWN if _missing(cell) else number_of.setdefault(_word(cell), len(number_of))
                if isinstance(cell, str):
                    number_in[cell] = number
            numbers.append(number)
        blocks.append(np.array(numbers, np.int64))
        done += len(numbers)
    if several:
        first = f"{table.where(several)}, the first is {_short(cells[several[0]])}"
        raise DataError(f"column {name!r} in {table.source} must have one label per row ({first}): split these rows")
    found = np.concatenate(blocks) if blocks else np.empty(0, np.int64)
    bad = [number for word, number in number_of.items() if not _writable(word)]
    _check(table, name, np.flatnonzero(np.isin(found, bad)).tolist())
    return Coded(tuple(number_of), as_labels(found))


def _matched(table: Table, labels: Coded, classes: Sequence[str]) -> tuple[Coded, list[str]]:
    """The labels by the names of the classes that they mean, and a note where they were written differently."""
    import numpy as np

    meant = matches(labels.names, classes)
    occurring = labels.occurring()
    if strange := [name for name in occurring if name not in meant]:
        rows = np.flatnonzero(labels.numbers == labels.names.index(strange[0])).tolist()
        others = f" (and {len(strange) - 1:,} other labels that are not classes)" if len(strange) > 1 else ""
        place = f"{table.source}: unknown label {strange[0]!r} in {table.where(rows)}{others}"
        raise DataError(f"{place}: {nearest(strange[0], classes)}")
    changed = [number for number, name in enumerate(labels.names) if meant.get(name, name) != name]
    count = int(np.isin(labels.numbers, changed).sum())
    if not count:
        return labels, []
    words = "1 label was" if count == 1 else f"{count:,} labels were"
    note = f"{words} matched to a class after ignoring case and spaces"
    return Coded(tuple(meant.get(name, name) for name in labels.names), labels.numbers), [note]


def _without(labels: Coded, rows: Sequence[int]) -> Coded:
    numbers = labels.numbers.copy()
    numbers[rows] = UNKNOWN
    return Coded(labels.names, as_labels(numbers))


def is_export(table: Table) -> bool:
    """Whether this is a table that `actune export` wrote."""
    return table.cells.keys() >= EXPORTED


def pseudo_rows(table: Table) -> list[int]:
    """The rows of our own export whose label is a pseudo-label."""
    if not is_export(table):
        return []
    return [row for row, source in enumerate(table.cells["source"]) if source == PSEUDO]


def _ids(table: Table, name: str, cells: Sequence[object] | None) -> Strings | None:
    if cells is None:
        return None
    empty: list[int] = []
    bad: list[int] = []

    def words() -> Iterator[str]:
        for row, cell in enumerate(cells):
            word = "" if _missing(cell) else _word(cell)
            if not word:
                empty.append(row)
            elif not _writable(word):
                bad.append(row)
                word = ""
            yield word

    ids = Strings.of(words())
    if empty:
        raise DataError(
            f"column {name!r} in {table.source} has no id in {table.where(empty)}: fill in the ids, or drop the column"
        )
    _check(table, name, bad)
    return ids


def _missing(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip()) or (isinstance(cell, float) and cell != cell)


def _word(cell: object) -> str:
    # pandas turns whole numbers into floats as soon as one of them is missing
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _check(table: Table, name: str, bad: Sequence[int]) -> None:
    if bad:
        raise DataError(
            f"column {name!r} in {table.source} has NUL or broken characters ({table.where(bad)}): remove them"
        )


def _writable(word: str) -> bool:
    return is_text(word) and "\0" not in word


def _short(cell: object) -> str:
    shown = reprlib.repr(cell)  # not the whole of it: a cell may be a list of a million lists
    return shown if len(shown) <= 40 else shown[:37] + "..."
