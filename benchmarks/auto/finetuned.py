"""The grid auto.toml as tables, with the rounds that unfinished cells have.

    PYTHONPATH=. python benchmarks/auto/finetuned.py show benchmarks/results/auto
    PYTHONPATH=. python benchmarks/auto/finetuned.py collect benchmarks/results/auto FILE.csv

`collect` keeps what the tables need of a folder of cells; `show` takes such a file or the folder itself. Means over
seeds stand where every seed has the round. Differences are of the same seed and number of labels; an interval is
Student's, over the means of the seeds.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pandas as pd
from scipy.stats import t as student

from actune.bench.store import Results
from actune.store.store import Store
from benchmarks.auto.judge import estimates
from benchmarks.auto.tables import columns_of, markdown

WHO = {"task": str, "method": str, "seed": int}
FACTS = {
    "labels": int,
    "accuracy": float,
    "dev_accuracy": float,
    "trusted": int,
    "offered": int,
    "offered_accuracy": float,
    "offered_estimate": float,
}
COLUMNS: dict[str, Callable[[str], Any]] = {**WHO, **FACTS, "gain": float, "dev_gain": float}
LABELS = (100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
METHODS = ("auto", "auto-no-switch", "auto-query", "actune", "random")
Round = dict[str, Any]
Curves = dict[tuple[str, str], dict[int, dict[int, Round]]]  # task and method; seed; labels


def rounds_of(place: Path) -> list[Round]:
    """Every round of every cell, finished or not."""
    if place.is_file():
        with place.open(encoding="utf-8", newline="") as lines:
            return [
                {name: cast(line[name]) for name, cast in COLUMNS.items() if line.get(name)}
                for line in csv.DictReader(lines)
            ]
    results, found = Results(place), []
    for key, point in results.cells.items():
        if record := results.record(key):
            rounds = [columns_of(facts) for facts in record.rounds]
        elif (results.place(key) / "run.db").exists():
            with Store.reading(results.place(key)) as store:
                rounds = [columns_of(facts) for facts in store.rounds()]
        else:
            rounds = []
        if rounds:
            who = {"task": point.task, "method": point.method, "seed": point.seed}
            found += [who | {name: facts[name] for name in COLUMNS if facts.get(name) is not None} for facts in rounds]
    return found


def curves_of(rounds: Iterable[Round]) -> Curves:
    found = Curves()
    for facts in rounds:
        seeds = found.setdefault((facts["task"], facts["method"]), {})
        seeds.setdefault(facts["seed"], {})[facts["labels"]] = facts
    return found


def collect(place: Path, file: Path) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rounds_of(place))


def accuracies(curves: Curves, task: str) -> str:
    """By labels; the teacher of `auto`, where it is known, says what its questions bring without self-training."""
    rows = [["labels", *map(str, LABELS)]]
    for method in METHODS:
        seeds = list(curves.get((task, method), {}).values())
        if not seeds:
            continue
        rows.append([f"`{method}`", *(mean_at(seeds, labels, _accuracy) for labels in LABELS)])
        if method == "auto" and all("gain" in facts for seed in seeds for facts in seed.values()):
            rows.append(["its teacher", *(mean_at(seeds, labels, _of_teacher) for labels in LABELS)])
    return markdown(rows)


def mean_at(seeds: Sequence[dict[int, Round]], labels: int, measure: Callable[[Round], float]) -> str:
    """Over seeds, where every one has the round."""
    known = [measure(seed[labels]) for seed in seeds if labels in seed]
    return f"{fmean(known):.3f}" if len(known) == len(seeds) else "–"


def _accuracy(facts: Round) -> float:
    return facts["accuracy"]


def _of_teacher(facts: Round) -> float:
    """Where self-training was off, the round's model is the teacher."""
    return facts["accuracy"] - (facts["gain"] if facts["trusted"] else 0.0)


