"""What all answers add up to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Labels:
    """The latest word on every answered row, and the number of the last answer that it holds."""

    of_row: dict[int, int]
    skipped: frozenset[int]
    last_answer: int

    def counts(self, classes: int) -> list[int]:
        """How many rows have each class."""
        found = Counter(self.of_row.values())
        return [found[number] for number in range(classes)]
