"""Changes of a run's classes in SQLite: an event for each, and the classes that there are after all of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from actune.errors import DataError, nearest
from actune.store.connections import Connections
from actune.store.records import AnswerRow, ClassChange
from actune.store.schema import last_answer, write_words
from actune.store.words import replay

CHANGE = "number, kind, class, name, target, after, by, at"
APPEND = "INSERT INTO class_changes (kind, class, name, target, after, by) VALUES (?, ?, ?, ?, ?, ?)"


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
            connection.execute(APPEND, ("rename", number, new, None, last_answer(connection), by))

    def merge_classes(self, old: str, into: str, by: str) -> None:
        with self._connections.writing() as connection:
            number, target = _number(connection, old), _number(connection, into)
            if number == target:
                raise DataError(f"the class {old!r} cannot be merged into itself: choose another class")
            connection.execute("UPDATE classes SET merged_into = ? WHERE ? IN (number, merged_into)", (target, number))
            connection.execute(APPEND, ("merge", number, None, target, last_answer(connection), by))
            log = connection.execute("SELECT number, row, kind, label, by, at FROM answers ORDER BY number")
            write_words(connection, replay((AnswerRow(*row) for row in log), _changes(connection)))

    def classes(self) -> dict[int, str]:
        with self._connections.reading() as connection:
            return _classes(connection)

    def class_changes(self) -> list[ClassChange]:
        with self._connections.reading() as connection:
            return _changes(connection)


def _add(connection: sqlite3.Connection, name: str, by: str) -> int:
    _check_free(connection, name)
    (number,) = connection.execute("SELECT coalesce(max(number), -1) + 1 FROM classes").fetchone()
    connection.execute("INSERT INTO classes VALUES (?, ?, NULL)", (number, name))
    connection.execute(APPEND, ("add", number, name, None, last_answer(connection), by))
    return int(number)


def _classes(connection: sqlite3.Connection) -> dict[int, str]:
    return dict(connection.execute("SELECT number, name FROM classes WHERE merged_into IS NULL ORDER BY number"))


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


def _changes(connection: sqlite3.Connection) -> list[ClassChange]:
    query = f"SELECT {CHANGE} FROM class_changes ORDER BY number"
    return [ClassChange(*row) for row in connection.execute(query)]
