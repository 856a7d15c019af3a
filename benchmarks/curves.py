"""One table of curves from what `actune run --json` printed: python benchmarks/curves.py RESULT.json... > table.csv"""

import csv
import json
import sys
from pathlib import Path
from typing import Any

COLUMNS = ("labels", "accuracy", "macro_f1", "pseudo_labels", "pseudo_label_accuracy", "seconds")


def rows(result: dict[str, Any]) -> list[list[object]]:
    run = [result[name] for name in ("method", "model", "learner", "seed")]
    entries = zip(*(result[name] for name in COLUMNS), strict=True)
    return [run + [rounded(value) for value in entry] for entry in entries]


def rounded(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value


def main(paths: list[str]) -> None:
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["method", "model", "learner", "seed", *COLUMNS])
    for path in paths:
        table.writerows(rows(json.loads(Path(path).read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main(sys.argv[1:])
