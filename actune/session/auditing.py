"""The audit sample of a project: texts drawn at random, whose labels measure the model and train none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from actune.core.facts import AuditQuality, QuestionRow
from actune.core.streams import Streams
from actune.errors import DataError
from actune.session.record import RunRecord
from actune.store.records import WHOLE_RUN, Mark, no_marks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

TOOL = "actune"  # who draws the sample
LARGEST_SHARE = 5  # of the pool: one text of so many


@dataclass(frozen=True)
class AuditSample:
    """The sample as it stands."""

    ids: tuple[str, ...]
    released: bool  # since then its labels train like all others
    answered: int
    planned: int  # how many texts it has


class Auditing(RunRecord):
    """The verbs about the audit sample. Without one, which is the default, they change nothing.

    It is a random sample of the texts that came without a label, also of those that are added later, and never larger
    than it was asked for.
    """

    def draw_audit(self) -> int:
        """Draws the sample that the configuration asks for; at most a fifth of a small pool."""
        wanted = min(self.config.request.audit, len(self.pool) // LARGEST_SHARE)
        if not wanted or self.audit_rows:
            return 0
        known, luck = self.store.labels().of_row, self._luck(len(self.pool))
        free = [*islice((row for row in map(int, luck.argsort(kind="stable")) if row not in known), wanted + 1)]
        if not (rows := free[:wanted]):
            return 0
        share = Mark(WHOLE_RUN, "share", repr(float(luck[free[wanted]]) if len(free) > wanted else 1.0), TOOL)
        self.store.mark([share, *(Mark(row, "audit", str(place), TOOL) for place, row in enumerate(rows))])
        self.__dict__.pop("audit_rows", None)  # which were read before there were any
        return len(rows)

    def marks_of_more(self, count: int, known: Collection[int]) -> Callable[[int], Sequence[Mark]]:
        """How the sample stays a random one of all texts, and no larger than it was asked for, when texts are added.

        New texts enter with the probability that the first ones had. Where the sample grows too large, those of all its
        texts leave it that have the highest luck, and their answers train from then on. Those that are `known`, counted
        from the row of the first, come with a label. What the sample becomes follows from the seed and the rows,
        however many texts come at a time.
        """
        share = next(iter(self.store.marked("share")), None)
        if share is None or self.audit_released:
            return no_marks
        present = [mark.row for mark in self.store.marked("audit")]

        def marks(first: int) -> Sequence[Mark]:
            luck = self._luck(first + count)
            places = (luck[first:] < float(share.value)).nonzero()[0].tolist()
            entering = [first + place for place in places if place not in known]
            sample = {*sorted([*present, *entering], key=luck.__getitem__)[: self.config.request.audit]}
            leaving = [Mark(row, "audit", None, TOOL) for row in present if row not in sample]
            return [*leaving, *(Mark(row, "audit", str(row), TOOL) for row in entering if row in sample)]

        return marks

    def _luck(self, rows: int) -> npt.NDArray[np.float64]:
        """A random number for each row of the pool, the same however large the pool is."""
        found: npt.NDArray[np.float64] = Streams(self.config.request.seed).rng("audit").random(rows)
        return found

    @property
    def audit(self) -> AuditSample:
        """The audit sample; it is empty where the project has none."""
        answered = sum(word.label is not None for word in self.store.words_on(self.audit_rows))
        ids = tuple(self.pool.ids[row] for row in self.audit_rows)
        return AuditSample(ids, self.audit_released, answered, len(ids))

    def release_audit(self, by: str = "person", client: str | None = None) -> None:
        """Lets the next round train on the labels of the sample; from then on it measures nothing any more."""
        if not self.audit_rows:
            raise DataError("this project has no audit sample, so there is nothing to release")
        self.store.mark([Mark(WHOLE_RUN, "release", "1", by, client)])

    def audit_quality(self) -> AuditQuality | None:
        """How good the model of the newest round is on the audit sample, as its round measured it."""
        newest = next(reversed(self.rounds()), None)
        return newest.quality.audit if newest else None

    def with_audit(self, questions: Sequence[QuestionRow]) -> list[QuestionRow]:
        """Questions with those of the sample mixed in, one in `audit_every`, as long as some are not answered."""
        if not self.audit_rows or self.audit_released or not questions:
            return list(questions)
        known = {word.row for word in self.store.words_on(self.audit_rows)}
        known |= {question.row for question in self.store.questions(questions[0].round)}
        waiting = (row for row in self.audit_rows if row not in known)
        return list(_mixed(questions, waiting, self.config.request.audit_every))


def _mixed(questions: Sequence[QuestionRow], rows: Iterator[int], every: int) -> Iterator[QuestionRow]:
    for place, question in enumerate(questions, 1):
        yield question
        if place % (every - 1) == 0 and (row := next(rows, None)) is not None:
            yield QuestionRow(question.round, row, None, None)
