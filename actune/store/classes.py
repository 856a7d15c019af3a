"""Changes of a run's classes in SQLite: an event for each, and the classes that there are after all of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from types import NoneType

from actune.core.shapes import WrongShape
from actune.errors import DataError, nearest
from actune.store.chain import COLUMNS, last_link, link, now
from actune.store.connections import Connections
from actune.store.reading import records
from actune.store.records import AnswerRow, ClassChange
from actune.store.schema import last_answer, write_words
from actune.store.words import Words, replay

CHANGE = COLUMNS["class_changes"]


class SQLiteClasses:
    """The verbs about classes. The number of a class is its place for ever, as that of a text is its row."""

    _connections: Connections

    def declare_classes(self, names: Sequence[str], by: str) -> None:
        with self._connections.writing() as connection:
            if not connection.execute("SELECT 1 FROM classes LIMIT 1").fetchone():
                for name in names:
                    _add(connection, name, by)

    def add_class(self, name: str, by: str) -> int:
        with self._connections.writing() as connection:
            return _add(connection, name, by)

    def rename_class(self, old: str, new: str, by: str) -> None:
        with self._connections.writing() as connection:
            number = _number(connection, old)
            _check_free(connection, new)
            connection.execute("UPDATE classes SET name = ? WHERE number = ?", (new, number))
            _append(connection, "rename", number, new, None, by)

    def merge_classes(self, old: str, into: str, by: str) -> None:
        with self._connections.writing() as connection:
            number, target = _number(connection, old), _number(connection, into)
            if number == target:
                raise DataError(f"the class {old!r} cannot be merged into itself: choose another class")
            connection.execute("UPDATE classes SET merged_into = ? WHERE ? IN (number, merged_into)", (target, number))
            _append(connection, "merge", number, None, target, by)
            write_words(connection, replay_log(connection))

    def classes(self) -> dict[int, str]:
        with self._connections.reading() as connection:
            return _classes(connection)

    def class_changes(self) -> list[ClassChange]:
        with self._connections.reading() as connection:
            return changes_in(connection)


def _add(connection: sqlite3.Connection, name: str, by: str) -> int:
    _check_free(connection, name)
    (number,) = connection.execute("SELECT coalesce(max(number), -1) + 1 FROM classes").fetchone()
    connection.execute("INSERT INTO classes VALUES (?, ?, NULL)", (number, name))
    _append(connection, "add", number, name, None, by)
    return int(number)


def _append(
    connection: sqlite3.Connection, kind: str, number: int, name: str | None, target: int | None, by: str
) -> None:
    (last,) = connection.execute("SELECT coalesce(max(number), 0) FROM class_changes").fetchone()
    values = (last + 1, kind, number, name, target, last_answer(connection), by, now())
    digest = link(last_link(connection, "class_changes"), values)
    connection.execute(f"INSERT INTO class_changes ({CHANGE}, digest) VALUES ({'?, ' * 8}?)", (*values, digest))


def replay_log(connection: sqlite3.Connection) -> Words:
    """The words that stand after the whole log."""
    log = connection.execute("SELECT number, row, kind, label, by, at FROM answers ORDER BY number")
    return replay(records(AnswerRow, log), changes_in(connection))


def _classes(connection: sqlite3.Connection) -> dict[int, str]:
    found = connection.execute("SELECT number, name, merged_into FROM classes ORDER BY number").fetchall()
    if not all(type(name) is str and type(into) in (int, NoneType) for _, name, into in found):
        raise WrongShape("a class has no name, or is merged into none")
    return {number: name for number, name, into in found if into is None}


def _number(connection: sqlite3.Connection, name: str) -> int:
    known = {known: number for number, known in _classes(connection).items()}
    if name not in known:
        raise DataError(f"unknown label {name!r}: {nearest(name, known)}")
    return known[name]


def _check_free(connection: sqlite3.Connection, name: str) -> None:
    if not name.strip():
        raise DataError("a class needs a name: give one that is not empty")
    if name in _classes(connection).values():
        raise DataError(f"there is already a class {name!r}: choose another name")


def changes_in(connection: sqlite3.Connection) -> list[ClassChange]:
    """All that ever happened to classes."""
    return list(records(ClassChange, connection.execute(f"SELECT {CHANGE} FROM class_changes ORDER BY number")))
