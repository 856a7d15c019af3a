"""Which files hold a run's texts, and which row an id names, in SQLite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from actune.core.arrow import as_numpy
from actune.core.pool import Pool, pool_of_numbers, taken_ids
from actune.core.shapes import WrongShape
from actune.core.strings import Strings, is_text
from actune.errors import DataError
from actune.store.database import Connection
from actune.store.reading import check_range, records, whole
from actune.store.records import Chunk

LONGEST_NUMBER = 18  # digits, so that a row number fits into 64 bits
FIND = """
SELECT row FROM ids WHERE split = ? AND id = ? UNION ALL SELECT row FROM texts WHERE split = ? AND id = ?
"""


def chunks_of(connection: Connection, split: str | None = None) -> list[Chunk]:
    """The files of a split in row order, or those of all splits."""
    where, values = ("", ()) if split is None else ("WHERE split = ?", (split,))
    query = f"SELECT file, first, rows, numbered FROM chunks {where} ORDER BY split, number"
    found = list(records(Chunk, connection.execute(query, values)))
    if split is not None:
        for before, chunk in pairwise(found):
            if chunk.first != before.first + before.rows:
                raise WrongShape(f"the rows of {chunk.file!r} do not follow those of {before.file!r}")
    if any(min(chunk.first, chunk.rows) < 0 for chunk in found):
        raise WrongShape("a file of texts has a negative number of rows")
    return found


def count_texts(connection: Connection, split: str) -> int:
    """How many texts a split has."""
    query = "SELECT first + rows FROM chunks WHERE split = ? ORDER BY number DESC LIMIT 1"
    found = connection.execute(query, (split,)).fetchone()
    if not found:
        query = "SELECT coalesce(max(row), -1) + 1 FROM texts WHERE split = ?"
        found = connection.execute(query, (split,)).fetchone()
    return whole(found[0], "the number of texts")


def add_chunk(connection: Connection, split: str, file: str, ids: Strings, digest: str | None = None) -> int:
    """Appends a file of texts; gives the row of the first. Ids that are taken are refused."""
    first = count_texts(connection, split)
    if first:
        found = find_rows(connection, split, ids)
        if taken := [place for place, row in enumerate(found) if row is not None]:
            raise taken_ids(len(taken), ids[taken[0]])
    numbered = ids == Strings.numbered(len(ids), first)
    if not numbered:
        if has_duplicates(ids):
            raise DataError("some of the new ids occur more than once: every text needs a different id")
        connection.executemany("INSERT INTO ids (split, id, row) VALUES (?, ?, ?)", _sorted(split, ids, first))
    connection.execute(
        "INSERT INTO chunks (split, number, file, first, rows, numbered, digest) "
        "SELECT ?, coalesce(max(number), -1) + 1, ?, ?, ?, ?, ? FROM chunks WHERE split = ?",
        (split, file, first, len(ids), int(numbered), digest, split),
    )
    return first


def find_rows(connection: Connection, split: str, ids: Sequence[str]) -> list[int | None]:
    """The row of each of these ids, None where there is none; no other id is looked at."""
    ranges = [(chunk.first, chunk.first + chunk.rows) for chunk in chunks_of(connection, split) if chunk.numbered]

    def find(id: str) -> int | None:
        if not is_text(id):
            return None
        row = int(id) if id.isdecimal() and len(id) <= LONGEST_NUMBER else -1
        if str(row) == id and any(low <= row < high for low, high in ranges):
            return row
        found = connection.execute(FIND, (split, id, split, id)).fetchone()
        return whole(found[0], "a row") if found else None

    rows = [find(id) for id in ids]
    check_range("row", (row for row in rows if row is not None), count_texts(connection, split))
    return rows


def texts_in_database(connection: Connection, split: str, classes: Sequence[str], first: int) -> Pool:
    """The texts that an earlier version kept in the database, from row `first` on."""
    query = "SELECT id, text, label FROM texts WHERE split = ? AND row >= ? ORDER BY row"
    # one flat list: a million tuples would keep the garbage collector busy
    flat = list(chain.from_iterable(connection.execute(query, (split, first))))
    ids, texts, labels = flat[0::3], flat[1::3], flat[2::3]
    if not all(type(each) is str for each in (*ids, *texts)) or len(set(ids)) < len(ids):
        raise WrongShape("a text or an id is not a text, or an id is there twice")
    if not all(
        label is None or (type(label) is int and (not classes or -1 <= label < len(classes))) for label in labels
    ):
        raise WrongShape("a text has a label that is no class")
    return pool_of_numbers(texts, ids, classes, labels)


def has_duplicates(ids: Strings) -> bool:
    """Whether two texts have one id."""
    import pyarrow.compute

    return int(pyarrow.compute.count_distinct(ids.column).as_py()) < len(ids)


def _sorted(split: str, ids: Strings, first: int) -> Iterator[tuple[str, str, int]]:
    """Rows of the table of ids in the order of their key: so a million of them are written in seconds."""
    import pyarrow.compute

    order = as_numpy(pyarrow.compute.sort_indices(ids.column)).astype("int64")
    for id, place in zip(ids.take(order), order, strict=True):
        yield split, id, first + int(place)
