"""Which words stand after some answers: the same rules when an answer comes and when a whole log is read again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from actune.core.labels import Labels
from actune.store.class_state import state_after
from actune.store.records import AnswerRow, ClassChange, Kind, Recorded, Said, Saved, Word

SKIPS = ("skip", "unsure")
ENDS = ("unskip", "clear", "retract")  # words that take something back, and say nothing themselves
TAKE_BACK = ("clear", "retract")
DECISION: Kind = "decide"


class Words:
    """The words that stand on some rows, changed by one answer after the other.

    The newest word on a row counts; a label ends a skip, and a skip takes a label back. Whoever repeats what stands
    there is remembered as having said so, and the word stays with the person who said it first. A word for a class that
    is asleep stands for nothing. Who retracts takes back what she said herself, and the newest word of the others
    counts again; `clear` takes back the words of all. A word that was applied to a near-duplicate gives way to the same
    one by whoever reads the text.

    A decision counts until it is taken back or another one comes: what others say later is remembered as theirs, and
    what the person who decided says changes the decision. Her own earlier word stays beside it.
    """

    def __init__(
        self,
        latest: Mapping[int, Word] | None = None,
        of_person: Mapping[tuple[int, str], Word] | None = None,
        merged: Mapping[int, int] | None = None,
        asleep: Collection[int] = (),
        applied: Collection[int] = (),
    ) -> None:
        self.latest = dict(latest or {})
        self.of_person = dict(of_person or {})
        self._people = {by for _, by in self.of_person}  # they are few, and the rows are many
        self.merged = dict(merged or {})  # the class that stands for a class number that was merged
        self.asleep = frozenset(asleep)
        self.applied = set(applied)  # the numbers of answers on texts that nobody has read
        self.new, self.repeated, self.skipped = 0, 0, 0
        self.changed: list[int] = []
        self.saved: list[Saved] = []

    def take(self, said: Said, number: int) -> bool:
        """Takes one answer; says whether there is anything to write down."""
        label = None if said.label is None else self.merged.get(said.label, said.label)
        word = Word(said.row, number, said.kind, label, said.by)
        before = self.latest.get(said.row)
        if said.applied is not None:
            if before is not None:
                self.repeated += 1
                return False  # somebody has said something about this text itself
            self.applied.add(number)
        if word.kind == DECISION:
            return self._decide(word)
        if before is not None and before.kind == DECISION:
            return self._change_decision(word, before) if word.by == before.by else self._say_beside(word)
        if word.kind == "retract":
            return self._retract(word)
        own = self.of_person.get((said.row, said.by))
        confirmed = before is not None and before.number in self.applied
        if (_same(before, word) and not confirmed) or _ends_nothing(word, before):
            self.repeated += 1
            if word.kind in ENDS or _same(own, word):
                return False
            self._remember(word)
            return True
        self.skipped += word.kind in SKIPS
        if word.kind == "clear":
            self._forget(said.row)
        self._remember(word)
        self._stand(said.row, None if word.kind in ENDS or word.label in self.asleep else word)
        return True

    def _decide(self, word: Word) -> bool:
        if _same(self.latest.get(word.row), word):
            self.repeated += 1
            return False
        self.skipped += word.label is None
        self._stand(word.row, self._newest(word.row) if word.label in self.asleep else word)
        return True

    def _change_decision(self, word: Word, decision: Word) -> bool:
        """What the person who decided says about the text afterwards."""
        if word.kind in TAKE_BACK or (word.kind == "unskip" and decision.label is None):
            self._stand(word.row, self._newest(word.row))
            return True
        if word.kind == "unskip":
            self.repeated += 1
            return False
        return self._decide(replace(word, kind=DECISION))

    def _say_beside(self, word: Word) -> bool:
        """What somebody says about a text on which another person has decided."""
        own = self.of_person.get((word.row, word.by))
        self.repeated += 1
        stands = own if own is None or own.kind not in ENDS else None
        if _same(stands, word) or (word.kind in ENDS and (stands is None or _ends_nothing(word, stands))):
            return False
        self._remember(word)
        return True

    def _retract(self, word: Word) -> bool:
        own, before = self.of_person.get((word.row, word.by)), self.latest.get(word.row)
        if own is None or own.kind in ENDS:
            self.repeated += 1
            return False
        self._remember(word)
        if before is not None and before.by == word.by:
            self._stand(word.row, self._newest(word.row))
        return True

    def _stand(self, row: int, word: Word | None) -> None:
        """Lets a word count on a row, or none."""
        before = self.latest.pop(row, None)
        labelled_before = before is not None and before.label is not None
        if labelled_before and (word is None or before is None or word.label != before.label):
            self.changed.append(row)
        if word is not None:
            self.latest[row] = word
            self.new += word.label is not None and not labelled_before

    def _newest(self, row: int) -> Word | None:
        """The newest word of a person on a row that says something."""
        found = (self.of_person.get((row, by)) for by in self._people)
        said = [word for word in found if word and word.kind not in ENDS and word.label not in self.asleep]
        return max(said, key=lambda word: word.number, default=None)

    def _remember(self, word: Word) -> None:
        self.of_person[word.row, word.by] = word
        self._people.add(word.by)

    def _forget(self, row: int) -> None:
        for by in self._people:
            self.of_person.pop((row, by), None)

    def recorded(self) -> Recorded:
        return Recorded(self.new, self.repeated, tuple(self.changed), self.skipped, tuple(self.saved))


def replay(answers: Iterable[AnswerRow], changes: Iterable[ClassChange] = ()) -> Words:
    """The words that stand after a log, as the classes are after these changes.

    When a change came does not matter: the log keeps the class that was said, and the changes say what it means now.
    """
    state = state_after(changes)
    words = Words(merged=state.merged, asleep=state.asleep)
    for answer in answers:
        said = Said(answer.row, answer.kind, answer.label, answer.by, applied=answer.applied)
        words.take(said, answer.number)
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
