"""Curves as a Markdown table: python benchmarks/table.py TABLE.csv [COLUMN] [LABELS,...] [TASK]

A line is a run; with a task it is a method, and its cells are means over the seeds that are finished.
"""

import csv
import sys
from pathlib import Path

AT = "50,100,200,300,400,500"


def markdown(table: Path, column: str = "accuracy", at: str = AT) -> str:
    """What the runs of a table that benchmarks/curves.py printed have at some numbers of labels."""
    runs: dict[tuple[str, str], dict[str, str]] = {}
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            runs.setdefault((row["method"], row["seed"]), {})[row["labels"]] = row[column]
    seeds = {seed for _, seed in runs}
    labels = at.split(",")
    lines = [["labels", *labels], ["---"] * (len(labels) + 1)]
    for (method, seed), curve in runs.items():
        if not any(curve.values()):
            continue  # a method without what the column is about
        name = f"`{method}`" if len(seeds) == 1 else f"`{method}`, seed {seed}"
        lines.append([name, *(number(curve.get(count, ""), column) for count in labels)])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def means(table: Path, column: str, at: str, task: str) -> str:
    """The same of a table of `actune bench`, averaged over seeds."""
    curves: dict[str, dict[str, list[float]]] = {}
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["task"] == task and row[column]:
                curves.setdefault(row["method"], {}).setdefault(row["labels"], []).append(float(row[column]))
    labels = at.split(",")
    lines = [["labels", *labels, "seeds"], ["---"] * (len(labels) + 2)]
    for method, curve in curves.items():
        if not any(map(any, curve.values())):
            continue  # a method without what the column is about
        cells = [
            number(str(sum(curve[count]) / len(curve[count])) if count in curve else "", column) for count in labels
        ]
        lines.append([f"`{method}`", *cells, str(max(map(len, curve.values())))])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def number(cell: str, column: str) -> str:
    """With as many digits as readers can use; what is not there is a dash."""
    if not cell:
        return "–"
    digits = {"seconds": 1, "pseudo_labels": 0}.get(column, 3)
    return f"{float(cell):.{digits}f}" if "." in cell else cell


if __name__ == "__main__":
    print((means if len(sys.argv) > 4 else markdown)(Path(sys.argv[1]), *sys.argv[2:]))
