"""How a student is best taught: the same labels, other pseudo-labels.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/auto/learning.py run --draws 0,1
    PYTHONPATH=. python benchmarks/auto/learning.py show
    PYTHONPATH=. python benchmarks/auto/learning.py run --learner finetune --tasks trec,sst2,ag_news,chemprot \\
        --labels 150,500 --draws 0 --variants "150 steps;auto" --threads 2 --workers 1 --out runs/students.csv

A probe, or a fine-tuned encoder, on at most 10,000 texts of a task. Labels are drawn at random, so that nothing but the
teaching differs, and accuracy is on train rows outside the pool, as in search.py; test sets are never looked at.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from actune.core.objective import NO_GATE, PLAIN, Objective
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.methods.memory import Pace
from actune.methods.trust import SelfTraining
from benchmarks.auto.search import TASKS, task_of
from benchmarks.auto.tables import add_runs, markdown, stored
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
    batch: int | None = None  # pseudo-labels in a step, where not as many as the task has


ANY = Drawn(2048, weigh="one")
VARIANTS: dict[str, Taught] = {
    "auto": Taught(ANY),
    "one student": Taught(ANY, generations=1),
    "three students": Taught(ANY, generations=3),
    "300 steps": Taught(ANY, steps=300),
    "150 steps": Taught(ANY, steps=150),
    "1,000 steps": Taught(ANY, steps=1000),
    "2,000 steps": Taught(ANY, steps=2000),
    "500 steps of 8": Taught(ANY, steps=500, batch=8),
    "1,000 steps of 8": Taught(ANY, steps=1000, batch=8),
    "half the weight": Taught(ANY, weight=0.5),
    "twice the weight": Taught(ANY, weight=2),
    "4,096 texts": Taught(replace(ANY, keep=4096)),
    "1,024 texts": Taught(replace(ANY, keep=1024)),
    "as predicted": Taught(replace(ANY, even=0)),
    "by lead": Taught(replace(ANY, weigh="lead"), weight=2),
    "agreeing": Taught(replace(ANY, agreeing=15)),
    "before": Taught(Drawn(4096, agreeing=15), weight=0.5, steps=600, generations=1),
}
LONGER = ("1,000 steps", "2,000 steps", "500 steps of 8", "1,000 steps of 8")  # than a probe needs
USUAL = [name for name in VARIANTS if name not in LONGER]


@dataclass(frozen=True)
class Place:
    """What learns, from which labels."""

    task: str
    draw: int
    labels: int
    learner: str = "probe"
    model: str = "minilm"
    device: str = "cpu"
    threads: int = 1


def one_draw(place: Place, variants: Sequence[str], data_dir: str | None) -> list[dict[str, object]]:
    """The accuracy of these variants on one draw of labels."""
    import torch

    from actune.core.classifier import Labelled
    from actune.core.view import View
    from actune.models.learners import make_learner, recipe_for
    from actune.models.sources import fetch, find_model

    torch.set_num_threads(place.threads)
    data = task_of(place.task, POOL, data_dir)
    assert data.dev is not None and data.test is not None
    usual = recipe_for(place.learner, place.device)
    recipe = replace(usual, no_fewer_steps=False, pseudo_batch=data.training.get("pseudo_batch", usual.pseudo_batch))
    encoder, device = fetch(find_model(place.model)), torch.device(place.device)
    learner = make_learner(place.learner, encoder, len(data.pool.classes), data.settings.max_tokens, recipe, device)
    inputs, dev, judge = (learner.prepare(part.texts) for part in (data.pool, data.dev, data.test))
    known, streams = np.asarray(data.pool.labels, np.int64), Streams(place.draw, place.labels)
    rows = np.sort(streams.rng("labels").choice(len(known), place.labels, replace=False))
    rest = torch.from_numpy(np.setdiff1d(np.arange(len(known)), rows))
    given = TrainingSet(rows, known[rows], PseudoLabels.none())
    held = Labelled(dev, np.asarray(data.dev.labels, np.int64))
    teacher = learner.fit(inputs, given, PLAIN, streams, held)

    def right(model: object) -> float:
        said = model.read(judge).log_proba.argmax(1).numpy()  # type: ignore[attr-defined]
        return float((said == np.asarray(data.test.labels)).mean())  # type: ignore[union-attr]

    found = {ALONE: right(teacher)}
    for name in variants:
        taught = VARIANTS[name]
        newest, objective = teacher, Objective(taught.weight, NO_GATE)
        batch = taught.batch or recipe.pseudo_batch
        learner.recipe = replace(recipe, steps=taught.steps, pseudo_batch=batch)  # type: ignore[attr-defined]
        for generation in range(taught.generations):
            here = replace(streams, generation=generation)
            view = View(newest.read(inputs), rest, streams=here)
            passed, _ = taught.passes(view, None, Pace(0, 10))
            newest = learner.fit(inputs, replace(given, trusted=passed), objective, here, held)
        found[name] = right(newest)
    return [
        dict(zip(COLUMNS, (name, place.task, place.draw, place.labels, round(value, 4)), strict=True))
        for name, value in found.items()
    ]


def run(places: list[Place], variants: Sequence[str], file: Path, data_dir: str | None, workers: int) -> None:
    """What is not in the file yet."""
    done = {(line["task"], int(line["draw"]), int(line["labels"])) for line in stored(file)}
    left = [place for place in places if (place.task, place.draw, place.labels) not in done]
    print(f"{len(left)} of {len(places)} draws are left", flush=True)
    add_runs(file, one_draw, [(place, variants, data_dir) for place in left], workers)


def show(file: Path, against: str) -> str:
    """Points that each variant is ahead of one of them, with the standard error over draws."""
    values: dict[tuple[str, str], dict[tuple[int, int], float]] = defaultdict(dict)
    for line in stored(file):
        values[line["variant"], line["task"]][int(line["draw"]), int(line["labels"])] = 100 * float(line["accuracy"])
    rows, tasks = [], [task for task in TASKS if (against, task) in values]
    for variant in {name for name, _ in values}:
        gaps = [
            [value - values[against, task][place] for place, value in values[variant, task].items()] for task in tasks
        ]
        every, means = [gap for each in gaps for gap in each], [fmean(each) if each else None for each in gaps]
        known = [mean for mean in means if mean is not None]
        whole = len(known) == len(tasks)  # else its mean would be one of other tasks
        error = f"{stdev(every) / len(every) ** 0.5:.2f}" if whole and len(every) > 1 else "–"
        cells = [*means, fmean(known) if whole else None]
        printed = ["–" if mean is None else f"{mean:+.2f}" for mean in cells]
        rows.append((fmean(known), [variant, *printed, error]))
    best_first = [cells for _, cells in sorted(rows, key=lambda row: -row[0])]
    return markdown([["variant", *tasks, "mean", "standard error"], *best_first])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "show"])
    parser.add_argument("--draws", default="0,1")
    parser.add_argument("--labels", default=",".join(map(str, LABELS)))
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--variants", default=";".join(USUAL), help="names with semicolons between them")
    parser.add_argument("--learner", default="probe", choices=["probe", "finetune"])
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--against", default="auto")
    parser.add_argument("--data-dir")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.verb == "run":
        how = (given.learner, given.model, given.device, given.threads)
        draws, labels = ([int(each) for each in text.split(",")] for text in (given.draws, given.labels))
        places = [Place(t, d, n, *how) for d in draws for t in given.tasks.split(",") for n in labels]
        run(places, given.variants.split(";"), given.out, given.data_dir, given.workers)
    print(show(given.out, given.against))


if __name__ == "__main__":
    main()
