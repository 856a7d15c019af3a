"""How long cells will take: by what finished cells took, or by stated prices of training steps and reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from actune.bench.cells import Cell
from actune.bench.grid import Point
from actune.bench.results_table import SECONDS
from actune.bench.store import Results
from actune.models.learners import find_learner

COMPARABLE: tuple[Callable[[Point], Any], ...] = (
    lambda point: (point.task, point.method, point.model, point.learner),
    lambda point: (point.task, point.model, point.learner),
    lambda point: (point.model, point.learner),
)


class Estimates:
    """Seconds of cells, from the finished ones of some results where there are any."""

    def __init__(self, cells: Iterable[Cell], results: Results | None) -> None:
        prices = {cell.key: _price(cell) for cell in cells}
        self.ratios: dict[Any, list[float]] = {}  # of what cells took to what they were priced at
        if results is not None:
            for key in (key for key in results.finished() if key in prices):
                spent = sum(row[f"seconds_{phase}"] for row in results.rows(key) for phase in SECONDS)
                for alike in COMPARABLE:
                    self.ratios.setdefault(alike(results.cells[key]), []).append(spent / prices[key])

    def seconds(self, cell: Cell) -> float:
        """By cells of the same task and method, else of the same task, else of the same encoder, else by the price."""
        for alike in COMPARABLE:
            if found := self.ratios.get(alike(cell.point)):
                return _price(cell) * sum(found) / len(found)
        return _price(cell)

    def knows(self, cell: Cell) -> bool:
        """Whether a finished cell is comparable."""
        return any(alike(cell.point) in self.ratios for alike in COMPARABLE)

    @property
    def basis(self) -> str:
        """What the numbers go by."""
        if self.ratios:
            return "estimated from the finished cells"
        return "estimated from step and reading times on other machines; finished cells make it more exact"


def _price(cell: Cell) -> float:
    step, text = find_learner(cell.point.learner).price_on(cell.device.kind)
    return cell.steps * step + cell.reads * text
