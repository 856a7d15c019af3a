"""How far a grid is: how many of its cells are finished, and which are not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from actune.bench.grid import Point


@dataclass(frozen=True)
class GridProgress:
    """The cells of a whole grid, whichever of them were chosen to run."""

    finished: int
    unfinished: tuple[Point, ...] = ()
    known: bool = True  # whether the grid itself is at hand; without it only what was planned is

    @property
    def cells(self) -> int:
        return self.finished + len(self.unfinished)

    @property
    def complete(self) -> bool:
        return self.known and not self.unfinished

    @property
    def sentence(self) -> str:
        word = "cell" if self.cells == 1 else "cells"
        told = f"{self.finished:,} of {self.cells:,} {word} finished"
        if self.complete or self.unfinished:
            return f"{told}: the grid is {'complete' if self.complete else 'not complete'}"
        return f"{told}: there may be more, because there is no readable grid.toml"

    @property
    def by_task(self) -> str:
        """How many cells of each task are not finished."""
        counts = Counter(point.task for point in self.unfinished)
        return ", ".join(f"{task} {count:,}" for task, count in counts.items())
