"""The classes that there are after some changes: a pure function of the log of changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from actune.core.shapes import WrongShape
from actune.store.records import ClassChange


@dataclass
class ClassState:
    """Names by number, and which of the classes no longer stand for themselves."""

    names: dict[int, str] = field(default_factory=dict)
    descriptions: dict[int, str] = field(default_factory=dict)
    merged: dict[int, int] = field(default_factory=dict)  # straight into the class that stands for it now
    retired: set[int] = field(default_factory=set)  # answers for them do not count until they are restored
    removed: set[int] = field(default_factory=set)  # whose adding was undone: as retired, but the name is free

    @property
    def live(self) -> dict[int, str]:
        """The classes that a text can be given."""
        return {number: name for number, name in self.named.items() if number not in self.retired}

    @property
    def named(self) -> dict[int, str]:
        """The classes whose names are taken: the live and the retired ones."""
        gone = self.merged.keys() | self.removed
        return {number: name for number, name in self.names.items() if number not in gone}

    @property
    def asleep(self) -> set[int]:
        """The classes whose answers do not count."""
        return self.retired | self.removed

    @property
    def all_names(self) -> tuple[str, ...]:
        """A name for every number there ever was, each different from the others."""
        named, found = self.named, []
        taken = set(named.values())
        for number, name in sorted(self.names.items()):
            free = name if number in named or name not in taken else f"{name} ({number})"
            taken.add(free)
            found.append(free)
        return tuple(found)


def state_after(changes: Iterable[ClassChange]) -> ClassState:
    """The classes after all of these changes."""
    state, merges = ClassState(), dict[int, int]()
    for change in changes:
        number = change.class_number
        if change.kind in ("add", "rename"):
            state.names[number] = change.name or ""
        elif change.kind == "describe":
            state.descriptions[number] = change.name or ""
        elif change.kind == "merge" and change.into is not None:
            merges[number] = change.into
        elif change.kind == "unmerge":
            merges.pop(number, None)
        elif change.kind == "retire":
            state.retired.add(number)
        elif change.kind == "restore":
            state.retired.discard(number)
        elif change.kind == "remove":
            state.removed.add(number)
    state.merged = {number: _end(merges, number) for number in merges}
    return state


def _end(merges: dict[int, int], number: int) -> int:
    """Where a chain of merges ends."""
    for _ in merges:
        if number not in merges:
            return number
        number = merges[number]
    if number in merges:
        raise WrongShape("classes are merged in a circle")
    return number
