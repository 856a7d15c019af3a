"""Pools of texts from files and from data in memory, with every bad cell named by its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from actune.core.pool import UNKNOWN, Coded, Pool, as_labels, pool_of
from actune.core.strings import Strings, is_text
from actune.data.cells import Cells, Table, blocks_of
from actune.data.frames import Data
from actune.data.tables import read_table
from actune.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Table", "as_pool", "names_in", "pool_from", "read_more", "read_pool", "read_table", "read_texts"]

EXPORTED = {"source", "round", "confidence"}  # columns by which our own export is known


def read_pool(
    data: Data,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    classes: Sequence[str] | None = None,
    require_labels: bool = False,
) -> Pool:
    """A pool from a file, or from a frame, a data set or a list in memory.

    A column that is not named is `text`, `label` or `id`; the last two may be absent.
    """
    return pool_from(read_table(data), text, label, id, classes, require_labels)


def as_pool(data: Data, reading: Mapping[str, Any]) -> Pool:
    """A pool itself, or what `read_pool` makes of the data with the columns and classes that `reading` names."""
    words = {name: reading[name] for name in ("text", "label", "id", "classes") if name in reading}
    return data if isinstance(data, Pool) else read_pool(data, **words)


def pool_from(
    table: Table,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    classes: Sequence[str] | None = None,
    require_labels: bool = False,
) -> Pool:
    """A pool from the columns of a table; an empty label is an unknown one."""
    name = text or "text"
    texts = _texts(table, name, table.column(name, "--text"))
    labels = _labels(table, label or "label", table.column(label, "--label") if label else table.cells.get("label"))
    pseudo = [] if label else _pseudo(table)
    if pseudo:
        labels = _without(labels, pseudo)
    notes = [f"{len(pseudo):,} pseudo-labels of an export are not taken for labels"] if pseudo else []
    if require_labels and len(bare := (labels.numbers == UNKNOWN).nonzero()[0]):
        raise DataError(f"{table.source} has no label in {table.where(bare.tolist())}: label or remove these rows")
    ids = _ids(table, id or "id", table.column(id, "--id") if id else table.cells.get("id"))
    try:
        return pool_of(texts, labels, ids, classes, [*notes, *repeats(texts)])
    except DataError as error:
        raise DataError(f"{table.source}: {error}") from None


def read_texts(data: Data, text: str | None = None, id: str | None = None) -> Pool:
    """A pool whose labels do not matter, such as texts to predict."""
    table = read_table(data)
    return pool_from(
        replace(table, cells={name: cells for name, cells in table.cells.items() if name != "label"}), text, id=id
    )


def read_more(data: Data, pool: Pool, text: str | None = None, label: str | None = None, id: str | None = None) -> Pool:
    """More texts for a pool, with its classes; where the data has no ids, numbers that are still free there."""
    table = read_table(data)
    more = pool_from(table, text, label, id, pool.classes)
    if known := more.texts.in_common(pool.texts):
        more = replace(more, notes=(*more.notes, f"{known:,} of the new texts are in the pool already"))
    if id or "id" in table.cells:
        return more
    return replace(more, ids=_free_numbers(pool, len(more)))


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


def _texts(table: Table, name: str, cells: Sequence[object]) -> Strings:
    place = f"column {name!r} in {table.source}"
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
    if empty:
        raise DataError(f"{place} has no text in {table.where(empty)}: fill or remove these rows")
    if other:
        first = f"{table.where(other)}, the first is {_short(cells[other[0]])}"
        raise DataError(f"{place} holds something other than text ({first}): write it as a string")
    _check(table, name, bad)
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
        raise DataError(f"column {name!r} in {table.source} must hold one label a row ({first}): split these rows")
    found = np.concatenate(blocks) if blocks else np.empty(0, np.int64)
    bad = [number for word, number in number_of.items() if not _writable(word)]
    _check(table, name, np.flatnonzero(np.isin(found, bad)).tolist())
    return Coded(tuple(number_of), as_labels(found))


def _without(labels: Coded, rows: Sequence[int]) -> Coded:
    numbers = labels.numbers.copy()
    numbers[rows] = UNKNOWN
    return Coded(labels.names, as_labels(numbers))


def _pseudo(table: Table) -> list[int]:
    if not table.cells.keys() >= EXPORTED:
        return []
    return [row for row, source in enumerate(table.cells["source"]) if source == "pseudo"]


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
        raise DataError(f"column {name!r} in {table.source} has no id in {table.where(empty)}: fill or drop the column")
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
            f"column {name!r} in {table.source} holds NUL or broken characters ({table.where(bad)}): remove them"
        )


def _writable(word: str) -> bool:
    return is_text(word) and "\0" not in word


def _short(cell: object) -> str:
    shown = repr(cell)
    return shown if len(shown) <= 40 else shown[:37] + "..."
