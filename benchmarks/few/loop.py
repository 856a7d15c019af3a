"""Whole runs without a dev set: methods with a probe on nine data sets, from 50 to 500 labels.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/few/loop.py run --methods random,thrifty --seeds 0,1 --data-dir DIR
    PYTHONPATH=. python benchmarks/few/loop.py show --methods random,hast,thrifty-query,thrifty

At most 10,000 texts of a data set are the pool, the same for all seeds; every label counts, and the accuracy is that on
the test set. `show` prints means over the learning curve, and the first method minus each other, paired by data set,
where the data set is the unit of the test. What is finished is kept in a file, a line for every run, and never run
again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from scipy.stats import t, ttest_1samp

from benchmarks.few.learner import POOL, TASKS, task_of

RESULTS = Path("benchmarks/results/few_loop.jsonl")
INITIAL, BATCH, ROUNDS = 50, 50, 10


def one_run(method: str, name: str, seed: int, given: argparse.Namespace) -> dict[str, Any]:
    from actune.annotators.oracle import Oracle
    from actune.session.runner import run
    from actune.session.setup import create

    task, _ = task_of(name, given.data_dir)
    words: dict[str, Any] = {"initial": max(INITIAL, len(task.pool.classes)), "batch": BATCH, "rounds": ROUNDS}
    words |= {"seed": seed, "simulated": True, "learner": "probe", "device": "cpu", "no_dev": True}
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        session = create(Path(scratch) / "run", task, method=method, **words)
        session.models = "none"
        run(session, Oracle(session.pool))
        rounds = session.rounds()
        session.close()
    return {
        "method": method,
        "task": name,
        "seed": seed,
        "pool": POOL,
        "labels": [facts.labels for facts in rounds],
        "accuracy": [round(facts.accuracy or 0.0, 4) for facts in rounds],
        "pseudo_labels": [facts.pseudo_labels.count for facts in rounds],
        "right": [_short(facts.pseudo_labels.accuracy) for facts in rounds],
        "estimate": [_short(facts.pseudo_labels.estimate) for facts in rounds],
        "seconds": round(time.perf_counter() - began, 2),
    }


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def stored(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []


def run_all(given: argparse.Namespace) -> None:
    done = {(line["method"], line["task"], line["seed"]) for line in stored(given.out)}
    end = time.monotonic() + given.seconds
    for seed in map(int, given.seeds.split(",")):
        for name in given.tasks.split(","):
            for method in given.methods.split(","):
                if (method, name, seed) in done or time.monotonic() > end:
                    continue
                line = one_run(method, name, seed, given)
                with given.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                print(method, name, seed, *line["accuracy"], line["seconds"], flush=True)


def show(given: argparse.Namespace) -> str:
    """Means over curves and seeds that all methods have, then the differences from the first method."""
    found: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(dict)
    for line in stored(given.out):
        found[line["task"], line["seed"]][line["method"]] = line["accuracy"]
    methods = given.methods.split(",")
    shared = {place: each for place, each in found.items() if all(name in each for name in methods)}
    tasks = [name for name in TASKS if any(place[0] == name for place in shared)]
    seeds = len({place[1] for place in shared})
    lines = [
        f"{len(shared)} runs of each method: {len(tasks)} data sets, {seeds} seeds",
        "",
        "| method | " + " | ".join(tasks) + " | mean |",
        "|---" * (len(tasks) + 2) + "|",
    ]
    means = {
        method: {
            task: 100 * fmean(fmean(each[method]) for (name, _), each in shared.items() if name == task)
            for task in tasks
        }
        for method in methods
    }
    for method in methods:
        cells = [f"{means[method][task]:.1f}" for task in tasks]
        lines.append(f"| {method} | {' | '.join(cells)} | {fmean(means[method].values()):.2f} |")
    lines += ["", f"| `{methods[0]}` minus | points | 95 % interval | p | worst data set |", "|---|---|---|---|---|"]
    for other in methods[1:]:
        apart = np.array([means[methods[0]][task] - means[other][task] for task in tasks])
        half = t.ppf(0.975, len(apart) - 1) * apart.std(ddof=1) / np.sqrt(len(apart))
        p = ttest_1samp(apart, 0).pvalue
        worst = f"{tasks[int(apart.argmin())]} {apart.min():+.2f}"
        interval = f"{apart.mean() - half:+.2f} to {apart.mean() + half:+.2f}"
        lines.append(f"| `{other}` | {apart.mean():+.2f} | {interval} | {p:.2g} | {worst} |")
    return "\n".join(lines + _estimates(given.out, methods[0]))


def _estimates(file: Path, method: str) -> list[str]:
    """How far the estimates of right pseudo-labels are off, over seeds and rounds, where a method has any."""
    gaps: dict[str, list[float]] = defaultdict(list)
    for line in stored(file):
        if line["method"] == method:
            pairs = zip(line["estimate"], line["right"], strict=True)
            gaps[line["task"]] += [100 * (said - right) for said, right in pairs if None not in (said, right)]
    tasks = [name for name in TASKS if gaps[name]]
    if not tasks:
        return []
    off, ahead = ([fmean(map(how, gaps[name])) for name in tasks] for how in (abs, float))
    return [
        "",
        f"| estimates of `{method}`, in points | " + " | ".join(tasks) + " | mean |",
        "|---" * (len(tasks) + 2) + "|",
        f"| off by | {' | '.join(f'{value:.1f}' for value in off)} | {fmean(off):.1f} |",
        f"| too high by | {' | '.join(f'{value:+.1f}' for value in ahead)} | {fmean(ahead):+.1f} |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "show"])
    parser.add_argument("--methods", default="thrifty,random")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--seeds", default="0,1,2,3,4")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no run after this time")
    parser.add_argument("--data-dir")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.verb == "run":
        run_all(given)
    print(show(given))


if __name__ == "__main__":
    main()
