"""Whole runs without a dev set: methods with a probe on nine data sets, from 50 to 500 labels.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/few/loop.py run --methods random,thrifty --seeds 0,1 --data-dir DIR
    PYTHONPATH=. python benchmarks/few/loop.py show

`--learner finetune --model mpnet --recipe contrastive --device cuda --out FILE` makes the same runs with a fine-tuned
encoder; `saved.py` shows them. `--processes` works on so many data sets and seeds at a time.

At most 10,000 texts of a data set are the pool, the same for all seeds; every label counts, and the accuracy is that on
the test set. A run's result is its average accuracy over the rounds. What is finished is kept in a file, a line for
every run, and never run again: `run` may be killed and started again at any time.

`show` prints five tables: means of methods, the first method minus each other, the first method minus its own questions
on each data set and by round, how far its estimates of right pseudo-labels are off, and which runs are there.
Differences are between runs of the same data set and seed that both methods have. The data set is the unit of the
tests, p is two-sided and has Holm's correction over all comparisons of the table. A method is only compared when it has
runs on every data set.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

from actune.bench.statistics import holm, paired_test
from benchmarks.few.learner import POOL, TASKS, stored, task_of

METHODS = (
    *("thrifty", "thrifty-query", "random", "hast", "margin", "entropy", "badge", "actune", "cal"),
    *("actune-cal", "actune-badge", "asst", "ceal", "ust", "bald"),
)
QUESTIONS = "thrifty-query"  # what thrifty asks, without its pseudo-labels
SEEDS = (0, 1, 2, 3, 4)
RESULTS = Path("benchmarks/results/few_loop.jsonl")
INITIAL, BATCH, ROUNDS = 50, 50, 10
SHOWN = (1, 2, 4, 6, 8, 10)  # rounds

Runs = dict[str, dict[tuple[str, int], float]]  # by method, then by task and seed: the average accuracy in per cent

task_for = lru_cache(1)(task_of)  # the runs on a task come one after the other


def one_run(method: str, name: str, seed: int, given: argparse.Namespace) -> dict[str, Any]:
    """The facts of a run by round; of one that time ran out for, those of the rounds that it had."""
    from actune.annotators.oracle import Oracle
    from actune.session.runner import run
    from actune.session.setup import create

    task, _ = task_for(name, given.data_dir)
    words: dict[str, Any] = {"initial": max(INITIAL, len(task.pool.classes)), "batch": BATCH, "rounds": given.rounds}
    words |= {"seed": seed, "simulated": True, "learner": given.learner, "device": given.device, "no_dev": True}
    if given.learner != "probe":
        words |= {"model": given.model, "recipe": given.recipe}
    began = time.perf_counter()

    def tell(_: Any) -> None:
        if time.time() > given.end:
            raise TimeoutError

    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = create(Path(scratch) / "run", task, method=method, **words)
        session.models = "none"
        with suppress(TimeoutError):
            run(session, Oracle(session.pool), tell)
        rounds = session.rounds()
        session.close()
    return {
        "method": method,
        "task": name,
        "seed": seed,
        "pool": POOL,
        **({} if given.learner == "probe" else {"model": Path(given.model).name, "recipe": given.recipe}),
        "labels": [facts.labels for facts in rounds],
        "accuracy": [round(facts.accuracy or 0.0, 4) for facts in rounds],
        "pseudo_labels": [facts.pseudo_labels.count for facts in rounds],
        "right": [_short(facts.pseudo_labels.accuracy) for facts in rounds],
        "estimate": [_short(facts.pseudo_labels.estimate) for facts in rounds],
        "seconds": round(time.perf_counter() - began, 2),
    }


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def run_all(given: argparse.Namespace) -> None:
    """All methods on all tasks with the first seed, then with the next one."""
    done = {(line["method"], line["task"], line["seed"]) for line in finished(given.out, given.rounds)}
    given.end = time.time() + given.seconds
    groups = []
    for seed in map(int, given.seeds.split(",")):
        for name in given.tasks.split(","):
            missing = [method for method in given.methods.split(",") if (method, name, seed) not in done]
            groups += [(missing, name, seed, given)] if missing else []
    if given.processes == 1:
        for group in groups:
            run_group(*group)
        return
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as crew:
        for future in [crew.submit(run_group, *group) for group in groups]:
            future.result()


def run_group(methods: list[str], name: str, seed: int, given: argparse.Namespace) -> None:
    """The runs of some methods on one data set with one seed; each is a line in the file when it is over."""
    for method in methods:
        if time.time() < given.end:
            line = one_run(method, name, seed, given)
            with given.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")  # one write, so that processes do not mix their lines
            print(method, name, seed, *line["accuracy"], line["seconds"], flush=True)


def finished(file: Path, rounds: int = ROUNDS) -> list[dict[str, Any]]:
    """The runs that had all their rounds."""
    return [line for line in stored(file) if len(line["labels"]) >= rounds]


def runs_of(file: Path, rounds: slice = slice(None)) -> Runs:
    found: Runs = defaultdict(dict)
    for line in stored(file):
        found[line["method"]][line["task"], line["seed"]] = 100 * fmean(line["accuracy"][rounds])
    return found


def by_task(runs: dict[tuple[str, int], float]) -> dict[str, float]:
    """The mean over seeds on each task that has a run."""
    return {
        task: fmean(value for (name, _), value in runs.items() if name == task)
        for task in TASKS
        if any(name == task for name, _ in runs)
    }


def apart(runs: Runs, one: str, other: str) -> dict[str, float]:
    """Points that one method is ahead of another on each task, over the seeds that both have."""
    both = runs[one].keys() & runs[other].keys()
    return by_task({place: runs[one][place] - runs[other][place] for place in both})


def means(runs: Runs, methods: list[str]) -> list[str]:
    """The best mean first, of methods that have runs on every task."""
    lines = [_row("method", *TASKS, "mean", "runs"), "|---" * (len(TASKS) + 3) + "|"]
    found = {name: by_task(runs[name]) for name in methods}
    for name in sorted(methods, key=lambda name: -fmean(found[name].values())):
        values = [f"{value:.1f}" for value in found[name].values()]
        lines.append(_row(f"`{name}`", *values, f"{fmean(found[name].values()):.2f}", len(runs[name])))
    return lines


def differences(runs: Runs, methods: list[str]) -> list[str]:
    """The first method minus each other, on the average over tasks."""
    first, *others = methods
    gaps = {other: apart(runs, first, other) for other in others}
    tests = {other: paired_test(list(gap.values()), [0.0] * len(gap)) for other, gap in gaps.items()}
    corrected = dict(zip(others, holm([tests[other].p for other in others]), strict=True))
    lines = [_row(f"`{first}` minus", "points", "95 % interval", "p", "worst data set", "pairs"), "|---" * 6 + "|"]
    for other in sorted(others, key=lambda other: tests[other].mean):
        low, high = tests[other].bounds or (float("nan"), float("nan"))
        worst, least = min(gaps[other].items(), key=lambda item: item[1])
        pairs = len(runs[first].keys() & runs[other].keys())
        cells = f"{tests[other].mean:+.2f}", f"{low:+.2f} to {high:+.2f}", f"{corrected[other]:.2g}"
        lines.append(_row(f"`{other}`", *cells, f"{worst} {least:+.2f}", pairs))
    return lines


def beside_its_questions(file: Path, first: str) -> list[str]:
    """By data set, on the average over all rounds and in single rounds."""
    lines = [_row("round", *TASKS, "mean"), "|---" * (len(TASKS) + 2) + "|"]
    for name, rounds in [("all", slice(None)), *((str(round), slice(round - 1, round)) for round in SHOWN)]:
        gap = list(apart(runs_of(file, rounds), first, QUESTIONS).values())
        lines.append(_row(name, *(f"{value:+.2f}" for value in [*gap, fmean(gap)])))
    return lines


def there(runs: Runs, methods: list[str]) -> list[str]:
    """How many of the seeds are finished on each task."""
    lines = [_row(f"runs of {len(SEEDS)}", *TASKS, "missing"), "|---" * (len(TASKS) + 2) + "|"]
    for name in methods:
        counts = [sum((task, seed) in runs[name] for seed in SEEDS) for task in TASKS]
        lines.append(_row(f"`{name}`", *counts, len(SEEDS) * len(TASKS) - sum(counts)))
    return lines


def estimates(lines: list[dict[str, Any]], method: str) -> list[str]:
    """How far the estimates of right pseudo-labels are off, over seeds and rounds."""
    gaps: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        if line["method"] == method:
            pairs = zip(line["estimate"], line["right"], strict=True)
            gaps[line["task"]] += [100 * (said - right) for said, right in pairs if None not in (said, right)]
    tasks = [name for name in TASKS if gaps[name]]
    if not tasks:
        return []

    def row(told: str, how: Callable[[float], float], sign: str) -> str:
        values = [fmean(map(how, gaps[name])) for name in tasks]
        return _row(told, *(f"{value:{sign}.1f}" for value in [*values, fmean(values)]))

    header = [_row(f"estimates of `{method}`, in points", *tasks, "mean"), "|---" * (len(tasks) + 2) + "|"]
    return [*header, row("off by", abs, ""), row("too high by", float, "+")]


def show(given: argparse.Namespace) -> str:
    runs, wanted = runs_of(given.out), given.methods.split(",")
    whole = [name for name in wanted if len(by_task(runs[name])) == len(TASKS)]
    parts = [[f"{len(whole)} of {len(wanted)} methods have runs on all {len(TASKS)} data sets"]]
    if whole:
        parts += [means(runs, whole), differences(runs, whole)]
        parts += [beside_its_questions(given.out, whole[0]), estimates(stored(given.out), whole[0])]
    return "\n\n".join("\n".join(part) for part in [*parts, there(runs, wanted)] if part)


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "show"])
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no run after this time")
    parser.add_argument("--learner", default="probe")
    parser.add_argument("--model", default="mpnet", help="the encoder, where it is fine-tuned")
    parser.add_argument("--recipe", default="contrastive")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--data-dir")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.verb == "run":
        run_all(given)
    print(show(given))


if __name__ == "__main__":
    main()
