"""What can be rebuilt of a run's database: derived tables from the log, and a new file from what can still be read."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from types import NoneType
from typing import Any

from actune.core.facts import FinalFacts, RoundFacts
from actune.core.files import SCRATCH, remove, sync_folder
from actune.core.places import inside, open_regular
from actune.core.printing import counted
from actune.core.shapes import WrongShape, row_checker
from actune.errors import RunFolderError
from actune.store.addresses import Schema, known_place
from actune.store.backups import backups_in
from actune.store.chain import COLUMNS, broken_links, write_links
from actune.store.class_state import state_after
from actune.store.classes import write_classes
from actune.store.clients import write_clients
from actune.store.connections import BESIDE, Connections, harden, sentences
from actune.store.database import Connection
from actune.store.marks import write_marked
from actune.store.protocol import EARLIER_FINALS, FINAL
from actune.store.reading import decoded, decoded_value
from actune.store.records import AnswerRow, Chunk, ClassChange, MarkRow, ModelRow
from actune.store.schema import LOG, changes_in, prepare, replay_log, write_words
from actune.store.store import DATABASE, Store
from actune.store.verifying import wrong_ids, wrong_tables

# the tables that nothing else can tell, with what their rows must be
KEPT: dict[str, tuple[str, type | None]] = {
    "texts": ("split, row, id, text, label", None),
    "answers": (COLUMNS["answers"], AnswerRow),
    "class_changes": (COLUMNS["class_changes"], None),
    "classes": ("number, name, merged_into", None),
    "marks": (COLUMNS["marks"], None),
    "queue": ("row, place, by", None),
    "chunks": ("file, first, rows, numbered, split, number, digest", Chunk),
    "ids": ("split, id, row", None),
    "models": ("folder, round, kind, digest", ModelRow),
    "questions": ("round, position, row, suggestion, confidence", None),
    "selections": ("round, facts", None),
    "rounds": ("round, facts", None),
    "facts": ("name, value", None),
}

# how many of the first columns of a table tell a row from all others, where a backup can fill a gap
KEYS = {"answers": 1, "class_changes": 1, "marks": 1, "chunks": 1, "texts": 2, "ids": 2, "questions": 2}
KEYS |= {"selections": 1, "rounds": 1, "facts": 1, "models": 1}
CHANGING = {"facts", "models"}  # the rows of all others are never changed


def is_readable(store: Store) -> bool:
    """Whether SQLite finds nothing wrong with a run's database, and what cannot be rebuilt makes sense."""
    reads = (store.answers, store.class_changes, store.classes, store.rounds, store.finals, store.questions)
    try:
        for read in (*reads, store.chunks, store.models):
            read()
        with store.connection() as connection:
            replay_log(connection)
        return not store.database_problems(1)
    except RunFolderError:
        return False


def recover(folder: Path, rows: int | None, classes: int) -> list[str]:
    """A new database of all that can be read and makes sense; the damaged one is kept. Says what was done and lost.

    `rows` is the length of the pool, where its texts are not in the folder, and `classes` how many there are.
    """
    if isinstance(database := known_place(folder), Schema):
        raise RunFolderError(
            f"{str(folder)!r} has tables in PostgreSQL that make no sense (schema {database.name}): restore them with "
            "pg_restore, then run `actune repair` again"
        )
    file = folder / DATABASE
    kept = _free(file, "damaged")
    with sentences(file), TemporaryDirectory(prefix="actune-") as place:
        for end in BESIDE:
            if (beside := file.with_name(file.name + end)).is_file():
                shutil.copy(beside, Path(place) / beside.name)
        found, lost = _read(Path(place) / DATABASE)
        lost += _fill_up(found, folder)
        if not any(found[table] for table in ("answers", "chunks", "texts", "rounds")):
            raise RunFolderError(f"nothing can be read from {str(file)!r}: restore it from a backup")
        if missing := _gaps(found["answers"]):
            lost.append(missing)
        if rows is None:
            ends = [first + length for _, first, length, _, split, *_ in found["chunks"] if split == "pool"]
            rows = max(ends, default=0) or len(found["texts"])
        classes = max([classes, *(row[2] + 1 for row in found["class_changes"] if row[1] == "add")])
        lost += _without_nonsense(found, rows, classes)
        lost += _cut_rounds(found)
        scratch = folder / f".{DATABASE}.{token_hex(8)}{SCRATCH}"
        try:
            _write(scratch, found)
            if was_there := file.is_file():
                shutil.copy(file, kept)
            scratch.replace(file)
        finally:
            for end in BESIDE:
                remove(scratch.with_name(scratch.name + end))
        for end in BESIDE[1:]:
            remove(file.with_name(file.name + end))
        sync_folder(folder)
    done = f"{file.name} was {'damaged' if was_there else 'missing'}: {counted(len(found['answers']), 'answer')} and "
    done += f"{counted(len(found['rounds']), 'round')} were read into a new one"
    return [done + (f", and the old one is kept as {kept.name}" if was_there else ""), *lost]


