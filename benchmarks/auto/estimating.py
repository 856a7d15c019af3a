"""Ways to estimate how many pseudo-labels are right, on the rounds of `auto` with a probe.

    PYTHONPATH=. python benchmarks/auto/skewed.py runs/skewed-data
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/auto/estimating.py run
    PYTHONPATH=. python benchmarks/auto/estimating.py show

Each run is one of `auto` as it ships. Whenever it estimates, every other form is asked about the same rows too, and
what is true is taken from the run. Seeds are not those that results are reported on. What is finished is kept, and
never run again.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.isotonic import IsotonicRegression

from actune.core.calibration import HeldOut
from actune.data.tasks import load_task
from benchmarks.auto.judge import in_order
from benchmarks.auto.search import TASKS
from benchmarks.auto.skewed import TASKS as SKEWED
from benchmarks.auto.tables import add_runs, columns_of, markdown, stored

ROWS = 10_000
RESULTS = Path("benchmarks/results/auto_estimates.csv")
SHIPPED = "isotonic, classes weighed"

Form = Callable[[HeldOut, np.ndarray, np.ndarray], float]  # dev, then class and confidence of what is passed on


def confidence_alone(_held: HeldOut, _predicted: np.ndarray, confidence: np.ndarray) -> float:
    return float(confidence.mean())


def dev_accuracy(held: HeldOut, _predicted: np.ndarray, _confidence: np.ndarray) -> float:
    return float(held.right.mean())


def by_class(held: HeldOut, predicted: np.ndarray, _confidence: np.ndarray) -> float:
    """How often dev rows of the same predicted class are right; all of dev where it predicts none."""
    right = {each: _mean(held.right[held.predicted == each], held) for each in np.unique(predicted)}
    return float(np.mean([right[each] for each in predicted]))


def ten_bins(held: HeldOut, _predicted: np.ndarray, confidence: np.ndarray) -> float:
    """How often the tenth of dev that is as sure is right."""
    edges = np.quantile(held.confidence, np.linspace(0, 1, 11)[1:-1])
    bins = np.searchsorted(edges, held.confidence)
    right = np.array([_mean(held.right[bins == each], held) for each in range(10)])
    return float(right[np.searchsorted(edges, confidence)].mean())


def isotonic(held: HeldOut, _predicted: np.ndarray, confidence: np.ndarray) -> float:
    return float(_rising(held.confidence, held.right).predict(confidence).mean())


def isotonic_by_class(held: HeldOut, predicted: np.ndarray, confidence: np.ndarray) -> float:
    """A curve for each class; that of all dev where it predicts none."""
    found = np.empty(len(predicted))
    for each in np.unique(predicted):
        here, there = predicted == each, held.predicted == each
        there = there if there.any() else np.ones_like(there)
        found[here] = _rising(held.confidence[there], held.right[there]).predict(confidence[here])
    return float(found.mean())


FORMS: dict[str, Form] = {
    "confidence alone": confidence_alone,
    "dev accuracy": dev_accuracy,
    "dev accuracy by class": by_class,
    "ten bins of confidence": ten_bins,
    "isotonic": isotonic,
    "isotonic by class": isotonic_by_class,
}


def _mean(right: np.ndarray, held: HeldOut) -> float:
    return float(right.mean() if len(right) else held.right.mean())


def _rising(confidence: np.ndarray, right: np.ndarray) -> IsotonicRegression:
    return IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(confidence, right)


@contextmanager
def overheard() -> Iterator[list[dict[str, float]]]:
    """What every form says, whenever a run estimates."""
    said: list[dict[str, float]] = []
    shipped = HeldOut.accuracy_of

    def asked(held: HeldOut, predicted: np.ndarray, confidence: np.ndarray) -> float | None:
        found = shipped(held, predicted, confidence)
        if found is not None:
            said.append({SHIPPED: found} | {name: form(held, predicted, confidence) for name, form in FORMS.items()})
        return found

    HeldOut.accuracy_of = asked  # type: ignore[method-assign]
    try:
        yield said
    finally:
        HeldOut.accuracy_of = shipped  # type: ignore[method-assign]


def one_run(name: str, seed: int, data_dir: str | None) -> list[dict[str, Any]]:
    """One line a round; the forms that belong to it are those beside the estimate that it kept."""
    import actune
    from actune.session.setup import find_task

    skewed = name.removesuffix("_skewed")
    task = (
        load_task(name, data_dir, seed, ROWS)
        if skewed == name
        else find_task(f"runs/skewed-data/{skewed}", {"sample": ROWS}, seed)
    )
    with tempfile.TemporaryDirectory() as scratch, overheard() as said:
        session = actune.create(
            Path(scratch) / "run",
            task,
            method="auto",
            learner="probe",
            device="cpu",
            initial=50,
            batch=50,
            rounds=10,
            seed=seed,
            simulated=True,
        )
        session.models = "none"
        actune.run(session, actune.Oracle(session.pool))
        rounds = [columns_of(facts) for facts in session.rounds()]
        session.close()
    lines = []
    for facts in rounds:
        forms = next(each for each in said if each[SHIPPED] == facts["offered_estimate"])
        who = {"task": name, "seed": seed, "labels": facts["labels"], "right": facts["offered_accuracy"]}
        lines.append({name: _short(value) for name, value in (who | forms).items()})
    return lines


def run(seeds: list[int], file: Path, data_dir: str | None, workers: int) -> None:
    """Runs what is not there yet, and adds it to the file."""
    done = {(line["task"], int(line["seed"])) for line in stored(file)}
    places = [(name, seed) for name in (*TASKS, *(f"{name}_skewed" for name in SKEWED)) for seed in seeds]
    left = [place for place in places if place not in done]
    print(f"{len(left)} of {len(places)} runs are left", flush=True)
    add_runs(file, one_run, [(*place, data_dir) for place in left], workers)


def show(table: pd.DataFrame) -> str:
    """Points that each form is off by, on average over rounds and seeds."""
    tasks = in_order(sorted(table.task))  # runs end in any order
    lines = [["estimate", *tasks, "mean", "worst round"]]
    errors = {name: 100 * (table[name] - table.right).abs() for name in (SHIPPED, *FORMS)}
    means = {name: [float(error[table.task == task].mean()) for task in tasks] for name, error in errors.items()}
    for name in sorted(means, key=lambda name: sum(means[name])):
        cells = [*means[name], sum(means[name]) / len(tasks), float(errors[name].max())]
        lines.append([name, *(f"{value:.1f}" for value in cells)])
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "show"])
    parser.add_argument("--seeds", default="10,11,12,13,14")
    parser.add_argument("--data-dir")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.verb == "run":
        run([int(seed) for seed in given.seeds.split(",")], given.out, given.data_dir, given.workers)
    print(show(pd.read_csv(given.out)))


def _short(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
