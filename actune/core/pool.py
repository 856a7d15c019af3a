"""Texts, classes and known labels: append-only, and a row is its position for ever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from actune.core.checks import checked_classes, checked_labels, checked_strings, told
from actune.core.matching import matcher
from actune.core.printing import counted
from actune.core.strings import Rows, Strings
from actune.errors import DataError, nearest

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

UNKNOWN = -1  # a label that nobody has given


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows of text. Labels are class numbers inside (UNKNOWN where there is none), names at every boundary.

    Every field with a value for each row is a column, so that a pool of millions is a few buffers. `pool_of` makes a
    pool from lists.
    """

    texts: Strings
    ids: Strings
    classes: tuple[str, ...]
    labels: npt.NDArray[np.int64]
    notes: tuple[str, ...] = ()  # what reading found, told to the user once; two pools may differ in it and be equal

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        labels = int((self.labels != UNKNOWN).sum())
        facts = (counted(len(self), "text"), counted(len(self.classes), "class", "classes"), counted(labels, "label"))
        return f"Pool({', '.join(facts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pool):
            return NotImplemented
        same = self.classes == other.classes and self.texts == other.texts and self.ids == other.ids
        return same and self.labels.tolist() == other.labels.tolist()

    @cached_property
    def row_of(self) -> Rows:
        """Row number by id."""
        return Rows(self.ids)

    def class_number(self, name: str) -> int:
        """The number of the class that a name means, or a sentence that suggests the nearest.

        Case and surrounding space do not matter where the class is clear without them.
        """
        meant = self._match(name) if isinstance(name, str) else None
        if meant is None:
            raise DataError(f"unknown label {told(name)}: {nearest(str(name), self.classes)}")
        return self.classes.index(meant)

    @cached_property
    def _match(self) -> Callable[[str], str | None]:
        return matcher(self.classes)

    def known_rows(self) -> list[int]:
        """Rows whose label is known."""
        return (self.labels != UNKNOWN).nonzero()[0].tolist()  # type: ignore[no-any-return]

    def only(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> Pool:
        """A new pool of these rows (a split is a pool of its own, not a renumbering of another)."""
        import numpy as np

        places = np.asarray(rows, np.int64)
        return replace(
            self, texts=self.texts.take(places), ids=self.ids.take(places), labels=as_labels(self.labels[places])
        )

    def after(self, count: int) -> Pool:
        """A new pool without the first rows, in the same memory."""
        return replace(self, texts=self.texts[count:], ids=self.ids[count:], labels=self.labels[count:])

    def followed_by(self, more: Pool) -> Pool:
        """This pool with more rows behind it; old rows keep their numbers."""
        import numpy as np

        if len(taken := np.flatnonzero(self.ids.rows_of(more.ids) >= 0)):
            first = more.ids[int(taken[0])]
            raise taken_ids(len(taken), first)
        return self.extended(more)

    def extended(self, more: Pool) -> Pool:
        """This pool with more rows behind it, whose ids are known to be new."""
        import numpy as np

        labels = as_labels(np.concatenate([self.labels, more.labels]))
        return replace(self, texts=self.texts + more.texts, ids=self.ids + more.ids, labels=labels)

    def unlabelled(self) -> Pool:
        """The same rows without their labels."""
        import numpy as np

        return replace(self, labels=as_labels(np.full(len(self), UNKNOWN, np.int64)))


@dataclass(frozen=True)
class Coded:
    """Label names by row, as numbers into a list of names; UNKNOWN where there is none."""

    names: tuple[str, ...]
    numbers: npt.NDArray[np.int64]

    def occurring(self) -> list[str]:
        """The names that some row has, sorted."""
        import numpy as np

        return sorted({self.names[number] for number in np.unique(self.numbers).tolist() if number != UNKNOWN})


def taken_ids(count: int, first: str) -> DataError:
    """What to say of new texts whose ids are in use."""
    return DataError(
        f"{count:,} of the new ids are already in the pool (the first is {first!r}): remove these rows, or give the "
        "texts other ids"
    )


def coded(names: Sequence[str | None]) -> Coded:
    """Label names as numbers; None and the empty string are no name."""
    number: dict[str, int] = {}
    numbers = [number.setdefault(name, len(number)) if name else UNKNOWN for name in names]
    return Coded(tuple(number), as_labels(numbers))


def as_labels(numbers: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Class numbers as a column that nobody can change by accident."""
    import numpy as np

    labels = np.asarray(numbers, np.int64).view()
    labels.flags.writeable = False
    return labels


def pool_of(
    texts: Sequence[str],
    labels: Sequence[str | None] | Coded | None = None,
    ids: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    notes: Sequence[str] = (),
) -> Pool:
    """A pool from label names. Without `classes`, they are the names that occur, sorted."""
    import numpy as np

    texts = checked_strings(texts, "text")
    if not len(texts):
        raise DataError("there are no texts: a pool needs at least one")
    if labels is None:
        labels = Coded((), np.full(len(texts), UNKNOWN))
    given = labels if isinstance(labels, Coded) else coded(checked_labels(labels))
    occurring = given.occurring()
    known = checked_classes(classes) if classes is not None else tuple(occurring)
    number = {name: index for index, name in enumerate(known)}
    if strange := [name for name in occurring if name not in number]:
        raise DataError(f"unknown label {strange[0]!r}: {nearest(strange[0], known)}")
    new_numbers = np.array([*(number.get(name, UNKNOWN) for name in given.names), UNKNOWN])  # the last is for UNKNOWN
    names = Strings.numbered(len(texts)) if ids is None else checked_strings(ids, "id")
    if not len(texts) == len(names) == len(given.numbers):
        raise DataError(
            f"there are {len(texts)} texts, {len(names)} ids and {len(given.numbers)} labels: give one id and one "
            "label (or None) per text"
        )
    if ids is not None and names.repeated()[0]:
        seen: set[str] = set()
        twice = next(id for id in names if id in seen or seen.add(id))  # type: ignore[func-returns-value]
        raise DataError(f"the id {twice!r} occurs more than once: every text needs a different id")
    return Pool(texts, names, known, as_labels(new_numbers[given.numbers]), tuple(notes))


def pool_of_numbers(texts: Sequence[str], ids: Sequence[str], classes: Sequence[str], labels: Sequence[int]) -> Pool:
    """A pool from class numbers, as a store gives them back; what was checked when it was made is not checked again."""
    return Pool(Strings.of(texts), Strings.of(ids), tuple(classes), as_labels(labels))