def differences(curves: Curves, tasks: Iterable[str]) -> str:
    """`auto` minus each other method, over all rounds that both have."""
    rows = [["task", "`auto` minus", "points", "95 % interval", "seeds", "labels"]]
    for task in tasks:
        for other in METHODS[1:]:
            gaps = paired(curves, task, other)
            if not gaps:
                continue
            per_seed = [fmean(gap for _, gap in seed) for seed in gaps]
            most = min(max(labels for labels, _ in seed) for seed in gaps)
            rows.append(
                [task, f"`{other}`", f"{fmean(per_seed):+.2f}", interval(per_seed), str(len(gaps)), f"to {most:,}"]
            )
    return markdown(rows)


def switch(curves: Curves, task: str) -> str:
    """Where self-training was off, and what `auto-no-switch` had there."""
    rows = [["`auto`", "rounds", "share", "compared", "minus `auto-no-switch`", "95 % interval", "seeds"]]
    every = [facts for seed in curves[task, "auto"].values() for facts in seed.values()]
    for name, off in (("self-training off", True), ("self-training on", False)):
        gaps = paired(curves, task, "auto-no-switch", (off,))
        per_seed = [fmean(gap for _, gap in seed) for seed in gaps]
        count = sum((facts["trusted"] == 0) == off for facts in every)
        share = f"{100 * count / len(every):.0f} %"
        compared = str(sum(map(len, gaps)))
        points = f"{fmean(per_seed):+.2f}"
        rows.append([name, str(count), share, compared, points, interval(per_seed), str(len(per_seed))])
    return markdown(rows)


def gains(curves: Curves, tasks: Iterable[str]) -> str:
    """What the last student of `auto` has over its teacher, in the rounds that recorded both."""
    rows = [
        ["task", "rounds", "self-training on", "student minus teacher", "95 % interval", "on dev", "seeds", "labels"]
    ]
    for task in tasks:
        seeds = [list(seed.values()) for seed in curves.get((task, "auto"), {}).values()]
        seeds = [[facts for facts in seed if "gain" in facts] for seed in seeds]
        every = [facts for seed in seeds for facts in seed]
        if not every:
            continue
        per_seed = [100 * fmean(facts["gain"] for facts in seed) for seed in seeds if seed]
        on = sum(facts["trusted"] > 0 for facts in every)
        dev = 100 * fmean(facts["dev_gain"] for facts in every)
        most = max(facts["labels"] for facts in every)
        points = [f"{fmean(per_seed):+.2f}", interval(per_seed), f"{dev:+.2f}", str(len(per_seed)), f"to {most:,}"]
        rows.append([task, str(len(every)), str(on), *points])
    return markdown(rows)


def paired(curves: Curves, task: str, other: str, off: Sequence[bool] = (True, False)) -> list[list[tuple[int, float]]]:
    """For each seed, labels and points of the rounds where self-training was off, on, or either."""
    found = []
    for seed, rounds in curves.get((task, other), {}).items():
        ours = curves[task, "auto"][seed]
        both = sorted(n for n in rounds if n in ours and (ours[n]["trusted"] == 0) in off)
        found.append([(n, 100 * (ours[n]["accuracy"] - rounds[n]["accuracy"])) for n in both])
    return [seed for seed in found if seed]


def interval(values: list[float]) -> str:
    if len(values) < 2:
        return "–"
    half = float(student.ppf(0.975, len(values) - 1)) * stdev(values) / len(values) ** 0.5
    return f"{fmean(values) - half:+.2f} to {fmean(values) + half:+.2f}"


def main() -> None:
    verb, place, *file = sys.argv[1:]
    if verb == "collect":
        return collect(Path(place), Path(file[0]))
    found = rounds_of(Path(place))
    curves = curves_of(found)
    tasks = list(dict.fromkeys(task for task, _ in curves))
    for task in tasks:
        print(f"{task}\n\n{accuracies(curves, task)}\n")
    print(differences(curves, tasks))
    if any("gain" in facts for facts in found):
        print(f"\n{gains(curves, tasks)}")
    estimated = [facts for facts in found if facts["method"] == "auto" and "offered_estimate" in facts]
    if estimated:
        print(f"\n{estimates(pd.DataFrame(estimated))}")
    for task in tasks:
        if (task, "auto-no-switch") in curves:
            print(f"\n{switch(curves, task)}")


if __name__ == "__main__":
    main()
