"""What class names bring: the first model before any answer, and random labels with and without the names.

    PYTHONPATH=. python benchmarks/few/names.py run --data-dir DIR --seeds 0,1,2,3,4
    PYTHONPATH=. python benchmarks/few/names.py show

At most 10,000 texts of a data set are the pool; there is no dev set, and the learner is a probe on frozen minilm. Names
are read and weighed by the product's own code. `accuracy` is that on the test set, `train` that on train rows outside
the pool, by which the forms of names were chosen. What is finished is kept in a file, and never run again.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from actune.core.labels import Labels
from actune.core.objective import PLAIN
from actune.core.spec import RunSpec
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels
from actune.models.learners import recipe_for
from actune.models.sources import fetch, find_model
from actune.rounds.fitting import training_set
from actune.rounds.prepared import PreparedTask
from actune.rounds.weighing import Weighed, weigh
from actune.session.naming import useful_names
from actune.session.opening import named_labels
from benchmarks.few.learner import TASKS, drawn, task_of

RESULTS = Path("benchmarks/results/few_names.csv")
COLUMNS = ("task", "seed", "labels", "names", "accuracy", "train")
COUNTS = (0, 50, 100, 300)


def fits(name: str, seed: int, data_dir: str | None) -> Iterator[dict[str, Any]]:
    """One line for each number of labels, without and with names."""
    task, others = task_of(name, data_dir)
    task = replace(task, dev=None)
    recipe = recipe_for("probe", "cpu")
    device = torch.device("cpu")
    encoder = fetch(find_model("minilm"))
    prepared = PreparedTask(task, "probe", lambda: encoder, recipe, device, task.settings.max_tokens)
    judges = {"accuracy": task.test, "train": others}
    read = {key: prepared.learner.prepare(part.texts) for key, part in judges.items() if part is not None}
    names = useful_names("own", task.pool.classes)
    weak = named_labels(RunSpec(name, names=names, seed=seed), prepared) if names else None
    for count in COUNTS:
        answers = drawn(task, count, seed)
        labels = Labels(dict(zip(answers.rows.tolist(), answers.labels.tolist(), strict=True)), frozenset(), count)
        for with_names in (False, True):
            streams, weighed, full = Streams(seed, count), Weighed(), {}
            if with_names and weak is not None:
                full = {} if count else weak.of_row
                weighed = weigh(prepared, labels, weak.guesses, streams) if count else weighed
            training = training_set(labels, full, PseudoLabels.none(), weighed.rows)
            if not len(training.rows):
                continue
            fitted = prepared.learner.fit(prepared.pool, training, PLAIN, streams)
            found = {}
            for key, part in judges.items():
                if part is not None:
                    said = fitted.read(read[key]).log_proba.argmax(1).numpy()
                    found[key] = f"{(said == part.labels).mean():.4f}"
            yield {"task": name, "seed": seed, "labels": count, "names": int(with_names), **found}


def stored(file: Path) -> list[dict[str, str]]:
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def show(file: Path, judge: str) -> str:
    found: dict[tuple[str, int, int], list[float]] = defaultdict(list)
    for line in stored(file):
        found[line["task"], int(line["labels"]), int(line["names"])].append(100 * float(line[judge]))
    heads = ["names alone"] + [f"{count}{words}" for count in COUNTS[1:] for words in ("", " with names")]
    lines = [f"| task | {' | '.join(heads)} | seeds |", f"|---|{'---|' * (len(heads) + 1)}"]
    places = [(0, 1), *((count, names) for count in COUNTS[1:] for names in (0, 1))]
    for name in TASKS:
        cells = [fmean(found[name, *place]) if found[name, *place] else None for place in places]
        if any(cell is not None for cell in cells):
            shown = " | ".join("" if cell is None else f"{cell:.1f}" for cell in cells)
            lines.append(f"| {name} | {shown} | {max(len(found[name, *place]) for place in places)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "show"])
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--seeds", default="0,1,2,3,4")
    parser.add_argument("--judge", choices=["accuracy", "train"], default="accuracy")
    parser.add_argument("--data-dir")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.verb == "run":
        done = {(line["task"], int(line["seed"])) for line in stored(given.out)}
        for seed in map(int, given.seeds.split(",")):
            for name in given.tasks.split(","):
                if (name, seed) not in done:
                    lines = list(fits(name, seed, given.data_dir))
                    new = not given.out.is_file()
                    with given.out.open("a", encoding="utf-8", newline="") as stream:
                        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
                        if new:
                            writer.writeheader()
                        writer.writerows(lines)
                    print(name, seed, *(line["accuracy"] for line in lines), flush=True)
    print(show(given.out, given.judge))


if __name__ == "__main__":
    main()
