"""Tables of results by formula, so that what they say is known before it is computed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from actune.bench.grid import Point
from actune.bench.paper import subjects
from actune.bench.progress import GridProgress
from actune.bench.store import RESULT_COLUMNS

SEEDS = (0, 1, 2)
TOPS = {"sst2": 0.92, "ag_news": 0.90, "pubmed_sections": 0.84, "dbpedia14": 0.985, "trec": 0.97, "chemprot": 0.62}
# how much faster than random a method learns: the labels of its curve count this many times
SPEEDS = {
    "random": 1.0,
    "entropy": 1.2,
    "bald": 1.15,
    "badge": 1.3,
    "alps": 1.05,
    "cal": 1.35,
    "actune-query": 1.7,
    "actune-cal-query": 1.6,
    "st": 1.1,
    "ust": 1.3,
    "cosine": 1.25,
    "asst": 1.2,
    "ceal": 1.0,
    "bass": 0.9,
    "revival": 0.95,
    "actune": 3.0,
    "actune-cal": 2.6,
    "actune-badge": 2.2,
    "actune-alps": 2.0,
    "actune-no-regions": 2.1,
    "actune-no-memory": 2.3,
    "actune-no-weights": 2.5,
}


class Planted:
    """Results that lie in memory; with `texts` there are predictions that are as right as the table says."""

    unfinished: tuple[Point, ...] = ()

    def __init__(self, rows: Iterable[dict[str, Any]], folder: Path = Path("nowhere"), texts: int = 0) -> None:
        self.folder = folder
        self.rows = list(rows)
        self.texts = texts

    def table(self) -> pandas.DataFrame:
        return pandas.DataFrame(self.rows, columns=list(RESULT_COLUMNS))

    def progress(self) -> GridProgress:
        return GridProgress(len({row["cell"] for row in self.rows}), self.unfinished)

    def predictions(self, cell: str) -> np.ndarray | None:
        if not self.texts:
            return None
        rounds = [row for row in self.rows if row["cell"] == cell]
        wrong = [round(self.texts * (1 - row["accuracy"])) for row in rounds]
        return np.array([(np.arange(self.texts) < count).astype(int) for count in wrong])

    def record(self, cell: str) -> None:
        """A table alone."""

    def truth(self, cell: str) -> np.ndarray | None:
        return np.zeros(self.texts, int) if self.texts else None

    def save(self, folder: Path) -> Path:
        """As a folder that commands can read."""
        folder.mkdir(parents=True, exist_ok=True)
        self.table().to_csv(folder / "results.csv", index=False)
        return folder


def cell(
    task: str,
    method: str,
    accuracies: Iterable[float],
    seed: int = 0,
    variant: str = "",
    labels: Iterable[int] | None = None,
    trusted: float | None = None,
    model: str = "mpnet",
    learner: str = "finetune",
) -> list[dict[str, Any]]:
    """The rounds of one cell."""
    values = list(accuracies)
    counts = list(labels) if labels is not None else [100 * (place + 1) for place in range(len(values))]
    key = hashlib.sha256(repr((task, method, seed, variant, model, learner)).encode()).hexdigest()[:16]
    return [
        {
            "cell": key,
            "task": task,
            "method": method,
            "model": model,
            "learner": learner,
            "seed": seed,
            "variant": variant,
            "round": place,
            "labels": count,
            "accuracy": value,
            "macro_f1": value,
            "pseudo_labels": 100 * place if trusted else 0,
            "pseudo_label_accuracy": min(1.0, trusted + 0.005 * place) if trusted and place else None,
            "seconds_fit": 3.0,
            "seconds_evaluate": 0.5,
            "seconds_select": 0.0 if place == len(values) - 1 else 2.0 + len(method) / 10,
            "machine": "one planted GPU",
            "versions": "actune 0.1.0, torch 2.11",
            "commit": "0123abc",
        }
        for place, (count, value) in enumerate(zip(counts, values, strict=True))
    ]


def learning(task: str, speed: float, seed: int, labels: Iterable[int], noise: float = 0.003) -> list[float]:
    """Accuracies that rise to the task's top; what seeds change is shared by methods, and a little is not."""
    counts, top = np.array(list(labels), float), TOPS[task]
    shared = np.random.default_rng([seed, len(task)]).normal(0, noise, len(counts))
    own = np.random.default_rng([seed, int(1000 * speed)]).normal(0, noise / 4, len(counts))
    curve = top - 0.28 * np.exp(-(speed * (counts + 60)) / 450)
    return [round(float(value), 4) for value in curve + shared + own]


def paper_rows() -> list[dict[str, Any]]:
    """Every cell that the paper's figures need."""
    rows: list[dict[str, Any]] = []
    usual = range(100, 1001, 100)
    for seed in SEEDS:
        for task in subjects.TASKS:
            for method in (*subjects.ASKING, *subjects.OURS_ASKING, *subjects.TRUSTING, *subjects.OURS):
                if (task, method) == ("dbpedia14", "revival"):
                    continue
                longer = method in (*subjects.ASKING, "ust")
                counts = range(100, 3001, 100) if longer else usual
                trusted = 0.9 if method in (*subjects.TRUSTING, *subjects.OURS) else None
                values = learning(task, SPEEDS[method], seed, counts)
                rows += cell(task, method, values, seed, "rounds=30" if longer else "", counts, trusted)
        for task in subjects.WEAK_TASKS:
            counts = range(0, 501, 50)
            for method in (*subjects.TRUSTING, *subjects.OURS):
                rows += cell(task, method, learning(task, SPEEDS[method], seed, counts), seed, "weak", counts, 0.8)
        rows += cell("trec", "random", [0.968], seed, "full", [4965])
        rows += studies(seed, usual)
    return rows


def studies(seed: int, counts: range) -> list[dict[str, Any]]:
    """Settings and parts of AcTune."""
    rows: list[dict[str, Any]] = []
    for value in (0, 0.25, 0.75, 1):
        rows += cell("sst2", "actune", learning("sst2", 3 - value / 5, seed, counts), seed, f"beta={value}")
    for value in (10, 15, 20, 30, 40, 50):
        speed = 3 - abs(value - 25) / 12
        rows += cell("sst2", "actune", learning("sst2", speed, seed, counts), seed, f"regions={value}")
    for method in ("actune", "actune-cal"):
        for low, high in ((0.6, 0.8), (0.7, 0.9), (0.8, 1.0)):
            variant = f"momentum_high={high} momentum_low={low}"
            rows += cell("ag_news", method, learning("ag_news", 2 + high, seed, counts), seed, variant)
    for method in subjects.PLUGGED[2:] + subjects.ABLATIONS[1:]:
        rows += cell("sst2", method, learning("sst2", SPEEDS[method], seed, counts), seed, trusted=0.88)
    rows += cell("ag_news", "actune-no-memory", learning("ag_news", 2.3, seed, counts), seed, trusted=0.888)
    return rows
