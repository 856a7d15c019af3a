"""How a student is best taught: the same labels, other pseudo-labels.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/auto/learning.py run --draws 0,1
    PYTHONPATH=. python benchmarks/auto/learning.py show

A probe on at most 10,000 texts of each of six tasks. Labels are drawn at random, so that nothing but the teaching
differs, and accuracy is on train rows outside the pool, as in search.py; test sets are never looked at.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from actune.core.objective import NO_GATE, PLAIN, Objective
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.methods.trust import Pace, SelfTraining
from benchmarks.auto.search import TASKS, stored, task_of
from benchmarks.auto.words import Drawn

RESULTS = Path("benchmarks/results/auto_learning.csv")
COLUMNS = ("variant", "task", "draw", "labels", "accuracy")
LABELS = (60, 150, 300, 500)
POOL = 10  # the seed of pools and of the rows that judge
ALONE = "no teacher"


@dataclass(frozen=True)
class Taught:
    """What each generation passes on, and how the next one learns from it."""

    passes: SelfTraining
    weight: float = 1.0
    steps: int = 500
    generations: int = 2


ANY = Drawn(2048, weigh="one")
VARIANTS: dict[str, Taught] = {
    "auto": Taught(ANY),
    "one student": Taught(ANY, generations=1),
    "three students": Taught(ANY, generations=3),
    "300 steps": Taught(ANY, steps=300),
    "150 steps": Taught(ANY, steps=150),
    "half the weight": Taught(ANY, weight=0.5),
    "twice the weight": Taught(ANY, weight=2),
    "4,096 texts": Taught(replace(ANY, keep=4096)),
    "1,024 texts": Taught(replace(ANY, keep=1024)),
    "as predicted": Taught(replace(ANY, even=0)),
    "by lead": Taught(replace(ANY, weigh="lead"), weight=2),
    "agreeing": Taught(replace(ANY, agreeing=15)),
    "before": Taught(Drawn(4096, agreeing=15), weight=0.5, steps=600, generations=1),
}


def one_draw(task: str, draw: int, labels: int, data_dir: str | None) -> list[dict[str, object]]:
    """The accuracy of every variant on one draw of labels."""
    import torch

    from actune.core.classifier import Labelled
    from actune.core.view import View
    from actune.models.learners import make_learner, recipe_for
    from actune.models.sources import fetch, find_model

    torch.set_num_threads(1)
    data = task_of(task, POOL, data_dir)
    assert data.dev is not None and data.test is not None
    recipe = replace(recipe_for("probe", "cpu"), pseudo_batch=data.training.get("pseudo_batch", 32))
    classes = len(data.pool.classes)
    learner = make_learner(
        "probe", fetch(find_model("minilm")), classes, data.settings.max_tokens, recipe, torch.device("cpu")
    )
    inputs, dev, judge = (learner.prepare(part.texts) for part in (data.pool, data.dev, data.test))
    known, streams = np.asarray(data.pool.labels, np.int64), Streams(draw, labels)
    rows = np.sort(streams.rng("labels").choice(len(known), labels, replace=False))
    rest = torch.from_numpy(np.setdiff1d(np.arange(len(known)), rows))
    given = TrainingSet(rows, known[rows], PseudoLabels.none())
    held = Labelled(dev, np.asarray(data.dev.labels, np.int64))
    teacher = learner.fit(inputs, given, PLAIN, streams, held)

    def right(model: object) -> float:
        said = model.read(judge).log_proba.argmax(1).numpy()  # type: ignore[attr-defined]
        return float((said == np.asarray(data.test.labels)).mean())  # type: ignore[union-attr]

    found = {ALONE: right(teacher)}
    for name, taught in VARIANTS.items():
        newest, objective = teacher, Objective(taught.weight, NO_GATE)
        learner.recipe = replace(recipe, steps=taught.steps)  # type: ignore[attr-defined]
        for generation in range(taught.generations):
            here = replace(streams, generation=generation)
            view = View(newest.read(inputs), rest, streams=here)
            passed, _ = taught.passes(view, None, Pace(0, 10))
            newest = learner.fit(inputs, replace(given, trusted=passed), objective, here, held)
        found[name] = right(newest)
    return [
        dict(zip(COLUMNS, (name, task, draw, labels, round(value, 4)), strict=True)) for name, value in found.items()
    ]


def run(draws: list[int], file: Path, data_dir: str | None, workers: int) -> None:
    """What is not in the file yet."""
    done = {(line["task"], int(line["draw"]), int(line["labels"])) for line in stored(file)}
    places = [(task, draw, labels) for draw in draws for task in TASKS for labels in LABELS]
    left = [place for place in places if place not in done]
    print(f"{len(left)} of {len(places)} draws are left", flush=True)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as processes:
        for future in as_completed([processes.submit(one_draw, *place, data_dir) for place in left]):
            fresh = not file.exists()
            with file.open("a", encoding="utf-8", newline="") as out:
                writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
                if fresh:
                    writer.writeheader()
                writer.writerows(future.result())


def show(file: Path, against: str) -> str:
    """Points that each variant is ahead of one of them, with the standard error over draws."""
    values: dict[tuple[str, str], dict[tuple[int, int], float]] = defaultdict(dict)
    for line in stored(file):
        values[line["variant"], line["task"]][int(line["draw"]), int(line["labels"])] = 100 * float(line["accuracy"])
    rows = []
    for variant in {name for name, _ in values}:
        gaps = {
            task: [value - values[against, task][place] for place, value in values[variant, task].items()]
            for task in TASKS
        }
        every = [gap for each in gaps.values() for gap in each]
        means = [fmean(each) for each in gaps.values()]
        error = stdev(every) / len(every) ** 0.5
        rows.append(
            (fmean(means), [variant, *(f"{mean:+.2f}" for mean in means), f"{fmean(means):+.2f}", f"{error:.2f}"])
        )
    lines = [["variant", *TASKS, "mean", "standard error"], ["---"] * (len(TASKS) + 3)]
    lines += [cells for _, cells in sorted(rows, key=lambda row: -row[0])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "show"])
    parser.add_argument("--draws", default="0,1")
    parser.add_argument("--against", default="auto")
    parser.add_argument("--data-dir")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.verb == "run":
        run([int(draw) for draw in given.draws.split(",")], given.out, given.data_dir, given.workers)
    print(show(given.out, given.against))


if __name__ == "__main__":
    main()
