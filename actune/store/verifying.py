"""Everything in a run's folder but its configuration, checked: each problem is a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from actune.core.printing import counted
from actune.core.shapes import WrongShape
from actune.errors import ActuneError
from actune.store.chain import broken_links
from actune.store.class_state import state_after
from actune.store.database import Connection
from actune.store.files import NEWEST
from actune.store.links import stands_for
from actune.store.marks import marked_after
from actune.store.reading import records
from actune.store.records import MarkRow
from actune.store.schema import LOG, SKIPPED, VERSION, changes_in, replay_log
from actune.store.store import Store
from actune.store.words import Words

SHOWN = 5  # problems of one kind that are named, the rest is counted


def problems_of(store: Store) -> list[str]:
    """What is wrong with a store; nothing is changed."""
    checks: list[Callable[[Store], Iterator[str]]] = [
        _pages,
        _log,
        _derived,
        _ids,
        _records,
        _texts,
        _arrays,
        _models,
        _link,
        _places,
    ]
    found: list[str] = []
    for check in checks:
        try:
            found += check(store)
        except ActuneError as error:
            found.append(str(error))
    return list(dict.fromkeys(found))


def _pages(store: Store) -> Iterator[str]:
    for problem in store.database_problems(SHOWN):
        yield f"{_database(store)} is damaged: {' '.join(problem.split())}"


def _log(store: Store) -> Iterator[str]:
    if store.version() < VERSION:
        return
    with store.connection() as connection:
        for table in LOG:
            numbers = list(broken_links(connection, table))
            for number in numbers[:SHOWN]:
                yield f"row {number} of the table {table} in {_database(store)} is not as it was written"
            if len(numbers) > SHOWN:
                yield f"{counted(len(numbers) - SHOWN, 'more row')} of the table {table} are not as they were written"


def _derived(store: Store) -> Iterator[str]:
    with store.connection() as connection:
        for table in wrong_tables(connection):
            yield f"the table {table} in {_database(store)} does not follow from the log of {log_of(table)}"


def log_of(table: str) -> str:
    """What a derived table follows from."""
    return {"classes": "changes of classes", "marked": "marks"}.get(table, "answers")


def wrong_tables(connection: Connection) -> list[str]:
    """The derived tables that differ from a replay of the log."""
    words = replay_log(connection)
    wanted = rows_of(words)
    found = {
        "latest": set(connection.execute("SELECT row, number, kind, label, by FROM latest")),
        "words": set(connection.execute("SELECT row, number, kind, label, by FROM words")),
        "counts": set(connection.execute("SELECT label, rows FROM counts WHERE rows <> 0")),
        "marked": set(connection.execute("SELECT kind, row, by, number, value, at FROM marked")),
    }
    log = connection.execute("SELECT number, row, kind, value, by, at, after FROM marks ORDER BY number")
    wanted["marked"] = marked_after(records(MarkRow, log))
    if changes := changes_in(connection):
        state = state_after(changes)
        found["classes"] = set(connection.execute("SELECT number, name, merged_into FROM classes"))
        wanted["classes"] = {(number, name, state.merged.get(number)) for number, name in state.names.items()}
    return [table for table, rows in found.items() if rows != wanted[table]]


def rows_of(words: Words) -> dict[str, set[tuple[object, ...]]]:
    """The derived tables as a replay has them."""
    counts: dict[int, int] = {}
    for word in words.latest.values():
        number = SKIPPED if word.label is None else word.label
        counts[number] = counts.get(number, 0) + 1
    return {
        "latest": {(word.row, word.number, word.kind, word.label, word.by) for word in words.latest.values()},
        "words": {(word.row, word.number, word.kind, word.label, word.by) for word in words.of_person.values()},
        "counts": set(counts.items()),
    }


def _ids(store: Store) -> Iterator[str]:
    for split in wrong_ids(store):
        yield f"the ids of {split} in {_database(store)} are not those in the files of texts"


def wrong_ids(store: Store) -> list[str]:
    """The splits whose table of ids does not name the rows of their files."""
    return [split for split in ("pool", "dev", "test") if store.ids_in_database(split) != store.ids_in_files(split)]


def _records(store: Store) -> Iterator[str]:
    """What reading checks by itself."""
    reads: list[Callable[[], object]] = [store.rounds, store.finals, store.questions, store.labels, store.answers]
    for read in (*reads, store.latest, store.counts, store.leases, store.classes, store.class_changes, store.mark_log):
        try:
            read()
        except ActuneError as error:
            yield str(error)


def _texts(store: Store) -> Iterator[str]:
    store.check_texts()
    for split in ("pool", "dev", "test"):
        if store.text_count(split):
            pool = store.texts(split, ["?"] * store.classes_expected if store.classes_expected else ())
            for part in (pool.ids, pool.texts):
                try:
                    for _ in part:
                        pass
                except (UnicodeDecodeError, WrongShape):
                    yield f"the texts of {split} in {str(store.folder)!r} are no UTF-8: restore them from a backup"
    yield from ()


def _arrays(store: Store) -> Iterator[str]:
    for name in dict.fromkeys([*store.array_names(), *needed_arrays(store)]):
        try:
            store.load_arrays(name)
        except ActuneError as error:
            yield str(error)


def needed_arrays(store: Store) -> list[str]:
    """The arrays without which the next round cannot be trained."""
    selected = store.selection_count()
    if selected < 2 or selected == store.round_count():
        return []
    return store.selected_arrays(selected - 1) or [f"select-{selected - 1:03d}"]


def _models(store: Store) -> Iterator[str]:
    for model in store.models():
        try:
            if not (folder := store.place_of(model)).is_dir():
                todo = f"run `actune repair {store.folder}`, or restore a backup"
                yield f"the model in {str(folder)!r} is missing: {todo}"
            else:
                store.check_model(folder)
        except ActuneError as error:
            yield str(error)


def _link(store: Store) -> Iterator[str]:
    name, newest = store.folder / NEWEST, store.newest_model()
    if name.is_symlink() and (newest is None or stands_for(name) != newest.relative_to(store.folder).as_posix()):
        yield f"the link {str(name)!r} leads to {stands_for(name)!r}, which is not the model in use"


def _places(store: Store) -> Iterator[str]:
    for path in sorted(store.folder.rglob("*")):
        if path.is_symlink() and path != store.folder / NEWEST:
            yield f"{str(path)!r} is a link, which may lead out of the folder: replace it by a copy"


def _database(store: Store) -> str:
    return repr(store.database)
