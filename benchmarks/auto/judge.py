"""What the grid `breadth` says about `auto`: the tables of benchmarks/reports/auto.md.

    PYTHONPATH=. python benchmarks/auto/judge.py collect runs/breadth benchmarks/results/breadth
    PYTHONPATH=. python benchmarks/auto/judge.py show benchmarks/results/breadth

`collect` takes the table of a finished grid, and from its cells what `auto` estimated about its pseudo-labels. The unit
of every test is a task and a seed: the area under its curve, which is its average accuracy. p is two-sided, and
corrected by Holm within each table.
"""

from __future__ import annotations

import argparse
import csv
import shutil
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from actune.bench.statistics import Estimate, area_under, holm, paired_test
from actune.bench.store import Results
from benchmarks.auto.tables import columns_of, markdown

TASKS = ("trec", "sst2", "ag_news", "pubmed_sections", "dbpedia14", "chemprot")  # then any other, as they come
NEVER_BELOW = ("random", "badge", "margin", "auto-query")
ABLATIONS = (
    "auto-query",
    "auto-no-groups",
    "auto-no-balance",
    "auto-one-student",
    "auto-no-switch",
)
ESTIMATES = "estimates.csv"
FACTS = ("round", "labels", "offered", "offered_accuracy", "offered_estimate", "trusted")
Areas = dict[tuple[str, str, int], float]  # method, task, seed


def collect(source: Path, target: Path, seeds: list[int]) -> None:
    """The published part of a folder of results: its table of these seeds, and the estimates."""
    results = Results(source)
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(source / "grid.toml", target / "grid.toml")  # so that reports say what is missing
    table = results.table()
    table = table[table.seed.isin(seeds)]
    table.to_parquet(target / "results.parquet", index=False, compression="zstd")
    with (target / ESTIMATES).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("task", "seed", *FACTS))
        for key in results.finished():
            point = results.cells[key]
            if point.method == "auto" and point.seed in seeds:
                record = results.record(key)
                assert record is not None
                for facts in map(columns_of, record.rounds):
                    values = [facts[name] for name in FACTS]
                    writer.writerow(
                        (point.task, point.seed, *(round(v, 4) if isinstance(v, float) else v for v in values))
                    )


def areas_of(table: pd.DataFrame, measure: str = "accuracy") -> Areas:
    """The average of a measure over labels, for every run."""
    found: Areas = {}
    for (method, task, seed), run in table.sort_values("labels").groupby(["method", "task", "seed"]):
        found[method, task, int(seed)] = area_under(run.labels.tolist(), run[measure].tolist())
    return found


def in_order(tasks: Iterable[str]) -> tuple[str, ...]:
    """Each task once, those of the grid `breadth` in its order first."""
    known = dict.fromkeys(tasks)
    return (*(task for task in TASKS if task in known), *(task for task in known if task not in TASKS))


def gap(areas: Areas, one: str, other: str, tasks: tuple[str, ...]) -> Estimate | None:
    """Points that one method is ahead of another on the runs that both have."""
    pairs = [
        (100 * value, 100 * areas[other, task, seed])
        for (method, task, seed), value in sorted(areas.items())
        if method == one and task in tasks and (other, task, seed) in areas
    ]
    return paired_test([a for a, _ in pairs], [b for _, b in pairs]) if pairs else None


def told(found: Estimate, p: float | None) -> list[str]:
    interval = "–" if found.bounds is None else "{:+.2f} to {:+.2f}".format(*found.bounds)
    return [f"{found.mean:+.2f}", interval, "–" if p is None else f"{p:.2g}", str(found.runs)]


def means(areas: Areas) -> str:
    """The average of every method by task, the best mean first."""
    methods = sorted({method for method, _, _ in areas})
    tasks, rows = in_order(task for _, task, _ in areas), []
    for method in methods:
        values = [[100 * v for (m, t, _), v in areas.items() if m == method and t == task] for task in tasks]
        by_task = [sum(each) / len(each) if each else float("nan") for each in values]
        rows.append((sum(by_task) / len(by_task), method, by_task, sum(map(len, values))))
    lines = [["method", *tasks, "mean", "runs"]]
    for mean, method, by_task, runs in sorted(rows, key=lambda row: -row[0]):
        lines.append([f"`{method}`", *(f"{value:.2f}" for value in by_task), f"{mean:.2f}", str(runs)])
    return markdown(lines)


def overall(areas: Areas, others: tuple[str, ...], one: str = "auto") -> str:
    """One method minus each of the others, over all tasks and seeds."""
    tasks = in_order(task for _, task, _ in areas)
    gaps = [(other, found) for other in others if (found := gap(areas, one, other, tasks))]
    corrected = holm([found.p for _, found in gaps])
    lines = [[f"`{one}` minus", "points", "95 % interval", "p", "pairs"]]
    lines += [[f"`{other}`", *told(found, p)] for (other, found), p in zip(gaps, corrected, strict=True)]
    return markdown(lines)


def by_task(areas: Areas, others: tuple[str, ...]) -> str:
    """`auto` minus each of the others on every task; one family of tests."""
    pairs = [(task, other) for task in in_order(task for _, task, _ in areas) for other in others]
    gaps = [(task, other, found) for task, other in pairs if (found := gap(areas, "auto", other, (task,)))]
    corrected = holm([found.p for _, _, found in gaps])
    lines = [["task", "`auto` minus", "points", "95 % interval", "p", "seeds"]]
    lines += [[task, f"`{o}`", *told(found, p)] for (task, o, found), p in zip(gaps, corrected, strict=True)]
    return markdown(lines)


def estimates(table: pd.DataFrame) -> str:
    """Estimated against true shares of right pseudo-labels, by task."""
    table = table[table.offered > 0]
    lines = [["task", "right", "estimated", "mean error", "mean absolute error", "rounds", "self-training on"]]
    for task, here in [*((task, table[table.task == task]) for task in in_order(table.task)), ("all", table)]:
        error = 100 * (here.offered_estimate - here.offered_accuracy)
        shares = [f"{100 * here.offered_accuracy.mean():.1f} %", f"{100 * here.offered_estimate.mean():.1f} %"]
        on = f"{100 * (here.trusted > 0).mean():.0f} %"
        lines.append([task, *shares, f"{error.mean():+.1f}", f"{error.abs().mean():.1f}", str(len(here)), on])
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["collect", "show"])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path, nargs="?")
    parser.add_argument("--seeds", default="0,1,2,3,4", help="that count; estimates are shown of all")
    parser.add_argument("--measure", default="accuracy", choices=["accuracy", "macro_f1"], help="that is averaged")
    given = parser.parse_args()
    if given.verb == "collect":
        collect(given.source, given.target, [int(seed) for seed in given.seeds.split(",")])
        return
    table = Results(given.source).table()
    areas = areas_of(table[table.seed.isin([int(seed) for seed in given.seeds.split(",")])], given.measure)
    baselines = tuple(sorted({m for m, _, _ in areas} - {"auto", *ABLATIONS}))
    print(means(areas), overall(areas, baselines), by_task(areas, NEVER_BELOW), sep="\n\n", end="\n\n")
    print(overall(areas, ABLATIONS), estimates(pd.read_csv(given.source / ESTIMATES)), sep="\n\n")


if __name__ == "__main__":
    main()
