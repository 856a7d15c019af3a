"""Which words stand after some answers: the same rules when an answer comes and when a whole log is read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from actune.core.labels import Labels
from actune.store.records import AnswerRow, ClassChange, Recorded, Said, Word


class Words:
    """The words that stand on some rows, changed by one answer after the other.

    The newest word on a row counts; a label ends a skip, and a skip takes a label back. Whoever repeats what stands
    there is remembered as having said so, and the word stays with the person who said it first.
    """

    def __init__(
        self,
        latest: Mapping[int, Word] | None = None,
        of_person: Mapping[tuple[int, str], Word] | None = None,
        merged: Mapping[int, int] | None = None,
    ) -> None:
        self.latest = dict(latest or {})
        self.of_person = dict(of_person or {})
        self.merged = dict(merged or {})  # the class that stands for a class number that was merged
        self.new, self.repeated, self.skipped = 0, 0, 0
        self.changed: list[int] = []

    def take(self, said: Said, number: int) -> bool:
        """Takes one answer; says whether there is anything to write down."""
        label = None if said.label is None else self.merged.get(said.label, said.label)
        word = Word(said.row, number, said.kind, label, said.by)
        before, own = self.latest.get(said.row), self.of_person.get((said.row, said.by))
        if _same(before, word) or (word.kind == "unskip" and (before is None or before.kind != "skip")):
            self.repeated += 1
            if word.kind == "unskip" or _same(own, word):
                return False
            self.of_person[said.row, said.by] = word
            return True
        labelled_before = before is not None and before.kind == "label"
        if labelled_before:
            self.changed.append(said.row)
        self.new += word.kind == "label" and not labelled_before
        self.skipped += word.kind == "skip"
        self.of_person[said.row, said.by] = word
        if word.kind == "unskip":
            del self.latest[said.row]
        else:
            self.latest[said.row] = word
        return True

    def merge(self, number: int, into: int) -> None:
        """Lets the words for one class stand for another."""
        self.merged = {old: into if new == number else new for old, new in self.merged.items()} | {number: into}
        self.latest = {row: self._moved(word) for row, word in self.latest.items()}
        self.of_person = {key: self._moved(word) for key, word in self.of_person.items()}

    def _moved(self, word: Word) -> Word:
        if word.label is None or word.label not in self.merged:
            return word
        return Word(word.row, word.number, word.kind, self.merged[word.label], word.by)

    def recorded(self) -> Recorded:
        return Recorded(self.new, self.repeated, tuple(self.changed), self.skipped)


def replay(answers: Iterable[AnswerRow], changes: Sequence[ClassChange] = ()) -> Words:
    """The words that stand after a log, with the changes of classes at the places where they came."""
    words, merges = Words(), [change for change in changes if change.kind == "merge"]
    for answer in answers:
        while merges and merges[0].after < answer.number:
            _merge(words, merges.pop(0))
        words.take(Said(answer.row, answer.kind, answer.label, answer.by), answer.number)
    for change in merges:
        _merge(words, change)
    return words


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


def _merge(words: Words, change: ClassChange) -> None:
    if change.into is not None:
        words.merge(change.class_number, change.into)


def _same(one: Word | None, other: Word) -> bool:
    return one is not None and (one.kind, one.label) == (other.kind, other.label)
