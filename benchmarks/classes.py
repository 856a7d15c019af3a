"""What each class had to learn from, as a Markdown table: python benchmarks/classes.py TABLE.csv TASK METHODS LABELS

TABLE.csv lies in a results folder of `actune bench run` or `actune bench tidy`; METHODS is a list or `all`. A cell is
answers + pseudo-labels of the class, and the share of its test texts that is found; their number stands in the head.
"""

import sys
from pathlib import Path

import numpy as np

from actune.bench.store import Results


def by_class(table: Path, task: str, methods: str, at: str) -> str:
    """A line for each method, seed and number of labels."""
    results = Results(table.parent)
    labels = [int(count) for count in at.split(",")]
    head: list[str] = []
    lines = []
    for key in results.finished():
        point = results.cells[key]
        if point.task != task or (methods != "all" and point.method not in methods.split(",")):
            continue
        record = results.record(key)
        assert record is not None
        names, truth, said = record.config.resolved.classes, record.truth(), record.predictions()
        assert truth is not None and said is not None
        head = [f"{name} ({np.sum(truth == number)})" for number, name in enumerate(names)]
        for facts in record.rounds:
            if facts.labels in labels:
                found = [np.mean(said[facts.round][truth == number] == number) for number in range(len(names))]
                counts = zip(facts.class_counts, facts.pseudo_labels.classes_trained_on, found, strict=True)
                cells = [f"{asked:,} + {trusted:,}, {share:.0%}".replace("%", " %") for asked, trusted, share in counts]
                lines.append((point.method, facts.labels, point.seed, cells))
    rows = [[f"`{method}`", str(seed), str(count), *cells] for method, count, seed, cells in sorted(lines)]
    rows = [["method", "seed", "labels", *head], ["---"] * (len(head) + 3), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


if __name__ == "__main__":
    print(by_class(Path(sys.argv[1]), *sys.argv[2:]))
