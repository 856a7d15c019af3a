"""Changes of a run's classes in SQLite: an event for each, and the classes that there are after all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import NoneType

from actune.core.shapes import WrongShape
from actune.errors import DataError, nearest
from actune.store.chain import last_link, link, now
from actune.store.class_state import ClassState, state_after
from actune.store.clients import is_known, remember
from actune.store.database import Connection, Database
from actune.store.marks import write_marks
from actune.store.records import ChangeKind, ClassChange, Mark
from actune.store.schema import changes_in, last_answer, replay_log, write_words

CHANGE = "number, kind, class, name, target, after, by, at, step, undoes, client"
MOVING = ("merge", "unmerge", "retire", "restore", "remove")  # changes after which other words stand
# what takes a change back; the other kinds need none of their own
INVERSE: dict[ChangeKind, ChangeKind] = {
    "add": "remove",
    "merge": "unmerge",
    "retire": "restore",
    "restore": "retire",
    "rename": "rename",
}


class SQLClasses:
    """The verbs about classes. The number of a class is its place for ever, as that of a text is its row."""

    _connections: Database

    def declare_classes(self, names: Sequence[str], by: str) -> None:
        with self._connections.writing() as connection:
            if not connection.execute("SELECT 1 FROM classes LIMIT 1").fetchone():
                writer = ClassWriter(connection, by)
                writer.add_all(names)
                write_classes(connection, writer.state)

    def describe_class(self, name: str, description: str, by: str) -> None:
        self._step(by, None, lambda writer: writer.describe(name, description))

    def add_class(self, name: str, by: str, client: str | None = None) -> int:
        self._step(by, client, lambda writer: writer.add(name))
        return next(number for number, known in self.classes().items() if known == name)

    def rename_class(self, old: str, new: str, by: str, client: str | None = None) -> None:
        self._step(by, client, lambda writer: writer.rename(old, new))

    def merge_classes(self, old: str, into: str, by: str, client: str | None = None) -> None:
        self._step(by, client, lambda writer: writer.merge(old, into))

    def retire_class(self, name: str, by: str, client: str | None = None) -> None:
        self._step(by, client, lambda writer: writer.retire(name))

    def restore_class(self, name: str, by: str, client: str | None = None) -> None:
        self._step(by, client, lambda writer: writer.restore(name))

    def split_class(self, old: str, into: Sequence[str], by: str, client: str | None = None) -> None:
        self._step(by, client, lambda writer: writer.split(old, into))

    def undo_classes(self, by: str, client: str | None = None) -> None:
        self._step(by, client, lambda writer: writer.undo())

    def change_classes(self, by: str, client: str | None, change: Callable[[ClassWriter], None]) -> None:
        """Any change, made by the verbs of a writer in one transaction."""
        self._step(by, client, change)

    def declare(self, by: str, client: str | None, change: Callable[[ClassWriter], None]) -> None:
        """The first classes with their descriptions; two people cannot both declare them."""

        def first(writer: ClassWriter) -> None:
            if writer.known:
                raise DataError("this project has classes already: add, rename or merge them one by one")
            change(writer)

        self._step(by, client, first)

    def knows_client(self, by: str, client: str | None) -> bool:
        """Whether a person has sent something under this id before."""
        with self._connections.reading() as connection:
            return is_known(connection, by, client)

    def can_undo_classes(self) -> bool:
        """Whether there is a change that was not taken back yet."""
        changes = self.class_changes()
        undone = {change.undoes for change in changes}
        return any(c.step is not None and c.undoes is None and c.step not in undone for c in changes)

    def classes(self) -> dict[int, str]:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT number, name, merged_into, retired FROM classes ORDER BY number")
            rows = found.fetchall()
            if not all(type(name) is str and type(into) in (int, NoneType) for _, name, into, _ in rows):
                raise WrongShape("a class has no name, or is merged into none")
        return {number: name for number, name, into, retired in rows if into is None and not retired}

    def class_state(self) -> ClassState:
        with self._connections.reading() as connection:
            return _state(connection)

    def class_changes(self) -> list[ClassChange]:
        with self._connections.reading() as connection:
            return changes_in(connection)

    def class_change_count(self) -> int:
        with self._connections.reading() as connection:
            (count,) = connection.execute("SELECT coalesce(max(number), 0) FROM class_changes").fetchone()
            return int(count)

    def labels_if(self, change: Callable[[ClassWriter], None]) -> tuple[dict[int, int], dict[int, int]]:
        """The labels that stand now, and those that would stand after a change, which is not made."""
        with self._connections.reading() as connection:
            before = changes_in(connection)
            writer = ClassWriter(connection, "preview", pretends=True)
            change(writer)
            found = [replay_log(connection, changes) for changes in (before, [*before, *writer.changes])]
        one, other = ({row: w.label for row, w in each.latest.items() if w.label is not None} for each in found)
        return one, other

    def _step(self, by: str, client: str | None, change: Callable[[ClassWriter], None]) -> None:
        """What a person does to the classes at once; the same client id a second time does nothing."""
        with self._connections.writing() as connection:
            if is_known(connection, by, client):
                return
            writer = ClassWriter(connection, by, client)
            change(writer)
            if writer.changes:
                write_classes(connection, writer.state)
            if any(made.kind in MOVING for made in writer.changes):
                write_words(connection, replay_log(connection))
            if writer.changes:
                remember(connection, by, client, "class_changes", writer.changes[0].number)


class ClassWriter:
    """Checks changes and appends them, inside the transaction that is open; one that `pretends` only collects them."""

    def __init__(self, connection: Connection, by: str, client: str | None = None, pretends: bool = False) -> None:
        self.connection, self.by, self.client, self.pretends = connection, by, client, pretends
        self.changes: list[ClassChange] = []
        self.known = changes_in(connection)
        self.step: int | None = None
        self.undoes: int | None = None

    @property
    def state(self) -> ClassState:
        return state_after([*self.known, *self.changes])

    def add(self, name: str) -> None:
        self.add_all([name])

    def add_all(self, names: Sequence[str]) -> None:
        """Adds thousands of classes as fast as they can be written: the names that are taken are listed once."""
        state = self.state
        taken = {known: number for number, known in state.named.items()}
        for number, name in enumerate(names, len(state.names)):
            check_free(name, taken, state.retired)
            taken[name] = number
            self._append("add", number, name)

    def describe(self, name: str, description: str) -> None:
        self._append("describe", self._number(name), description)

    def rename(self, old: str, new: str) -> None:
        number, state = self._number(old), self.state
        check_free(new, {known: number for number, known in state.named.items()}, state.retired)
        self._append("rename", number, new)

    def merge(self, old: str, into: str) -> None:
        number, target = self._number(old), self._number(into)
        if number == target:
            raise DataError(f"the class {old!r} cannot be merged into itself: choose another class")
        self._append("merge", number, None, target)

    def retire(self, name: str) -> None:
        self._append("retire", self._number(name))

    def restore(self, name: str) -> None:
        state = self.state
        retired = {known: number for number, known in state.named.items() if number in state.retired}
        if name not in retired:
            raise DataError(f"{name!r} is no retired class: {nearest(name, retired) if retired else 'there is none'}")
        self._append("restore", retired[name])

    def split(self, old: str, into: Sequence[str]) -> None:
        """New classes beside the old one, whose texts are picked, so that they are asked about again."""
        number, new = self._number(old), [name for name in into if name != old]
        if not new:
            raise DataError(f"the class {old!r} can be split only into other classes: name at least one new class")
        self._append("split", number, old)
        self.add_all(new)
        self._pick(number, "1")

    def undo(self) -> None:
        """Takes back the newest step that was not taken back yet."""
        undone = {change.undoes for change in self.known if change.undoes is not None}
        steps = [c.step for c in self.known if c.step is not None and c.undoes is None and c.step not in undone]
        if not steps:
            raise DataError("there is no change of the classes that could be undone")
        last = max(steps)
        before = state_after(change for change in self.known if change.number < last)
        self.undoes = last
        for change in reversed([change for change in self.known if change.step == last]):
            number = change.class_number
            name = before.names.get(number) if change.kind == "rename" else None
            if change.kind == "describe":
                self._append("describe", number, before.descriptions.get(number, ""))
            elif change.kind == "split":
                self._pick(number, None)
            elif change.kind in INVERSE:
                self._append(INVERSE[change.kind], number, name, change.into)

    def _append(self, kind: ChangeKind, number: int, name: str | None = None, target: int | None = None) -> None:
        place = (self.changes or self.known)[-1].number + 1 if self.changes or self.known else 1
        if self.step is None and self.by != "start":
            self.step = place
        last, at = last_answer(self.connection), now()
        change = ClassChange(place, kind, number, name, target, last, self.by, at, self.step, self.undoes)
        self.changes.append(change)
        if self.pretends:
            return
        values = (place, kind, number, name, target, last, self.by, at, self.step, self.undoes, self.client)
        digest = link(last_link(self.connection, "class_changes"), values)
        marks = "?, " * len(values)
        self.connection.execute(f"INSERT INTO class_changes ({CHANGE}, digest) VALUES ({marks}?)", (*values, digest))

    def _pick(self, number: int, value: str | None) -> None:
        """Picks the texts of a class, or takes that back."""
        if not self.pretends:
            rows = self.connection.execute("SELECT row FROM latest WHERE label = ? ORDER BY row", (number,)).fetchall()
            write_marks(self.connection, [Mark(row, "queue", value, self.by) for (row,) in rows])

    def _number(self, name: str) -> int:
        known = {known: number for number, known in self.state.live.items()}
        if name not in known:
            raise DataError(f"unknown label {name!r}: {nearest(name, known)}")
        return known[name]


def check_free(name: str, taken: Mapping[str, int], retired: Collection[int]) -> None:
    """Refuses a name that another class has."""
    if not name.strip():
        raise DataError("a class needs a name: give one that is not empty")
    if name in taken:
        was_retired = taken[name] in retired
        todo = "restore it" if was_retired else "choose another name"
        raise DataError(f"there is {'a retired class' if was_retired else 'already a class'} {name!r}: {todo}")


def write_classes(connection: Connection, state: ClassState) -> None:
    """The table of classes as it follows from the log of changes."""
    connection.execute("DELETE FROM classes")
    connection.executemany(
        "INSERT INTO classes (number, name, merged_into, retired) VALUES (?, ?, ?, ?)",
        [
            (number, name, state.merged.get(number), int(number in state.retired) + 2 * (number in state.removed))
            for number, name in sorted(state.names.items())
        ],
    )


def _state(connection: Connection) -> ClassState:
    return state_after(changes_in(connection))
