"""How many labels whole runs save beside random labels, with a fine-tuned encoder and without a dev set.

    PYTHONPATH=. python benchmarks/few/loop.py run --learner finetune --model mpnet --device cuda --methods thrifty --seeds 0,1,2 --rounds 10 --out benchmarks/results/few_finetuned.jsonl --data-dir DIR
    PYTHONPATH=. python benchmarks/few/learner.py run --model mpnet --device cuda --variants paper,contrastive --labels 500 --seeds 0,1,2 --data-dir DIR
    PYTHONPATH=. python benchmarks/few/saved.py

The target on a data set is the mean accuracy of random labels, 500 of them, with a recipe. The labels that a method
needs are read off the line between the points of its own mean accuracy, where it first reaches the target less 0.3
points. A method that does not reach the target saves nothing.
"""  # noqa: E501 - commands

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from statistics import fmean

from benchmarks.few.learner import RESULTS as RANDOM
from benchmarks.few.learner import TASKS, stored

RUNS = Path("benchmarks/results/few_finetuned.jsonl")
LABELS = 500  # random ones
SLACK = 0.3  # points
RECIPES = ("paper", "contrastive")

Curve = dict[int, float]  # accuracy in per cent by the number of labels


def labels_needed(curve: Curve, target: float) -> float | None:
    """Where the line between the points first reaches the target; None where it never does."""
    before: tuple[int, float] | None = None
    for labels, accuracy in sorted(curve.items()):
        if accuracy >= target:
            if before is None:
                return float(labels)
            share = (target - before[1]) / (accuracy - before[1])
            return before[0] + share * (labels - before[0])
        before = labels, accuracy
    return None


def curves(file: Path, method: str) -> dict[str, Curve]:
    """The mean accuracy over seeds by data set, at the numbers of labels that all seeds have."""
    found: dict[str, list[Curve]] = defaultdict(list)
    for line in stored(file):
        if line["method"] == method:
            points = zip(line["labels"], line["accuracy"], strict=True)
            found[line["task"]].append({labels: 100 * accuracy for labels, accuracy in points})
    return {
        task: {labels: fmean(each[labels] for each in runs) for labels in set.intersection(*map(set, runs))}
        for task, runs in found.items()
    }


def targets(file: Path, model: str, recipe: str) -> dict[str, float]:
    """The mean accuracy of random labels by data set."""
    found: dict[str, list[float]] = defaultdict(list)
    for line in stored(file):
        if (line["model"], line["variant"], line["labels"]) == (model, recipe, LABELS):
            found[line["task"]].append(100 * line["test"])
    return {task: fmean(values) for task, values in found.items()}


def show(runs: Path, random: Path, method: str, model: str) -> str:
    """One line for each recipe and data set, and the means."""
    curve_of = curves(runs, method)
    lines = [f"| recipe | data set | {LABELS} random labels | labels of `{method}` | saved |", "|---|---|---|---|---|"]
    for recipe in RECIPES:
        target_of = targets(random, model, recipe)
        shares = []
        for task in (task for task in TASKS if task in curve_of and task in target_of):
            needed = labels_needed(curve_of[task], target_of[task] - SLACK)
            shares.append(max(0.0, 1 - needed / LABELS) if needed is not None else 0.0)
            said = f"more than {max(curve_of[task])}" if needed is None else f"{needed:.0f}"
            lines.append(
                f"| {recipe} | {task} | {target_of[task]:.1f} | {said} | {shares[-1]:.0%} |".replace("%", " %")
            )
        if shares:
            lines.append(f"| {recipe} | mean of {len(shares)} | | | {fmean(shares):.0%} |".replace("%", " %"))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, default=RUNS)
    parser.add_argument("--random", type=Path, default=RANDOM)
    parser.add_argument("--method", default="thrifty")
    parser.add_argument("--model", default="mpnet")
    given = parser.parse_args()
    print(show(given.runs, given.random, given.method, given.model))


if __name__ == "__main__":
    main()
