"""Texts, classes and known labels: append-only, and a row is its position for ever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from actune.errors import DataError, nearest

UNKNOWN = -1  # a label that nobody has given


@dataclass(frozen=True)
class Pool:
    """Rows of text. Labels are class numbers inside (UNKNOWN where there is none), names at every boundary."""

    texts: tuple[str, ...]
    ids: tuple[str, ...]
    classes: tuple[str, ...]
    labels: tuple[int, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)  # what reading found, told to the user once

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row number by id."""
        return {id: row for row, id in enumerate(self.ids)}

    def class_number(self, name: str) -> int:
        """The number of a class name, or a sentence that suggests the nearest."""
        try:
            return self.classes.index(name)
        except ValueError:
            raise DataError(f"unknown label {name!r}: {nearest(name, self.classes)}") from None

    def known_rows(self) -> list[int]:
        """Rows whose label is known."""
        return [row for row, label in enumerate(self.labels) if label != UNKNOWN]

    def only(self, rows: Sequence[int]) -> Pool:
        """A new pool of these rows (a split is a pool of its own, not a renumbering of another)."""
        return replace(
            self,
            texts=tuple(self.texts[row] for row in rows),
            ids=tuple(self.ids[row] for row in rows),
            labels=tuple(self.labels[row] for row in rows),
        )

    def followed_by(self, more: Pool) -> Pool:
        """This pool with more rows behind it; old rows keep their numbers."""
        if taken := [id for id in more.ids if id in self.row_of]:
            raise DataError(f"{len(taken)} of the new ids are in the pool already, the first is {taken[0]!r}")
        return replace(
            self,
            texts=self.texts + more.texts,
            ids=self.ids + more.ids,
            labels=self.labels + more.labels,
        )


def pool_of(
    texts: Sequence[str],
    labels: Sequence[str | None] | None = None,
    ids: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    notes: Sequence[str] = (),
) -> Pool:
    """A pool from label names. Without `classes`, they are the names that occur, sorted."""
    names = [name or None for name in labels] if labels is not None else [None] * len(texts)
    known = tuple(classes) if classes is not None else tuple(sorted({name for name in names if name}))
    number = {name: index for index, name in enumerate(known)}
    if strange := sorted({name for name in names if name and name not in number}):
        raise DataError(f"unknown label {strange[0]!r}: {nearest(strange[0], known)}")
    ids = tuple(ids) if ids is not None else tuple(str(row) for row in range(len(texts)))
    if not len(texts) == len(ids) == len(names):
        raise DataError(f"{len(texts)} texts, {len(ids)} ids and {len(names)} labels do not belong together")
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(id for id in ids if id in seen or seen.add(id))  # type: ignore[func-returns-value]
        raise DataError(f"the id {twice!r} occurs more than once: ids name rows and must differ")
    return Pool(tuple(texts), ids, known, tuple(number[name] if name else UNKNOWN for name in names), tuple(notes))
