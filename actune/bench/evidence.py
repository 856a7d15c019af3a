"""What a tidy table of results holds, as curves: one method on one task with a line for each seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from actune.bench.progress import GridProgress
from actune.bench.records import CellRecord
from actune.bench.statistics import area_under
from actune.core.settings import SYMBOLS
from actune.errors import RunFolderError

WEAK = "weak"  # how a variant names a start from votes of rules
FULL = "full"  # and training on every label of the pool
Measure = Literal["accuracy", "macro_f1", "pseudo_label_accuracy"]


class ResultsTable(Protocol):
    """A folder of results: its table, and what the models said about each test text."""

    @property
    def folder(self) -> Path: ...
    def table(self) -> Any:
        """A pandas.DataFrame with a line for each round of each cell."""

    def progress(self) -> GridProgress:
        """How far the whole grid is."""

    def predictions(self, cell: str) -> np.ndarray | None:
        """(rounds, texts), where they are at hand."""

    def truth(self, cell: str) -> np.ndarray | None:
        """(texts,), where it is at hand."""

    def record(self, cell: str) -> CellRecord | None:
        """All that is known of a finished cell, where there is more than its lines of the table."""


class Scene(NamedTuple):
    """Where methods are compared: a task, an encoder, a way of learning, a start."""

    task: str
    model: str
    learner: str
    start: str = ""  # or WEAK

    @property
    def shown(self) -> str:
        return f"{self.task} (weak start)" if self.start else self.task


class Key(NamedTuple):
    """Whose curves: a method in a scene, with what was changed of its settings."""

    scene: Scene
    method: str
    changes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Curves:
    """A number by labels, a line for each finished seed."""

    labels: tuple[int, ...]
    values: np.ndarray  # (seeds, labels)
    seeds: tuple[int, ...]
    unfinished: tuple[int, ...] = ()  # seeds that end early

    @property
    def mean(self) -> np.ndarray:
        return np.asarray(self.values.mean(0))

    @property
    def deviation(self) -> np.ndarray | None:
        return np.asarray(self.values.std(0, ddof=1)) if len(self.seeds) > 1 else None

    def at(self, labels: int) -> dict[int, float]:
        """The number of every seed at one count of labels."""
        column = self.values[:, self.labels.index(labels)]
        return dict(zip(self.seeds, map(float, column), strict=True))

    def areas(self) -> dict[int, float]:
        """The average over labels of every seed."""
        areas = [area_under(self.labels, line.tolist()) for line in self.values]
        return dict(zip(self.seeds, areas, strict=True))

    def of(self, seeds: Iterable[int]) -> Curves:
        """Some of its seeds, in this order."""
        chosen = tuple(seeds)
        return replace(self, values=self.values[[self.seeds.index(seed) for seed in chosen]], seeds=chosen)

    def within(self, low: float, high: float) -> Curves:
        """The part between two counts of labels, both included."""
        kept = [place for place, labels in enumerate(self.labels) if low <= labels <= high]
        return replace(self, labels=tuple(self.labels[place] for place in kept), values=self.values[:, kept])


class Evidence:
    """The curves of one table, and which cells they come from."""

    def __init__(self, results: ResultsTable) -> None:
        self.results = results
        self.table = results.table()
        if self.table.empty:
            raise RunFolderError(f"{str(results.folder)!r} has no finished run yet: start it with `actune bench run`")
        self.keys = _keys(self.table)

    @cached_property
    def accuracy(self) -> dict[Key, Curves]:
        return self._curves("accuracy")

    @cached_property
    def macro_f1(self) -> dict[Key, Curves]:
        return self._curves("macro_f1")

    @cached_property
    def pseudo_label_accuracy(self) -> dict[Key, Curves]:
        return self._curves("pseudo_label_accuracy")

    @cached_property
    def rounds(self) -> dict[tuple[Key, int, int], tuple[str, int]]:
        """The cell and the round of every method, seed and count of labels."""
        found: dict[tuple[Key, int, int], tuple[str, int]] = {}
        columns = (self.table[name] for name in ("seed", "labels", "cell", "round"))
        for key, seed, labels, cell, round in zip(self.keys, *columns, strict=True):
            found.setdefault((key, int(seed), int(labels)), (str(cell), int(round)))
        return found

    @cached_property
    def cells(self) -> dict[tuple[Key, int], str]:
        """The cell of every method and seed; of a run and a longer one the first."""
        found: dict[tuple[Key, int], str] = {}
        for (key, seed, _), (cell, _) in self.rounds.items():
            found.setdefault((key, seed), cell)
        return found

    @cached_property
    def scenes(self) -> list[Scene]:
        """Every scene, in the order of the table."""
        return list(dict.fromkeys(key.scene for key in self.keys))

    def main(self, task: str, start: str = "") -> Scene | None:
        """The scene that stands for a task: of several encoders and learners the one with the most cells."""
        cells = Counter(key.scene for key, _ in self.cells if (key.scene.task, key.scene.start) == (task, start))
        return max(sorted(cells), key=lambda scene: cells[scene], default=None)

    def methods(self, scene: Scene) -> list[str]:
        """Methods with plain settings, in the order of the table."""
        return list(dict.fromkeys(key.method for key in self.accuracy if key.scene == scene and not key.changes))

    def plain_curves(
        self, scene: Scene, methods: Sequence[str] | None = None, measure: Measure = "accuracy"
    ) -> dict[str, Curves]:
        """Curves of the methods with plain settings that a scene has, in this order; by default of all."""
        curves: dict[Key, Curves] = getattr(self, measure)
        wanted = self.methods(scene) if methods is None else methods
        return {method: curves[Key(scene, method)] for method in wanted if Key(scene, method) in curves}

    def seeds(self, scene: Scene) -> tuple[int, ...]:
        """Every seed that any method has there."""
        return tuple(sorted({seed for key, seed in self.cells if key.scene == scene}))

    def _curves(self, column: str) -> dict[Key, Curves]:
        lines: dict[Key, dict[int, dict[int, float]]] = {}
        parts = (self.table["seed"], self.table["labels"], self.table[column], self.table[column].notna())
        for key, seed, labels, value, known in zip(self.keys, *parts, strict=True):
            if known:
                lines.setdefault(key, {}).setdefault(int(seed), {}).setdefault(int(labels), float(value))
        return {key: _together(by_seed) for key, by_seed in lines.items()}


def parse(variant: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """A variant's start and its changed settings by their full names, sorted. A longer run is no other method."""
    words = variant.split()
    start = WEAK if WEAK in words else ""
    pairs = [(name, value) for name, _, value in (word.partition("=") for word in words if word != WEAK)]
    named = [(_ALIASES.get(name, name), value) for name, value in pairs if name != "rounds"]
    return start, tuple(sorted(named))


