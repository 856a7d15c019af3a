"""The search for `auto`: variants on six tasks of at most 10,000 texts with a probe.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/auto/search.py run --variants random,distinct+lead --seeds 10,11
    PYTHONPATH=. python benchmarks/auto/search.py show

Variants are judged on train rows that are not in the pool. Test sets are never looked at, and the seeds are not those
that results are reported on. What is finished is kept, a line for every variant, task, seed and round, and never run
again.

auto_search_dev.csv is an earlier search that judged by dev. Dev also chooses checkpoints, more often among the longer
fits with pseudo-labels, so it flattered them.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

from actune.core.task import Task
from actune.data.splits import draw, part_of
from actune.data.tasks import load_task
from benchmarks.auto.tables import add_runs, columns_of, markdown, stored

TASKS = ("trec", "sst2", "ag_news", "pubmed_sections", "dbpedia14", "chemprot")
RESULTS = Path("benchmarks/results/auto_search.csv")
INITIAL, BATCH, ROUNDS = 50, 50, 10
HELD_OUT = 2000  # train rows that judge

Place = tuple[str, str, int]  # variant, task, seed


def task_of(name: str, seed: int, data_dir: str | None) -> Task:
    """At most 10,000 texts of a data set, and as its test set train rows that are not among them."""
    whole = load_task(name, data_dir, seed)
    task = load_task(name, data_dir, seed, min(10_000, int(0.8 * len(whole.pool))))
    left = sorted(set(range(len(whole.pool))) - {whole.pool.row_of[id] for id in task.pool.ids})
    return replace(task, test=part_of(whole.pool, draw(left, min(HELD_OUT, len(left)), seed, "search")))


def one_run(place: Place, data_dir: str | None) -> list[dict[str, Any]]:
    """One line a round."""
    from actune.annotators.oracle import Oracle
    from actune.session.runner import run
    from actune.session.setup import create
    from benchmarks.auto.variants import register

    register()
    variant, name, seed = place
    task = task_of(name, seed, data_dir)
    words: dict[str, Any] = {"initial": INITIAL, "batch": BATCH, "rounds": ROUNDS, "seed": seed, "simulated": True}
    with tempfile.TemporaryDirectory() as scratch:
        session = create(Path(scratch) / "run", task, method=variant, learner="probe", device="cpu", **words)
        session.models = "none"
        run(session, Oracle(session.pool))
        rounds = [columns_of(facts) for facts in session.rounds()]
        session.close()
    return [
        {
            "variant": variant,
            "task": name,
            "seed": seed,
            "labels": facts["labels"],
            "accuracy": _short(facts["accuracy"]),
            "trusted": facts["trusted"],
            "trusted_accuracy": _short(facts["offered_accuracy"]),
            "estimate": _short(facts["offered_estimate"]),
            "seconds": round(sum(facts["seconds"].values()), 2),
        }
        for facts in rounds
    ]


def _short(value: float | None) -> float | str:
    return "" if value is None else round(value, 4)


def search(places: list[Place], file: Path, data_dir: str | None, workers: int) -> None:
    """Runs what is not there yet, and adds it to the file."""
    done = {(line["variant"], line["task"], int(line["seed"])) for line in stored(file)}
    left = [place for place in places if place not in done]
    print(f"{len(left)} of {len(places)} runs are left", flush=True)
    add_runs(file, one_run, [(place, data_dir) for place in left], workers)


def show(file: Path, against: str) -> str:
    """Points of mean accuracy over 100 to 500 labels ahead of one variant, on the seeds that both have."""
    areas: dict[Place, list[float]] = defaultdict(list)
    for line in stored(file):
        if int(line["labels"]) > INITIAL:
            areas[line["variant"], line["task"], int(line["seed"])].append(
                float(line.get("accuracy") or line["dev_accuracy"])
            )
    means = {place: sum(values) / len(values) for place, values in areas.items()}
    rows = []
    for variant in sorted({place[0] for place in means}):
        cells, total, runs = [], [], 0
        for task in TASKS:
            both = [seed for v, t, seed in means if v == variant and t == task and (against, task, seed) in means]
            gaps = [100 * (means[variant, task, seed] - means[against, task, seed]) for seed in both]
            runs += len(gaps)
            cells.append(f"{sum(gaps) / len(gaps):+.2f}" if gaps else "")
            total += [sum(gaps) / len(gaps)] if gaps else []
        mean = sum(total) / len(total) if len(total) == len(TASKS) else None
        rows.append(
            (mean if mean is not None else -99, [variant, *cells, "" if mean is None else f"{mean:+.2f}", str(runs)])
        )
    best_first = [cells for _, cells in sorted(rows, key=lambda row: -row[0])]
    return markdown([["variant", *TASKS, "mean", "runs"], *best_first])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "show"])
    parser.add_argument("--variants", default="random")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--seeds", default="10,11")
    parser.add_argument("--against", default="random")
    parser.add_argument("--data-dir")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.verb == "run":
        seeds = [int(seed) for seed in given.seeds.split(",")]
        places = [
            (variant, task, seed)
            for seed in seeds
            for task in given.tasks.split(",")
            for variant in given.variants.split(",")
        ]
        search(places, given.out, given.data_dir, given.workers)
    print(show(given.out, given.against))


if __name__ == "__main__":
    main()
