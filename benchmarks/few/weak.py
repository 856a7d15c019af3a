"""What votes of rules bring before and after the first answers: runs with and without them, method by method.

    PYTHONPATH=. ACTUNE_DATA=DIR python benchmarks/few/weak.py run --seeds 0,1,2,3,4
    PYTHONPATH=. python benchmarks/few/weak.py show

The runs are those of `actune run TASK --weak --no-dev --learner probe --batch 50 --rounds 10`, and without votes those
with `--initial 50` instead of `--weak`. The accuracy is that on the test set. What is finished is kept in a file, a
line for every round, and never run again.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

TASKS = ("trec", "chemprot")
METHODS = ("random", "entropy", "actune", "hast", "thrifty")
STARTS = ("weak", "none")
RESULTS = Path("benchmarks/results/few_weak.csv")
COLUMNS = ("task", "start", "method", "seed", "labels", "accuracy")
BATCH, ROUNDS = 50, 10
SHOWN = (0, 50, 100, 200, 300, 500)
FALL, BEHIND = 3.0, 1.0  # points: below the weak start at any time, and below the run without votes at the end


def one_run(task: str, start: str, method: str, seed: int) -> list[dict[str, Any]]:
    """One line a round."""
    from actune.annotators.oracle import Oracle
    from actune.session.resume import open_simulation
    from actune.session.runner import run

    words: dict[str, Any] = {"weak": "own"} if start == "weak" else {"initial": BATCH}
    with tempfile.TemporaryDirectory() as scratch:
        session = open_simulation(
            Path(scratch) / "run",
            source=task,
            method=method,
            learner="probe",
            device="cpu",
            batch=BATCH,
            rounds=ROUNDS,
            seed=seed,
            no_dev=True,
            **words,
        )
        session.models = "none"
        run(session, Oracle(session.pool))
        facts = session.rounds()
        session.close()
    place = {"task": task, "start": start, "method": method, "seed": seed}
    return [{**place, "labels": each.labels, "accuracy": f"{each.accuracy:.4f}"} for each in facts]


def stored(file: Path) -> list[dict[str, str]]:
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def add(file: Path, lines: list[dict[str, Any]]) -> None:
    new = not file.is_file()
    with file.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(lines)


def curves(file: Path) -> dict[tuple[str, str, str], dict[int, list[float]]]:
    """Accuracies of all seeds by task, start and method, at each number of labels."""
    found: dict[tuple[str, str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in stored(file):
        place = line["task"], line["start"], line["method"]
        found[place][int(line["labels"])].append(100 * float(line["accuracy"]))
    return found


def show(file: Path) -> str:
    """Mean accuracies, the deepest fall below the weak start, and the last difference to the run without votes."""
    found = curves(file)
    lines = [
        f"| task | method | start | {' | '.join(map(str, SHOWN))} | deepest fall | at the end, against none | seeds |",
        f"|---|---|---|{'---|' * (len(SHOWN) + 3)}",
    ]
    for (task, start, method), curve in sorted(found.items()):
        means = {labels: fmean(values) for labels, values in curve.items()}
        cells = [f"{means[labels]:.1f}" if labels in means else "" for labels in SHOWN]
        fall = behind = ""
        if start == "weak":
            fall = f"{min(0.0, min(means.values()) - means[0]):+.1f}"
            if plain := found.get((task, "none", method)):
                behind = f"{means[max(means)] - fmean(plain[max(plain)]):+.1f}"
        seeds = min(map(len, curve.values()))
        lines.append(f"| {task} | {method} | {start} | {' | '.join(cells)} | {fall} | {behind} | {seeds} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "show"])
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--starts", default=",".join(STARTS))
    parser.add_argument("--seeds", default="0,1,2,3,4")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.verb == "run":
        done = {(line["task"], line["start"], line["method"], int(line["seed"])) for line in stored(given.out)}
        for seed in map(int, given.seeds.split(",")):
            for task in given.tasks.split(","):
                for method in given.methods.split(","):
                    for start in given.starts.split(","):
                        if (task, start, method, seed) not in done:
                            lines = one_run(task, start, method, seed)
                            add(given.out, lines)
                            print(task, start, method, seed, *(line["accuracy"] for line in lines), flush=True)
    print(show(given.out))


if __name__ == "__main__":
    main()
