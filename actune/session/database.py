"""All SQL of a run, behind one small class: texts, append-only answers, questions, finished rounds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from actune.errors import Busy, DataError, RunFolderError, StorageError

VERSION = 1
SCHEMA = """
CREATE TABLE texts (split TEXT, row INTEGER, id TEXT, text TEXT, label INTEGER, PRIMARY KEY (split, row),
                    UNIQUE (split, id));
CREATE TABLE answers (number INTEGER PRIMARY KEY AUTOINCREMENT, row INTEGER NOT NULL, kind TEXT NOT NULL, label INTEGER,
                      by TEXT NOT NULL, at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')));
CREATE TABLE questions (round INTEGER, position INTEGER, row INTEGER NOT NULL, suggestion INTEGER, confidence REAL,
                        PRIMARY KEY (round, position)) WITHOUT ROWID;
CREATE TABLE selections (round INTEGER PRIMARY KEY, facts TEXT NOT NULL);
CREATE TABLE rounds (round INTEGER PRIMARY KEY, facts TEXT NOT NULL);
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

APPEND_ANSWER = "INSERT INTO answers (row, kind, label, by) VALUES (?, ?, ?, ?)"
AnswerEntry = tuple[int, str, int | None, str]


@dataclass(frozen=True)
class AnswerRow:
    """One answer as it lies in the log: kind is label, skip or unskip."""

    number: int
    row: int
    kind: str
    label: int | None
    by: str
    at: str


@dataclass(frozen=True)
class QuestionRow:
    """One question of the round that its answer will train."""

    round: int
    row: int
    suggestion: int | None
    confidence: float | None


@dataclass(frozen=True)
class Selection:
    """What was chosen for a round: questions in order, and facts about the choice."""

    round: int
    questions: Sequence[QuestionRow]
    facts: dict[str, Any]


class Database:
    """SQLite in WAL mode with full synchronisation: what was committed survives a power cut."""

    def __init__(self, path: Path, create: bool = False) -> None:
        if not create and not path.is_file():
            raise RunFolderError(f"{str(path.parent)!r} is not a whole run: it has no {path.name}")
        with _sentences(path):
            self._connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            self._path = path
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            found = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
            if found > VERSION:
                raise RunFolderError(f"{str(path)!r} was written by a newer version of actune: upgrade")
            if found == 0:
                with self._transaction():
                    for statement in SCHEMA.split(";"):
                        self._connection.execute(statement)
                    self._connection.execute(f"PRAGMA user_version = {VERSION}")

    def close(self) -> None:
        self._connection.close()

    # texts

    def add_texts(self, split: str, rows: Iterable[tuple[str, str, int]], answers: Sequence[AnswerEntry] = ()) -> int:
        """Appends (id, text, label) rows and the answers that came along with them, all or none; gives the first row.

        The answers count rows from there: only inside the transaction is it known where the new texts will lie.
        """
        with self._transaction():
            last = "SELECT coalesce(max(row), -1) FROM texts WHERE split = ?"
            first = 1 + int(self._connection.execute(last, (split,)).fetchone()[0])
            try:
                self._connection.executemany(
                    "INSERT INTO texts VALUES (?, ?, ?, ?, ?)",
                    ((split, first + place, *row) for place, row in enumerate(rows)),
                )
            except sqlite3.IntegrityError:  # the caller saw no such id, so it came since then
                raise DataError(
                    "another process has added texts with some of these ids: open the project anew and add again"
                ) from None
            self._connection.executemany(APPEND_ANSWER, ((first + place, *answer) for place, *answer in answers))
        return first

    def texts(self, split: str) -> tuple[list[str], list[str], list[int]]:
        """Ids, texts and labels in row order: a million tuples of them would keep the garbage collector busy."""
        with _sentences(self._path):
            query = "SELECT id, text, label FROM texts WHERE split = ? ORDER BY row"
            flat = list(chain.from_iterable(self._connection.execute(query, (split,))))
        return flat[0::3], flat[1::3], flat[2::3]

    def forget_texts(self) -> None:
        """Drops all texts and gives their room back."""
        if self._all("SELECT 1 FROM texts LIMIT 1"):
            with self._transaction():
                self._connection.execute("DELETE FROM texts")
            with _sentences(self._path):
                self._connection.execute("VACUUM")

    # answers

    def append_answers(self, answers: Sequence[AnswerEntry]) -> None:
        """Appends answers in one transaction; on return they are on the disk."""
        with self._transaction():
            self._connection.executemany(APPEND_ANSWER, answers)

    def answers(self) -> list[AnswerRow]:
        return [
            AnswerRow(*row) for row in self._all("SELECT number, row, kind, label, by, at FROM answers ORDER BY number")
        ]

    # questions, selections and rounds

    def commit(self, fitted: tuple[int, dict[str, Any]] | None, selection: Selection | None) -> None:
        """A finished round, the choice for the next one, or both, in one transaction."""
        with self._transaction():
            if fitted:
                self._connection.execute("INSERT INTO rounds VALUES (?, ?)", (fitted[0], json.dumps(fitted[1])))
            if selection:
                facts = json.dumps(selection.facts)
                self._connection.execute("INSERT INTO selections VALUES (?, ?)", (selection.round, facts))
                self._connection.executemany(
                    "INSERT INTO questions VALUES (?, ?, ?, ?, ?)",
                    [
                        (q.round, place, q.row, q.suggestion, q.confidence)
                        for place, q in enumerate(selection.questions)
                    ],
                )

    def rounds(self) -> list[dict[str, Any]]:
        return [json.loads(facts) for (facts,) in self._all("SELECT facts FROM rounds ORDER BY round")]

    def selections(self) -> list[dict[str, Any]]:
        return [json.loads(facts) for (facts,) in self._all("SELECT facts FROM selections ORDER BY round")]

    def questions(self) -> list[QuestionRow]:
        """All questions ever asked, by round and position."""
        found = self._all("SELECT round, row, suggestion, confidence FROM questions ORDER BY round, position")
        return [QuestionRow(*row) for row in found]

    # single facts

    def fact(self, name: str) -> Any:
        found = self._all("SELECT value FROM facts WHERE name = ?", name)
        return json.loads(found[0][0]) if found else None

    def set_fact(self, name: str, value: Any) -> None:
        with self._transaction():
            self._connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    def _all(self, query: str, *values: Any) -> list[Any]:
        with _sentences(self._path):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _sentences(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """SQLite's errors as sentences for the user."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        problem = str(error)
        if "locked" in problem or "busy" in problem:
            raise Busy(f"{str(path)!r} was locked by another process for 30 seconds: try again") from error
        if "full" in problem or "disk I/O" in problem:
            raise StorageError(f"the disk is full: nothing of this step was written to {str(path)!r}") from error
        if "readonly" in problem or "unable to open" in problem:
            raise StorageError(f"{str(path)!r} cannot be written: check the folder's permissions") from error
        raise RunFolderError(f"{str(path)!r} is damaged or not a run's database: {problem}") from error
