"""Pools of texts from files, with every bad cell named by its line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

from actune.core.pool import Pool, pool_of
from actune.data.tables import Table, read_table
from actune.errors import DataError

__all__ = ["Table", "names_in", "pool_from", "read_more", "read_pool", "read_table", "read_texts"]

EXPORTED = {"source", "round", "confidence"}  # columns by which our own export is known


def read_pool(
    path: str | Path,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    classes: Sequence[str] | None = None,
    require_labels: bool = False,
) -> Pool:
    """A pool from a file. A column that is not named is `text`, `label` or `id`; the last two may be absent."""
    return pool_from(read_table(path), text, label, id, classes, require_labels)


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
    labels = names_in(table, label or "label", table.column(label, "--label") if label else table.cells.get("label"))
    pseudo = [] if label else _pseudo(table)
    for row in pseudo:
        labels[row] = None
    notes = [f"{len(pseudo):,} pseudo-labels of an export are not taken for labels"] if pseudo else []
    if require_labels and (bare := [row for row, given in enumerate(labels) if given is None]):
        raise DataError(f"{table.source} has no label in {table.where(bare)}: label or remove these rows")
    ids = _ids(table, id or "id", table.column(id, "--id") if id else table.cells.get("id"))
    try:
        return pool_of(texts, labels, ids, classes, [*notes, *repeats(texts)])
    except DataError as error:
        raise DataError(f"{table.source}: {error}") from None


def read_texts(path: str | Path, text: str | None = None, id: str | None = None) -> Pool:
    """A pool whose labels do not matter, such as texts to predict."""
    table = read_table(path)
    return pool_from(
        replace(table, cells={name: cells for name, cells in table.cells.items() if name != "label"}), text, id=id
    )


def read_more(
    path: str | Path, pool: Pool, text: str | None = None, label: str | None = None, id: str | None = None
) -> Pool:
    """More texts for a pool, with its classes; where the file has no ids, numbers that are still free there."""
    table = read_table(path)
    more = pool_from(table, text, label, id, pool.classes)
    if known := len({*more.texts} & {*pool.texts}):
        more = replace(more, notes=(*more.notes, f"{known:,} of the new texts are in the pool already"))
    if id or "id" in table.cells:
        return more
    free = (number for number in map(str, count(len(pool))) if number not in pool.row_of)
    return replace(more, ids=tuple(islice(free, len(more))))


def repeats(texts: Sequence[str]) -> list[str]:
    """A note on texts that occur more than once: they stay rows, but the user should know."""
    if len(set(texts)) == len(texts):
        return []
    counts = [count for count in Counter(texts).values() if count > 1]
    words = "text occurs" if len(counts) == 1 else "texts occur"
    return [f"{len(counts):,} {words} more than once ({sum(counts):,} rows)"]


def _texts(table: Table, name: str, cells: Sequence[object]) -> list[str]:
    place = f"column {name!r} in {table.source}"
    if empty := [row for row, cell in enumerate(cells) if _missing(cell)]:
        raise DataError(f"{place} has no text in {table.where(empty)}: fill or remove these rows")
    if other := [row for row, cell in enumerate(cells) if not isinstance(cell, str)]:
        first = f"{table.where(other)}, the first is {_short(cells[other[0]])}"
        raise DataError(f"{place} holds something other than text ({first}): write it as a string")
    texts = [str(cell) for cell in cells]
    _check(table, name, texts)
    return texts


def names_in(table: Table, name: str, cells: Sequence[object] | None) -> list[str | None]:
    """The cells of a column as words, None where there is nothing."""
    if cells is None:
        return [None] * len(table)
    if several := [row for row, cell in enumerate(cells) if isinstance(cell, (list, tuple, dict))]:
        first = f"{table.where(several)}, the first is {_short(cells[several[0]])}"
        raise DataError(f"column {name!r} in {table.source} must hold one label a row ({first}): split these rows")
    names = [None if _missing(cell) or cell in ("nan", "NaN") else _word(cell) for cell in cells]
    _check(table, name, names)
    return names


def _pseudo(table: Table) -> list[int]:
    if not table.cells.keys() >= EXPORTED:
        return []
    return [row for row, source in enumerate(table.cells["source"]) if source == "pseudo"]


def _ids(table: Table, name: str, cells: Sequence[object] | None) -> list[str] | None:
    if cells is None:
        return None
    if empty := [row for row, cell in enumerate(cells) if _missing(cell)]:
        raise DataError(f"column {name!r} in {table.source} has no id in {table.where(empty)}: fill or drop the column")
    ids = [_word(cell) for cell in cells]
    _check(table, name, ids)
    return ids


def _missing(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip()) or (isinstance(cell, float) and cell != cell)


def _word(cell: object) -> str:
    # pandas turns whole numbers into floats as soon as one of them is missing
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _check(table: Table, name: str, words: Sequence[str | None]) -> None:
    if bad := [row for row, word in enumerate(words) if word and not _writable(word)]:
        raise DataError(
            f"column {name!r} in {table.source} holds NUL or broken characters ({table.where(bad)}): remove them"
        )


def _writable(word: str) -> bool:
    if word.isascii():
        return "\0" not in word
    try:  # JSON can hold half of a surrogate pair, which no file and no tokenizer takes
        word.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in word


def _short(cell: object) -> str:
    shown = repr(cell)
    return shown if len(shown) <= 40 else shown[:37] + "..."
