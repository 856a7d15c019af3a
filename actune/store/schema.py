"""The tables of a run's database, and how those of earlier versions become them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from actune.core.places import is_regular
from actune.core.printing import shortened
from actune.core.shapes import WrongShape, value_of
from actune.errors import RunFolderError
from actune.store.chain import COLUMNS, broken_links, write_links
from actune.store.connections import Connections
from actune.store.database import Connection
from actune.store.reading import decoded, records, whole
from actune.store.records import AnswerRow, ClassChange, ModelRow
from actune.store.words import Words, places_before, replay

VERSION = 5
# the log that all else follows from; a label is a class number, and texts of the pool have none where people answer
FIRST = """
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
# latest, words and counts follow from answers and class_changes, and are kept up to date in the same transaction
SECOND = """
ALTER TABLE answers ADD COLUMN seconds REAL;
ALTER TABLE answers ADD COLUMN round INTEGER;
CREATE TABLE latest (row INTEGER PRIMARY KEY, number INTEGER NOT NULL, kind TEXT NOT NULL, label INTEGER,
                     by TEXT NOT NULL);
CREATE TABLE words (row INTEGER, by TEXT, number INTEGER NOT NULL, kind TEXT NOT NULL, label INTEGER,
                    PRIMARY KEY (row, by)) WITHOUT ROWID;
CREATE TABLE counts (label INTEGER PRIMARY KEY, rows INTEGER NOT NULL);
CREATE TABLE leases (row INTEGER PRIMARY KEY, by TEXT NOT NULL, until REAL NOT NULL);
CREATE TABLE models (folder TEXT PRIMARY KEY, round INTEGER NOT NULL, kind TEXT NOT NULL);
CREATE TABLE classes (number INTEGER PRIMARY KEY, name TEXT NOT NULL, merged_into INTEGER);
CREATE TABLE class_changes (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, class INTEGER NOT NULL,
                            name TEXT, target INTEGER, after INTEGER NOT NULL, by TEXT NOT NULL,
                            at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')));
"""
# a chunk is a file of texts with the rows from `first` on; where its ids are the row numbers themselves they are not in
# `ids`. The table `texts` of the first version is filled only in runs that were made before there were chunks
THIRD = """
CREATE TABLE chunks (split TEXT, number INTEGER, file TEXT NOT NULL, first INTEGER NOT NULL, rows INTEGER NOT NULL,
                     numbered INTEGER NOT NULL, PRIMARY KEY (split, number)) WITHOUT ROWID;
CREATE TABLE ids (split TEXT, id TEXT, row INTEGER NOT NULL, PRIMARY KEY (split, id)) WITHOUT ROWID;
"""
# what each row of the log and each file was when it was written, so that damage is found; NULL in older rows
FOURTH = """
ALTER TABLE answers ADD COLUMN digest BLOB;
ALTER TABLE class_changes ADD COLUMN digest BLOB;
ALTER TABLE chunks ADD COLUMN digest TEXT;
ALTER TABLE models ADD COLUMN digest TEXT;
"""
# notes, flags, queued texts, rejected pseudo-labels, the audit sample and which texts several people answer are marks;
# `marked` has those that stand, and `queue` the texts that somebody picked and nobody has answered since. `clients`
# tells what a client has sent already. Several people may hold a row
FIFTH = """
ALTER TABLE answers ADD COLUMN client TEXT;
ALTER TABLE answers ADD COLUMN before INTEGER;
ALTER TABLE answers ADD COLUMN applied INTEGER;
ALTER TABLE class_changes ADD COLUMN step INTEGER;
ALTER TABLE class_changes ADD COLUMN undoes INTEGER;
ALTER TABLE class_changes ADD COLUMN client TEXT;
ALTER TABLE classes ADD COLUMN retired INTEGER NOT NULL DEFAULT 0;
CREATE TABLE marks (number INTEGER PRIMARY KEY AUTOINCREMENT, row INTEGER NOT NULL, kind TEXT NOT NULL, value TEXT,
                    by TEXT NOT NULL, at TEXT NOT NULL, after INTEGER NOT NULL, client TEXT, digest BLOB);
CREATE TABLE marked (kind TEXT, row INTEGER, by TEXT, number INTEGER NOT NULL, value TEXT NOT NULL, at TEXT NOT NULL,
                     PRIMARY KEY (kind, row, by)) WITHOUT ROWID;
CREATE TABLE queue (row INTEGER PRIMARY KEY, place INTEGER NOT NULL, by TEXT NOT NULL);
CREATE TABLE clients (by TEXT, client TEXT, log TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (by, client))
                     WITHOUT ROWID;
DROP TABLE leases;
CREATE TABLE leases (row INTEGER, by TEXT, until REAL NOT NULL, PRIMARY KEY (row, by)) WITHOUT ROWID;
"""
MADE = FIRST + SECOND + THIRD + FOURTH + FIFTH  # the tables of this version, from nothing
TABLES = {
    1: {"texts", "answers", "questions", "selections", "rounds", "facts"},
    2: {"latest", "words", "counts", "leases", "models", "classes", "class_changes"},
    3: {"chunks", "ids"},
    5: {"marks", "marked", "queue", "clients"},
}
LOG = ("answers", "class_changes", "marks")
SKIPPED = -1  # what stands in `counts` for a skip


