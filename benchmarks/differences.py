"""Paired differences as a Markdown table: python benchmarks/differences.py TABLE.csv TASK A B LABELS [COLUMN]

A minus B in points; one of the two may be `all` for every other method, one line each. A cell is the mean over the
seeds that both have, and in brackets the lowest and the highest seed. `ahead` counts the rounds after the first in
which the mean is above zero.
"""

import csv
import sys
from pathlib import Path

Curves = dict[str, dict[int, float]]  # by seed and labels


def differences(table: Path, task: str, a: str, b: str, at: str, column: str = "accuracy") -> str:
    """Lines in the order of the last cell, the largest first."""
    methods: dict[str, Curves] = {}
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["task"] == task and row[column]:
                curve = methods.setdefault(row["method"], {}).setdefault(row["seed"], {})
                curve[int(row["labels"])] = 100 * float(row[column])
    labels = [int(count) for count in at.split(",")]
    rows = []
    for other in sorted(set(methods) - {a, b}) if "all" in (a, b) else [b]:
        gaps = minus(methods[other if a == "all" else a], methods[other if b == "all" else b])
        means = [round(sum(gap) / len(gap), 9) for gap in list(gaps.values())[1:]]
        told = [cell(gaps[count]) for count in labels]
        ahead = f"{sum(mean > 0 for mean in means)} of {len(means)}"
        seeds = str(len(gaps[labels[-1]]))
        rows.append((sum(gaps[labels[-1]]), [f"`{other}`", *told, ahead, seeds]))
    ordered = [cells for _, cells in sorted(rows, key=lambda row: -row[0])]
    lines = [["labels", *map(str, labels), "ahead", "seeds"], ["---"] * (len(labels) + 3), *ordered]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def minus(a: Curves, b: Curves) -> dict[int, list[float]]:
    """By number of labels, the difference under each seed that both have."""
    seeds = sorted(a.keys() & b.keys())
    return {count: [round(a[seed][count] - b[seed][count], 9) for seed in seeds] for count in sorted(a[seeds[0]])}


def cell(gaps: list[float]) -> str:
    """`+1.33 (+0.80 to +2.40)`."""
    mean, low, high = (points(gap) for gap in (sum(gaps) / len(gaps), min(gaps), max(gaps)))
    return f"{mean} ({low} to {high})"


def points(gap: float) -> str:
    """With its sign, and none where nothing is left of it."""
    told = f"{gap:+.2f}"
    return "0.00" if float(told) == 0 else told.replace("-", "−")


if __name__ == "__main__":
    print(differences(Path(sys.argv[1]), *sys.argv[2:]))
