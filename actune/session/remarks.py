"""What stands on texts and what was said about them: words, the log, notes and flags, picked texts, rejections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from actune.core.checks import checked_count, several, told
from actune.core.strings import is_text
from actune.errors import DataError
from actune.session.record import RunRecord
from actune.session.wording import Standing
from actune.store.records import AnswerRow, Kind, Mark, MarkKind, Word
from actune.store.words import ENDS

LONGEST_NOTE = 10_000  # characters


@dataclass(frozen=True)
class WordFacts:
    """What one person said last about a text."""

    kind: Kind
    label: str | None
    by: str
    number: int


@dataclass(frozen=True)
class HistoryRow:
    """One answer of the log, with what stood on the text before it."""

    number: int
    id: str
    text: str
    kind: Kind
    label: str | None
    by: str
    at: str
    seconds: float | None
    before: Standing | None
    applied: bool = False  # to a near-duplicate of a text that was read


@dataclass(frozen=True)
class Remark:
    """What one person noted about a text."""

    id: str
    note: str | None
    flag: bool
    by: str
    at: str


class Remarks(RunRecord):
    """The verbs about single texts; each is a cheap read, or one durable write."""

    def words(self, id: str) -> list[WordFacts]:
        """The last word of each person on a text, in the order of the answers."""
        (row,) = self._rows([id])
        self.refresh()
        return [self._told(word) for word in self.store.words(row)]

    def standing(self, id: str) -> WordFacts | None:
        """The word that counts on a text."""
        (row,) = self._rows([id])
        self.refresh()
        word = self.store.word_on(row)
        return self._told(word) if word else None

    def history(
        self,
        by: str | None = None,
        limit: int = 50,
        before: int | None = None,
        search: str | None = None,
        label: str | None = None,
        reader: str | None = None,
    ) -> list[HistoryRow]:
        """The newest answers, newest first: of one person, of one label, about texts with some words in them.

        `before` is the number of an answer, below which the list goes on. Of texts that several people answer, a
        `reader` gets only what she said herself.
        """
        limit = checked_count(limit, "limit") or 50
        self.refresh()
        number = None if label is None else self.pool.class_number(label)
        if not search:
            return self._history(self.store.history(limit, before, by, None, number, reader))
        found: list[HistoryRow] = []
        wanted = search.casefold()
        while len(found) < limit and (rows := self.store.history(500, before, by, None, number, reader)):
            before = rows[-1].number
            matching = [row for row in rows if wanted in self.pool.texts[row.row].casefold()]
            found += self._history(matching[: limit - len(found)])
        return found

    def _history(self, rows: Sequence[AnswerRow]) -> list[HistoryRow]:
        stood = self.store.said([row.before for row in rows if row.before is not None])
        return [
            HistoryRow(
                row.number,
                self.pool.ids[row.row],
                self.pool.texts[row.row],
                row.kind,
                self._name(row.label),
                row.by,
                row.at,
                row.seconds,
                Standing(stood[row.before].kind, self._name(stood[row.before].label)) if row.before in stood else None,
                row.applied is not None,
            )
            for row in rows
        ]

    # notes and flags

    def remark(
        self,
        id: str,
        note: str | None = None,
        flag: bool | None = None,
        by: str = "person",
        client: str | None = None,
    ) -> None:
        """Notes something about a text, or flags it; an empty note and a false flag take that back."""
        if note is not None and (not is_text(note) or len(note) > LONGEST_NOTE):
            raise DataError(f"a note is a text of at most {LONGEST_NOTE:,} characters, not {told(note)}")
        (row,) = self._rows([id])
        marks = [] if note is None else [Mark(row, "note", note.strip() or None, by, client)]
        if flag is not None:
            marks.append(Mark(row, "flag", "1" if flag else None, by, client))
        self.store.mark(marks)

    def remarks(self, ids: Iterable[str] | None = None) -> list[Remark]:
        """The notes and flags that stand, one entry for each text and person, the oldest first."""
        rows = None if ids is None else self._rows(list(several(ids, "ids")))
        notes = {(mark.row, mark.by): mark for mark in self.store.marked("note", rows)}
        flags = {(mark.row, mark.by): mark for mark in self.store.marked("flag", rows)}
        self.refresh()
        newest = {
            key: max((m for m in (notes.get(key), flags.get(key)) if m), key=lambda m: m.number)
            for key in notes | flags
        }
        return [
            Remark(
                self.pool.ids[row], notes[row, by].value if (row, by) in notes else None, (row, by) in flags, by, m.at
            )
            for (row, by), m in sorted(newest.items(), key=lambda item: item[1].number)
        ]

    # texts that people pick, and pseudo-labels that they reject

    def queue(self, ids: Iterable[str], by: str = "person", client: str | None = None) -> int:
        """Lets these texts be asked about first, also those that have an answer; gives how many were not picked yet."""
        return self._mark("queue", ids, "1", by, client)

    def unqueue(self, ids: Iterable[str], by: str = "person", client: str | None = None) -> int:
        """Takes back that texts were picked."""
        return self._mark("queue", ids, None, by, client)

    def queued(self) -> list[str]:
        """The texts that somebody picked and nobody has answered since, the first picked first."""
        rows = self.store.queued()
        self.refresh()
        return [self.pool.ids[row] for row in rows]

    def reject_pseudo(self, ids: Iterable[str], by: str = "person", client: str | None = None) -> int:
        """Lets these texts get no pseudo-label any more."""
        return self._mark("reject", ids, "1", by, client)

    def unreject_pseudo(self, ids: Iterable[str], by: str = "person", client: str | None = None) -> int:
        """Takes back a rejection."""
        return self._mark("reject", ids, None, by, client)

    def rejected_pseudo(self) -> list[str]:
        """The texts that may get no pseudo-label."""
        rows = sorted(self.rejected_rows())
        self.refresh()
        return [self.pool.ids[row] for row in rows]

    def _mark(self, kind: MarkKind, ids: Iterable[str], value: str | None, by: str, client: str | None) -> int:
        rows = self._rows(list(several(ids, "ids")))
        return self.store.mark([Mark(row, kind, value, by, client) for row in dict.fromkeys(rows)])

    def held_by_others(self, ids: Iterable[str], by: str) -> set[str]:
        """Those of these texts on which other people work now, as many as are to answer them."""
        ids = list(ids)
        row_of = dict(zip(ids, self._rows(ids), strict=True))
        people: dict[int, set[str]] = {}
        for lease in self.store.leases():
            people.setdefault(lease.row, set()).add(lease.by)
        held = {row for row in row_of.values() if people.get(row) and by not in people[row]}
        shared = self.shared_rows(held) if held else frozenset()
        for word in self.store.words_of_all(sorted(shared)):
            if word.kind not in ENDS:
                people[word.row].add(word.by)
        most = self.config.request.answers_each
        full = {row for row in held if len(people[row] - {by}) >= (most if row in shared else 1)}
        return {id for id, row in row_of.items() if row in full and not (row in shared and by in people[row])}

    def _told(self, word: Word) -> WordFacts:
        return WordFacts(word.kind, self._name(word.label), word.by, word.number)

    def _name(self, number: int | None) -> str | None:
        """The name that a class has now; that of a retired one stays readable."""
        return None if number is None else self.pool.classes[self._state.merged.get(number, number)]
