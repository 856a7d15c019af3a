"""What all answers add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Labels:
    """The latest word on every answered row, and the number of the last answer that it holds."""

    of_row: dict[int, int]
    skipped: frozenset[int]
    last_answer: int

    def without(self, rows: Collection[int]) -> Labels:
        """The same without the labels of some rows, which count as skipped: nothing is asked or learnt about them."""
        gone = frozenset(rows)
        kept = {row: label for row, label in self.of_row.items() if row not in gone}
        return Labels(kept, self.skipped | gone, self.last_answer)

    def counts(self, classes: int) -> list[int]:
        """How many rows have each class."""
        found = Counter(self.of_row.values())
        return [found[number] for number in range(classes)]
