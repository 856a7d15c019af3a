"""Which words stand after some answers: the same rules when an answer comes and when a whole log is read again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from actune.core.labels import Labels
from actune.store.class_state import state_after
from actune.store.records import AnswerRow, ClassChange, Recorded, Said, Saved, Word

SKIPS = ("skip", "unsure")
ENDS = ("unskip", "clear")  # after which nothing stands on the row


class Words:
    """The words that stand on some rows, changed by one answer after the other.

    The newest word on a row counts; a label ends a skip, and a skip takes a label back. Whoever repeats what stands
    there is remembered as having said so, and the word stays with the person who said it first. A word for a class that
    is asleep stands for nothing.
    """

    def __init__(
        self,
        latest: Mapping[int, Word] | None = None,
        of_person: Mapping[tuple[int, str], Word] | None = None,
        merged: Mapping[int, int] | None = None,
        asleep: Collection[int] = (),
    ) -> None:
        self.latest = dict(latest or {})
        self.of_person = dict(of_person or {})
        self.merged = dict(merged or {})  # the class that stands for a class number that was merged
        self.asleep = frozenset(asleep)
        self.new, self.repeated, self.skipped = 0, 0, 0
        self.changed: list[int] = []
        self.saved: list[Saved] = []

    def take(self, said: Said, number: int) -> bool:
        """Takes one answer; says whether there is anything to write down."""
        label = None if said.label is None else self.merged.get(said.label, said.label)
        word = Word(said.row, number, said.kind, label, said.by)
        before, own = self.latest.get(said.row), self.of_person.get((said.row, said.by))
        if _same(before, word) or _ends_nothing(word, before):
            self.repeated += 1
            if word.kind in ENDS or _same(own, word):
                return False
            self.of_person[said.row, said.by] = word
            return True
        labelled_before = before is not None and before.kind == "label"
        if labelled_before:
            self.changed.append(said.row)
        self.new += word.kind == "label" and not labelled_before
        self.skipped += word.kind in SKIPS
        self.of_person[said.row, said.by] = word
        if word.kind in ENDS or word.label in self.asleep:
            self.latest.pop(said.row, None)
        else:
            self.latest[said.row] = word
        return True

    def recorded(self) -> Recorded:
        return Recorded(self.new, self.repeated, tuple(self.changed), self.skipped, tuple(self.saved))


def replay(answers: Iterable[AnswerRow], changes: Iterable[ClassChange] = ()) -> Words:
    """The words that stand after a log, as the classes are after these changes.

    When a change came does not matter: the log keeps the class that was said, and the changes say what it means now.
    """
    state = state_after(changes)
    words = Words(merged=state.merged, asleep=state.asleep)
    for answer in answers:
        words.take(Said(answer.row, answer.kind, answer.label, answer.by), answer.number)
    return words


def places_before(answers: Iterable[AnswerRow]) -> Iterator[tuple[int | None, int]]:
    """For every answer the number of the one whose word stood on its row, and its own number."""
    words = Words()
    for answer in answers:
        before = words.latest.get(answer.row)
        words.take(Said(answer.row, answer.kind, answer.label, answer.by), answer.number)
        yield (before.number if before else None), answer.number


def labels_of(latest: Iterable[Word], last_answer: int) -> Labels:
    """The words that stand on rows, as labels and skips."""
    of_row: dict[int, int] = {}
    skipped = []
    for word in latest:
        if word.label is None:
            skipped.append(word.row)
        else:
            of_row[word.row] = word.label
    return Labels(of_row, frozenset(skipped), last_answer)


def _ends_nothing(word: Word, before: Word | None) -> bool:
    """Whether there is no skip for an `unskip` to end, or nothing at all for a `clear` to take back."""
    if word.kind == "unskip":
        return before is None or before.kind not in SKIPS
    return word.kind == "clear" and before is None


def _same(one: Word | None, other: Word) -> bool:
    return one is not None and (one.kind, one.label) == (other.kind, other.label)