_ALIASES = {**SYMBOLS, "m_low": "momentum_low", "m_high": "momentum_high"}


def _keys(table: Any) -> list[Key]:
    variants = {variant: parse(variant) for variant in map(_text, table["variant"])}
    keys = []
    for task, model, learner, variant, method in zip(
        *(table[name] for name in ("task", "model", "learner", "variant", "method")), strict=True
    ):
        start, changes = variants[_text(variant)]
        keys.append(Key(Scene(str(task), str(model), str(learner), start), str(method), changes))
    return keys


def _text(cell: object) -> str:
    return cell if isinstance(cell, str) else ""  # an empty cell of a csv


def _together(by_seed: dict[int, dict[int, float]]) -> Curves:
    """Seeds as one array up to where most of them end; those that end before it are unfinished."""
    ends = Counter(max(line) for line in by_seed.values())
    end = max(ends, key=lambda labels: (ends[labels], labels))
    whole = {seed: line for seed, line in sorted(by_seed.items()) if max(line) >= end}
    labels = sorted(set.intersection(*(set(line) for line in whole.values())))
    labels = [count for count in labels if count <= end]
    values = np.array([[line[count] for count in labels] for line in whole.values()])
    return Curves(tuple(labels), values, tuple(whole), tuple(sorted(by_seed.keys() - whole.keys())))
