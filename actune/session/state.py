"""What the answers add up to: the label of each row, and the rows that people skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from actune.session.database import AnswerRow


@dataclass(frozen=True)
class Labels:
    """The latest word on every answered row, and the number of the last answer it holds."""

    of_row: dict[int, int]
    skipped: frozenset[int]
    last_answer: int

    def counts(self, classes: int) -> list[int]:
        """How many rows have each class."""
        found = Counter(self.of_row.values())
        return [found[number] for number in range(classes)]


def add_up(answers: Iterable[AnswerRow]) -> Labels:
    """The newest answer of a row counts; a label ends a skip, a skip takes a label back."""
    of_row: dict[int, int] = {}
    skipped: set[int] = set()
    last = 0
    for answer in answers:
        last = answer.number
        if answer.kind == "label" and answer.label is not None:
            of_row[answer.row] = answer.label
            skipped.discard(answer.row)
        elif answer.kind == "skip":
            of_row.pop(answer.row, None)
            skipped.add(answer.row)
        else:
            skipped.discard(answer.row)
    return Labels(of_row, frozenset(skipped), last)