def rebuild(store: Store) -> list[str]:
    """Tables that follow from the log and from the texts, written anew; a copy of the database is made first."""
    with store.connection() as connection:
        tables = wrong_tables(connection)
        altered = {table: list(broken_links(connection, table)) for table in LOG}
    splits = wrong_ids(store)
    if not (tables or splits or any(altered.values())):
        return []
    copy = _free(store.folder / DATABASE, "before-repair")
    done = [f"a copy of the database was made first: {copy.name}"]
    with store.changing(copy) as connection:
        if tables:
            _write_derived(connection)
            done.append(f"{', '.join(tables)}: rebuilt from the log of answers")
        for split in splits:
            rows = [(split, id, row) for row, id in store.ids_in_files(split).items()]
            connection.execute("DELETE FROM ids WHERE split = ?", (split,))
            connection.executemany("INSERT INTO ids VALUES (?, ?, ?)", rows)
            done.append(f"the ids of {split}: rebuilt from the files of texts")
        for table, numbers in altered.items():
            if numbers:
                write_links(connection, table)
                said = ", ".join(map(str, numbers[:10])) + (" ..." if len(numbers) > 10 else "")
                done.append(
                    f"rows {said} of {table} are not as they were written; they are kept as they are: check them"
                )
    return done


def _read(file: Path) -> tuple[dict[str, list[tuple[Any, ...]]], list[str]]:
    """The rows of all tables that nothing else can tell, as far as they can be read, and what is missing."""
    found, lost = {}, []
    source = sqlite3.connect(file)
    harden(source)
    for table, (columns, kind) in KEPT.items():
        found[table], missing = _salvaged(source, table, columns, kind)
        lost += missing
    source.close()
    return found, lost


def _fill_up(found: dict[str, list[tuple[Any, ...]]], folder: Path) -> list[str]:
    """Adds what the newest sound backup has and the damaged file has no more."""
    for backup in backups_in(folder):
        with TemporaryDirectory(prefix="actune-") as place:
            copy = Path(place) / backup.name  # SQLite makes files beside the one that it opens
            try:
                with open_regular(backup, follow=False) as source, copy.open("wb") as target:
                    shutil.copyfileobj(source, target)
            except RunFolderError:
                continue
            kept, missing = _read(copy)
        if missing:
            continue
        kept["models"] = [row for row in kept["models"] if inside(folder, row[0]).is_dir()]
        done = []
        for table, width in KEYS.items():
            here, there = ({row[:width]: row for row in rows} for rows in (found[table], kept[table]))
            # a backup was whole when it was made: of a row that never changes it has the right form
            merged = there | here if table in CHANGING else here | there
            found[table] = sorted(merged.values()) if table in LOG else list(merged.values())
            if new := len(merged) - len(here):
                done.append(f"{counted(new, 'row')} of the table {table} came from the backup {backup.name}")
        return done
    return []


def _gaps(answers: list[tuple[Any, ...]]) -> str:
    """A sentence about answers that are nowhere any more."""
    last = max((row[0] for row in answers), default=0)
    return f"{counted(last - len(answers), 'answer')} of {last:,} are lost" if len(answers) < last else ""


def _salvaged(
    source: sqlite3.Connection, table: str, columns: str, kind: type | None
) -> tuple[list[tuple[Any, ...]], list[str]]:
    """The rows of a table from its beginning and from its end, as far as they can be read, and what is missing."""
    try:
        known = {row[1] for row in source.execute(f"PRAGMA table_info({table})")}
        keys = [
            row[1] for row in sorted(source.execute(f"PRAGMA table_info({table})"), key=lambda row: row[5]) if row[5]
        ]
    except sqlite3.DatabaseError:
        known, keys = set(), []
    if not known:
        return [], [f"the table {table} cannot be read"]
    chosen = ", ".join(name if name in known else f"NULL AS {name}" for name in columns.split(", "))
    rows: dict[tuple[Any, ...], None] = {}
    whole = False
    for direction in ("ASC", "DESC"):
        order = ", ".join(f"{key} {direction}" for key in keys)
        try:
            for row in source.execute(f"SELECT {chosen} FROM {table} ORDER BY {order}"):
                rows[row] = None
            whole = True
            break
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            continue
    right = row_checker(kind) if kind else lambda row: True
    good = [row for row in rows if right(row)]
    lost = [] if whole else [f"some rows of the table {table} cannot be read"]
    if len(good) < len(rows):
        lost.append(f"{counted(len(rows) - len(good), 'row')} of the table {table} made no sense and were left out")
    return sorted(good, key=repr) if table not in LOG else sorted(good), lost