def prepare(connections: Connections, create: bool) -> None:
    """Makes the tables of a new database, or brings those of an older version up to date.

    A database that must not be changed is copied first; one that is changed leaves a copy of itself beside it.
    """
    path = connections.path
    if create:
        with connections.writing() as connection:
            _execute(connection, FIRST)
            _migrate(connection, path.parent, 1)
        with connections.alone() as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # where the file system allows it
        return
    with connections.reading() as connection:
        found = connections.version(connection)
        if found > VERSION:
            raise RunFolderError(f"{str(path)!r} was written by a newer version of actune: upgrade actune")
        check_tables(connection, found)
    if found == VERSION:
        return
    if connections.readonly:
        with connections.changing_copy() as connection:
            _migrate(connection, path.parent, found)
        return
    with connections.writing() as connection:
        if connections.version(connection) == found:  # no other process was faster
            connections.back_up(path.with_name(f"{path.name}.v{found}.bak"))
            _migrate(connection, path.parent, found)


def check_tables(connection: Connection, version: int) -> None:
    """Only our tables may be there, and all of them: a trigger or a view of somebody else would act on its own."""
    wanted = set().union(*(names for since, names in TABLES.items() if since <= version))
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master"):
        own = kind == "table" and name in wanted and str(sql).upper().startswith("CREATE TABLE")
        if not own and not str(name).startswith("sqlite_"):
            raise WrongShape(f"it has the {kind} {shortened(str(name))!r}, which is not actune's")
        wanted.discard(name)
    if version < 1 or wanted:
        raise WrongShape("it has no tables of actune" if version < 1 else f"it has no table {min(wanted)!r}")


def last_answer(connection: Connection) -> int:
    """The number of the newest answer, 0 before there is one."""
    (found,) = connection.execute("SELECT coalesce(max(number), 0) FROM answers").fetchone()
    return whole(found, "the number of an answer")


def write_words(connection: Connection, words: Words) -> None:
    """Writes all words that stand, in place of those that stood."""
    for table in ("latest", "words", "counts"):
        connection.execute(f"DELETE FROM {table}")
    latest = words.latest.values()
    connection.executemany(
        "INSERT INTO latest VALUES (?, ?, ?, ?, ?)",
        [(word.row, word.number, word.kind, word.label, word.by) for word in latest],
    )
    connection.executemany(
        "INSERT INTO words VALUES (?, ?, ?, ?, ?)",
        [(word.row, word.by, word.number, word.kind, word.label) for word in words.of_person.values()],
    )
    connection.execute("INSERT INTO counts SELECT coalesce(label, ?), count(*) FROM latest GROUP BY 1", (SKIPPED,))


