"""Curves as a Markdown table, one line a run: python benchmarks/table.py TABLE.csv [COLUMN] [LABELS,...]"""

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


def number(cell: str, column: str) -> str:
    """With as many digits as readers can use; what is not there is a dash."""
    if not cell:
        return "–"
    return f"{float(cell):.{1 if column == 'seconds' else 3}f}" if "." in cell else cell


if __name__ == "__main__":
    print(markdown(Path(sys.argv[1]), *sys.argv[2:]))