def _without_nonsense(found: dict[str, list[tuple[Any, ...]]], rows: int, classes: int) -> list[str]:
    """Leaves out answers and questions about texts or classes that there are none of, and facts that are no JSON."""

    def is_answer(number: int, row: int, kind: str, label: int | None, *_: Any) -> bool:
        return number > 0 and 0 <= row < rows and (0 <= label < classes if label is not None else kind != "label")

    def is_question(round: Any, position: Any, row: Any, suggestion: Any, confidence: Any) -> bool:
        known = suggestion is None or (type(suggestion) is int and 0 <= suggestion < classes)
        sure = type(confidence) in (float, int, NoneType)
        return type(row) is int and 0 <= row < rows and known and sure

    def is_fact(name: Any, value: Any) -> bool:
        try:
            found = decoded_value(value)
            finals = [found] if name == FINAL else found if name == EARLIER_FINALS else []
            return all(FinalFacts.from_json(each) for each in finals)
        except (WrongShape, TypeError):
            return False

    lost = []
    checks: dict[str, Callable[..., bool]] = {
        "answers": is_answer,
        "questions": is_question,
        "facts": is_fact,
        "class_changes": lambda *values: _is(ClassChange, values[:10]),
        "marks": lambda *values: _is(MarkRow, values[:7]) and -1 <= values[1] < rows,
        "queue": lambda row, place, by: type(row) is int and 0 <= row < rows and type(by) is str,
    }
    for table, is_right in checks.items():
        good = [row for row in found[table] if is_right(*row)]
        if len(good) < len(found[table]):
            lost.append(f"{counted(len(found[table]) - len(good), 'row')} of the table {table} made no sense: left out")
        found[table] = good
    return lost


def _is(kind: type, values: tuple[Any, ...]) -> bool:
    return row_checker(kind)(values)


def _cut_rounds(found: dict[str, list[tuple[Any, ...]]]) -> list[str]:
    """Only rounds without a gap before them count; a later one is taken back, and `advance` makes it again."""
    facts = {row[0]: row for row in found["rounds"] if _is_round(*row)}
    finished = next(number for number in count() if number not in facts)
    lost = len(found["rounds"]) - finished
    found["rounds"] = [facts[number] for number in range(finished)]
    chosen = {row[0]: row for row in found["selections"]}
    selected = next(number for number in count() if number not in chosen or number > finished)
    found["selections"] = [chosen[number] for number in range(selected)]
    found["questions"] = [row for row in found["questions"] if isinstance(row[0], int) and row[0] < selected]
    found["models"] = [row for row in found["models"] if row[1] < finished + (row[2] == "final")]
    return [f"{counted(lost, 'round')} could not be read and were taken back"] if lost else []


def _is_round(number: Any, facts: Any) -> bool:
    try:
        return bool(RoundFacts.from_json(decoded(facts)).round == number)
    except WrongShape:
        return False


def _write(file: Path, found: dict[str, list[tuple[Any, ...]]]) -> None:
    connections = Connections(file, create=True)
    try:
        prepare(connections, create=True)
        with connections.writing() as connection:
            connection.execute("DELETE FROM models")  # which an earlier version would have had in this folder
            for table, (columns, _) in KEPT.items():
                marks = ", ".join("?" for _ in columns.split(", "))
                connection.executemany(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", found[table])
            for table in LOG:
                write_links(connection, table)
            _write_derived(connection)
    finally:
        connections.close()


def _write_derived(connection: Connection) -> None:
    """All tables that follow from the logs."""
    if changes := changes_in(connection):
        write_classes(connection, state_after(changes))
    write_words(connection, replay_log(connection))
    write_marked(connection)
    write_clients(connection)


def _free(file: Path, word: str) -> Path:
    return next(path for path in _numbered(file, word) if not path.exists() and not path.is_symlink())


def _numbered(file: Path, word: str) -> Iterator[Path]:
    return (file.with_name(f"{file.name}.{word}-{number}") for number in count(1))


def set_aside(file: Path) -> Path:
    """A damaged file under another name, which nothing reads."""
    return file.replace(_free(file, "damaged"))
