"""Texts that several people answer: which ones, how far the people agree, and who decides where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from actune.core.agreement import alpha_with_interval, cohens_kappa
from actune.core.dialogue import Answer
from actune.core.facts import Interval, QuestionRow
from actune.core.streams import Streams
from actune.session.auditing import TOOL, Auditing
from actune.session.remarks import Remarks
from actune.session.wording import Told
from actune.store.records import Mark, Word
from actune.store.words import DECISION, ENDS

STREAM = "overlap"


@dataclass(frozen=True)
class PairAgreement:
    """Two people who have labelled the same texts; kappa is None where all of these have one class."""

    people: tuple[str, str]
    texts: int
    kappa: float | None


@dataclass(frozen=True)
class Agreement:
    """How far people agree on the texts that were drawn for several of them, as their labels count today."""

    texts: int  # with labels of two people or more
    waiting: int  # texts that have an answer, and fewer than were planned
    alpha: Interval | None  # Krippendorff's, None while it cannot be told
    pairs: tuple[PairAgreement, ...]  # with Cohen's kappa
    open: int  # texts on which people disagree and nobody has decided


@dataclass(frozen=True)
class Opinion:
    """What one person said about a text, with her note on it."""

    by: str
    label: str
    note: str | None


@dataclass(frozen=True)
class Conflict:
    """A text that people gave different classes."""

    id: str
    text: str
    answers: tuple[Opinion, ...]
    notes: tuple[tuple[str, str], ...]  # of others: who wrote it, and what


class Overlapping(Auditing, Remarks):
    """The verbs about texts that several people answer. Without `--overlap`, which is the default, there are none."""

    def to_ask(self, questions: Sequence[QuestionRow]) -> list[QuestionRow]:
        """Questions as they are asked: with those of the audit sample, and some drawn for several people.

        A draw depends on the seed and on the row alone, so it does not matter which rows are asked about, or when.
        """
        found, request = self.with_audit(questions), self.config.request
        if request.overlap and found:
            rows = [question.row for question in found]
            draws = Streams(request.seed).rng(STREAM).random(max(rows) + 1)
            several = [row for row in rows if draws[row] < request.overlap]
            self.store.mark([Mark(row, "overlap", str(request.answers_each), TOOL) for row in several])
        return found

    def people_agreement(self) -> Agreement | None:
        """How far people agree; None in a project without overlap. A skip, or a class that is gone, is no label."""
        if not self.config.request.overlap:
            return None
        self.refresh()
        words, planned = self._words_of_shared(), self.config.request.answers_each
        labels = {row: {word.by: word.label for word in said if word.label is not None} for row, said in words.items()}
        decided = self._decided(words)
        texts = [each for each in labels.values() if len(each) > 1]
        waiting = sum(0 < len(said) < planned for row, said in words.items() if row not in decided)
        alpha = alpha_with_interval(texts, Streams(self.config.request.seed).rng("agreement"))
        return Agreement(len(texts), waiting, alpha, pairs_of(texts), len(self._conflicts(words, decided)))

    def conflicts(self, limit: int = 50) -> tuple[int, list[Conflict]]:
        """How many texts people gave different classes while nobody has decided, and the first of them."""
        self.refresh()
        words = self._words_of_shared()
        rows = self._conflicts(words, self._decided(words))
        return len(rows), [self._conflict(row, words[row]) for row in rows[:limit]]

    def decide(self, id: str, label: str | None, by: str, client: str | None = None) -> Told:
        """Says which class counts on a text, whatever others say; without a label the text is left out."""
        return self.tell([Answer(id, label, by=by, client=client, decision=True)])

    def for_several(self, ids: Iterable[str]) -> frozenset[str]:
        """Those of these texts that are drawn for several people."""
        if not self.config.request.overlap:
            return frozenset()
        row_of = dict(zip(found := list(dict.fromkeys(ids)), self._rows(found), strict=True))
        shared = self.shared_rows(sorted(row_of.values()))
        return frozenset(id for id, row in row_of.items() if row in shared)

    def _words_of_shared(self) -> dict[int, list[Word]]:
        """What stands of each person on each of these texts."""
        found: dict[int, list[Word]] = {mark.row: [] for mark in self.store.marked("overlap")}
        for word in self.store.words_of_all([*found]):
            if word.kind not in ENDS and (word.label is None or self.meaning(word.label) is not None):
                found[word.row].append(word)
        return {row: sorted(said, key=lambda word: word.number) for row, said in found.items()}

    def _decided(self, words: Mapping[int, Sequence[Word]]) -> set[int]:
        return {word.row for word in self.store.words_on([*words]) if word.kind == DECISION}

    def _conflicts(self, words: Mapping[int, Sequence[Word]], decided: set[int]) -> list[int]:
        def differ(said: Sequence[Word]) -> bool:
            return len({word.label for word in said if word.label is not None}) > 1

        return [row for row, said in words.items() if row not in decided and differ(said)]

    def _conflict(self, row: int, words: Sequence[Word]) -> Conflict:
        id = self.pool.ids[row]
        notes = {remark.by: remark.note for remark in self.remarks([id]) if remark.note}
        answers = [
            Opinion(w.by, self.pool.classes[w.label], notes.pop(w.by, None)) for w in words if w.label is not None
        ]
        return Conflict(id, self.pool.texts[row], tuple(answers), tuple(notes.items()))


def pairs_of(texts: Sequence[Mapping[str, int]]) -> tuple[PairAgreement, ...]:
    """Every two people who share a text."""
    shared: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for labels in texts:
        for one, other in combinations(sorted(labels), 2):
            shared.setdefault((one, other), []).append((labels[one], labels[other]))
    return tuple(PairAgreement(pair, len(both), cohens_kappa(both)) for pair, both in sorted(shared.items()))
