"""The classes of a project while it runs: declared later, renamed, merged, split, retired, and every change undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from actune.core.checks import checked_classes, told
from actune.core.matching import alike
from actune.core.printing import counted
from actune.errors import DataError, nearest
from actune.session.record import RunRecord
from actune.store.classes import ClassWriter

# what each kind of change is told beside its kind, and what is done
FIELDS = {
    "add": ("name",),
    "rename": ("old", "new"),
    "merge": ("old", "into"),
    "retire": ("name",),
    "restore": ("name",),
    "split": ("old", "into"),
    "describe": ("name", "description"),
}
UNDO = "undo"


@dataclass(frozen=True)
class ClassFacts:
    """One class as people see it."""

    name: str
    description: str
    answers: int  # texts that have it now
    retired: bool


@dataclass(frozen=True)
class Preview:
    """What a change of the classes does to the answers."""

    answers_moved: int  # texts whose class becomes another one
    texts_reopened: int  # texts that lose their answer
    sentence: str


class ClassVerbs(RunRecord):
    """The verbs about classes. A change is a mapping with its `kind` and the fields of `FIELDS`."""

    def classes(self) -> list[ClassFacts]:
        """The classes that a text can be given, in their order, and after them the retired ones."""
        state, counts = self.store.class_state(), self.store.counts().of_class
        if not state.names:  # of an earlier version, which declared none in its database
            return [ClassFacts(name, "", counts.get(place, 0), False) for place, name in enumerate(self.pool.classes)]
        numbers = sorted(state.named, key=lambda number: (number in state.retired, number))
        return [
            ClassFacts(
                state.names[number],
                state.descriptions.get(number, ""),
                counts.get(number, 0),
                number in state.retired,
            )
            for number in numbers
        ]

    def declare_classes(
        self, names: Iterable[str] | Mapping[str, str], by: str = "person", client: str | None = None
    ) -> None:
        """The first classes of a project that began without any; a mapping has a description for each."""
        names = checked_classes(list(names)) if not isinstance(names, Mapping) else {**names}
        if len(names) < 2:
            raise DataError(f"a classifier needs at least two classes, not {len(names)}: name more of them")
        if twins := alike(checked_classes(list(names))):
            one, other = twins[0][:2]
            raise DataError(f"the classes {one!r} and {other!r} are too much alike: rename one of them")

        def declare(writer: ClassWriter) -> None:
            for name in names:
                writer.add(name)
            if isinstance(names, Mapping):
                for name, description in names.items():
                    if description:
                        writer.describe(name, description)

        self.store.declare(by, client, declare)
        self.refresh()

    def preview(self, change: Mapping[str, Any]) -> Preview:
        """What a change would do; the change `{"kind": "undo"}` is that of `undo_classes`."""
        self._declare_known()
        return self._preview(change)

    def change_classes(self, change: Mapping[str, Any], by: str = "person", client: str | None = None) -> Preview:
        """Changes the classes; gives what that did. The next round learns the new ones."""
        self._declare_known()
        found = None if self.store.knows_client(by, client) else self._preview(change)
        self.store.change_classes(by, client, _writing(change))
        self.refresh()
        return found or Preview(0, 0, "This change was made already.")

    def undo_classes(self, by: str = "person", client: str | None = None) -> Preview | None:
        """Takes back the newest change of the classes that was not taken back yet; None where there is none."""
        if not self.store.knows_client(by, client) and not self.store.can_undo_classes():
            return None
        return self.change_classes({"kind": UNDO}, by, client)

    def _declare_known(self) -> None:
        """Classes of an earlier version become declared ones, so that they can be changed."""
        if self.pool.classes:
            self.store.declare_classes(self.pool.classes, by="start")

    def _preview(self, change: Mapping[str, Any]) -> Preview:
        before, after = self.store.labels_if(_writing(change))
        moved = sum(label != before.get(row, label) for row, label in after.items())
        opened = len(before.keys() - after.keys())
        back = len(after.keys() - before.keys())
        return Preview(
            moved, opened, _sentence(change, moved, opened, back, _review(change, before, self.store.classes()))
        )


def _writing(change: Mapping[str, Any]) -> Callable[[ClassWriter], None]:
    """A change as the store makes it; what is no change gets a sentence."""
    if not isinstance(change, Mapping):
        raise DataError(f"a change of the classes is a mapping with a kind, not {told(change)}")
    kind = change.get("kind")
    if kind == UNDO:
        return lambda writer: writer.undo()
    if not isinstance(kind, str) or kind not in FIELDS:
        raise DataError(f"unknown change of the classes {told(kind)}: {nearest(str(kind), FIELDS)}")
    values = [_field(change, kind, name) for name in FIELDS[kind]]
    return lambda writer: getattr(writer, kind)(*values)


def _field(change: Mapping[str, Any], kind: str, name: str) -> Any:
    value = change.get(name)
    if kind == "split" and name == "into":
        return checked_classes(value)
    if not isinstance(value, str):
        raise DataError(f"the change {kind!r} needs {name!r}, the name of a class, not {told(value)}")
    return value if name == "description" else value.strip() or checked_classes([value])[0]


def _review(change: Mapping[str, Any], labels: Mapping[int, int], names: Mapping[int, str]) -> int:
    """How many texts a split gives for review."""
    if change.get("kind") != "split":
        return 0
    counts = Counter(labels.values())
    return sum(counts[number] for number, name in names.items() if name == change.get("old"))


def _sentence(change: Mapping[str, Any], moved: int, opened: int, back: int, review: int) -> str:
    parts = []
    if moved:
        parts.append(f"{counted(moved, 'answer')} {'moves' if moved == 1 else 'move'} to another class")
    if opened:
        parts.append(f"{counted(opened, 'text')} {'loses its' if opened == 1 else 'lose their'} answer")
    if back:
        parts.append(f"{counted(back, 'answer')} {'counts' if back == 1 else 'count'} again")
    if review:
        parts.append(f"{counted(review, 'text')} of {change.get('old')!r} will be asked about again")
    text = ", and ".join(parts) if parts else "no answer changes"
    return f"{text[0].upper()}{text[1:]}."
