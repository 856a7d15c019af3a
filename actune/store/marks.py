"""What is said about texts beside labels, in SQLite: notes, flags, picked texts, rejected pseudo-labels, the audit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from actune.store.chain import COLUMNS, last_link, link, now
from actune.store.clients import is_known, remember
from actune.store.database import Connection, Database
from actune.store.reading import records
from actune.store.records import Mark, MarkKind, MarkRow, Standing
from actune.store.schema import last_answer

MARK = COLUMNS["marks"]
PERSONAL = ("note", "flag")  # marks that each person has of their own
OWN = "kind = ? AND row = ? AND (? OR by = ?)"
STANDING = "kind, row, by, number, value, at"


class SQLMarks:
    """The verbs about marks. A mark is an event like an answer; one without a value takes back what stood."""

    _connections: Database

    def mark(self, marks: Sequence[Mark]) -> int:
        """Appends marks; gives how many were new. What stands already, or came under a known client id, is not."""
        with self._connections.writing() as connection:
            return write_marks(connection, marks)

    def marked(self, kind: MarkKind, rows: Collection[int] | None = None) -> list[Standing]:
        """The marks of a kind that stand, in row order."""
        with self._connections.reading() as connection:
            query = f"SELECT {STANDING} FROM marked WHERE kind = ? ORDER BY row, number"
            if rows is None:
                return list(records(Standing, connection.execute(query, (kind,))))
            query = f"SELECT {STANDING} FROM marked WHERE kind = ? AND row = ? ORDER BY number"
            return [mark for row in rows for mark in records(Standing, connection.execute(query, (kind, row)))]

    def marked_rows(self, kind: MarkKind) -> set[int]:
        """The rows that have a mark of a kind."""
        return {mark.row for mark in self.marked(kind)}

    def mark_log(self) -> list[MarkRow]:
        """All marks that were ever made."""
        with self._connections.reading() as connection:
            query = "SELECT number, row, kind, value, by, at, after FROM marks ORDER BY number"
            return list(records(MarkRow, connection.execute(query)))

    def queued(self) -> list[int]:
        """The rows that somebody picked and nobody has answered since, the first picked first."""
        with self._connections.reading() as connection:
            return [int(row) for (row,) in connection.execute("SELECT row FROM queue ORDER BY place, row")]


def write_marks(connection: Connection, marks: Sequence[Mark]) -> int:
    """Appends marks and brings up to date what follows from them, inside the transaction that is open."""
    (last,) = connection.execute("SELECT coalesce(max(number), 0) FROM marks").fetchone()
    known = {(m.by, m.client) for m in marks if m.client is not None and is_known(connection, m.by, m.client)}
    digest, at, after, new = last_link(connection, "marks"), now(), last_answer(connection), 0
    sent: set[tuple[str, str]] = set()
    for mark in marks:
        if (mark.by, mark.client) in known or not _changes(connection, mark):
            continue
        last, new = last + 1, new + 1
        values = (last, int(mark.row), mark.kind, mark.value, mark.by, at, after, mark.client)
        digest = link(digest, values)
        connection.execute(f"INSERT INTO marks ({MARK}, digest) VALUES ({'?, ' * 8}?)", (*values, digest))
        _stand(connection, MarkRow(*values[:6], after))
        if mark.kind == "queue":
            _queue(connection, last, mark)
        if mark.client is not None and (mark.by, mark.client) not in sent:
            sent.add((mark.by, mark.client))
            remember(connection, mark.by, mark.client, "marks", last)
    return new


def write_marked(connection: Connection) -> None:
    """The marks that stand, anew from the log."""
    connection.execute("DELETE FROM marked")
    query = "SELECT number, row, kind, value, by, at, after FROM marks ORDER BY number"
    for mark in records(MarkRow, connection.execute(query).fetchall()):
        _stand(connection, mark)


def marked_after(log: Iterable[MarkRow]) -> set[tuple[object, ...]]:
    """The rows of the table `marked` as they follow from the log."""
    found: dict[tuple[str, int, str], tuple[object, ...]] = {}
    for mark in log:
        key = (mark.kind, mark.row, mark.by if mark.kind in PERSONAL else "")
        found.pop(key, None)
        if mark.value is not None and mark.kind != "queue":
            found[key] = (mark.kind, mark.row, mark.by, mark.number, mark.value, mark.at)
    return set(found.values())


def _changes(connection: Connection, mark: Mark) -> bool:
    """Whether a mark says anything new; a text may be picked again once it was answered."""
    if mark.kind == "queue":
        is_queued = connection.execute("SELECT 1 FROM queue WHERE row = ?", (mark.row,)).fetchone() is not None
        return is_queued == (mark.value is None)
    found = connection.execute(f"SELECT value FROM marked WHERE {OWN}", _own(mark)).fetchone()
    return (found[0] if found else None) != mark.value


def _stand(connection: Connection, mark: MarkRow) -> None:
    if mark.kind == "queue":
        return  # which has a table of its own
    connection.execute(f"DELETE FROM marked WHERE {OWN}", _own(mark))
    if mark.value is not None:
        values = (mark.kind, mark.row, mark.by, mark.number, mark.value, mark.at)
        connection.execute(f"INSERT INTO marked ({STANDING}) VALUES (?, ?, ?, ?, ?, ?)", values)


def _own(mark: Mark | MarkRow) -> tuple[str, int, bool, str]:
    """What a mark takes the place of: the mark of this person, or that of anybody."""
    return mark.kind, mark.row, mark.kind not in PERSONAL, mark.by


def _queue(connection: Connection, number: int, mark: Mark) -> None:
    if mark.value is None:
        connection.execute("DELETE FROM queue WHERE row = ?", (mark.row,))
    else:
        connection.execute("INSERT INTO queue VALUES (?, ?, ?)", (mark.row, number, mark.by))