def changes_in(connection: Connection) -> list[ClassChange]:
    """All that ever happened to classes."""
    wanted = "number, kind, class, name, target, after, by, at, step, undoes"
    return list(records(ClassChange, connection.execute(f"SELECT {wanted} FROM class_changes ORDER BY number")))


def replay_log(connection: Connection, changes: Sequence[ClassChange] | None = None) -> Words:
    """The words that stand after the whole log, with these changes of classes instead of those that there are."""
    log = connection.execute(f"SELECT {COLUMNS['answers']} FROM answers ORDER BY number")
    return replay(records(AnswerRow, log), changes_in(connection) if changes is None else changes)


def _migrate(connection: Connection, folder: Path, found: int) -> None:
    """Brings tables from the version `found` to the present one, inside the transaction that is open."""
    if found < 2:
        _to_second(connection, folder)
    if found < 3:
        _execute(connection, THIRD)
    if found < 4:
        _execute(connection, FOURTH)
    if found < 5:
        _to_fifth(connection, digests=found == 4)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _to_second(connection: Connection, folder: Path) -> None:
    """Answers know their round and how long they took; what follows from the log has tables; models have rows."""
    _execute(connection, SECOND)
    rounds = [decoded(facts) for (facts,) in connection.execute("SELECT facts FROM rounds ORDER BY round")]
    seen = [value_of(int, facts.get("answers_seen", 0), "answers_seen") for facts in rounds]
    connection.execute("UPDATE answers SET round = 0")
    for round, last in enumerate(seen, 1):
        connection.execute("UPDATE answers SET round = ? WHERE number > ?", (round, last))
    log = connection.execute("SELECT number, row, kind, label, by, at FROM answers ORDER BY number")
    write_words(connection, replay(records(AnswerRow, log)))
    final = connection.execute("SELECT value FROM facts WHERE name = 'final'").fetchone()
    finished = value_of(int, decoded(final[0]).get("round"), "final.round") if final else None
    connection.executemany(
        "INSERT INTO models (folder, round, kind) VALUES (?, ?, ?)",
        [(model.folder, model.round, model.kind) for model in _first_models(folder, len(seen), finished)],
    )


def _to_fifth(connection: Connection, digests: bool) -> None:
    """Answers know what stood before them. Where a digest is wrong, the log stays as it is, so that it is told."""
    _execute(connection, FIFTH)
    if not digests or not any(next(broken_links(connection, table), None) for table in LOG):
        log = connection.execute(f"SELECT {COLUMNS['answers']} FROM answers ORDER BY number")
        connection.executemany("UPDATE answers SET before = ? WHERE number = ?", places_before(records(AnswerRow, log)))
        for table in LOG:
            write_links(connection, table)
    if connection.execute("SELECT 1 FROM class_changes WHERE kind = 'merge' LIMIT 1").fetchone():
        write_words(connection, replay_log(connection))


def _first_models(folder: Path, fitted: int, finished: int | None) -> list[ModelRow]:
    """Where the first version kept its models: by name, with the number of finished rounds in a file.

    A name with .new was adopted after the commit; a killed process may not have come to that.
    """
    twofold = finished is not None or any((folder / name).is_dir() for name in ("probe", "probe.new"))
    models = []
    if place := _first_place(folder, "probe" if twofold else "model", fitted):
        models.append(ModelRow(place, fitted - 1, "round"))
    if finished is not None and (place := _first_place(folder, "model", finished)):
        models.append(ModelRow(place, finished, "final"))
    return models


def _first_place(folder: Path, name: str, fitted: int) -> str | None:
    mark = folder / f"{name}.new" / "round"
    if is_regular(mark) and mark.read_bytes() == str(fitted).encode():
        return f"{name}.new"
    return name if (folder / name).is_dir() else None


def _execute(connection: Connection, statements: str) -> None:
    """Runs statements inside the transaction that is open, which sqlite3's own executescript would end."""
    for statement in statements.split(";"):
        connection.execute(statement)
