"""Seconds and peak memory of commands on a large pool, each in a process of its own.

    python benchmarks/speed/pool.py --rows 1000000 --out benchmarks/results/pool_cpu.jsonl

The texts are questions of TREC, each with some words of other questions behind it. `read` is the reading of a CSV file
of them alone, and `open` opens the same texts in an Arrow file that is mapped into memory, and reads ten of them.
`start`, `ask`, `tell` and `advance` are the commands, on a project whose first 50 questions are answered, and on one
whose texts have ids that are not row numbers (`named`). Between `tell` and `advance`, random vectors of the right
width are put into the cache, where `advance` takes them for the embeddings.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actune.models.cache import Vectors
    from actune.models.embeddings import Flags

FEW = 10  # texts that are read
FIRST = ["--first", "random", "--initial", "50", "--batch", "50"]
CLASSES = ("question", "answer")
BLOCK = 10_000  # vectors that are made at a time
ADDED = 3  # words behind each question, so that texts differ
MEBIBYTE = 1024  # kilobytes, which is what Linux counts in


def make(folder: Path, rows: int) -> None:
    """A CSV file as a user has it, without labels."""
    from actune.data.tasks import load_task

    real = list(load_task("trec").pool.texts)
    words = [word for text in real for word in text.split()]
    draw = random.Random(0)
    with (folder / "pool.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "name"])
        for row in range(rows):
            writer.writerow([" ".join([draw.choice(real), *draw.choices(words, k=ADDED)]), f"post-{row * 7919 % rows}"])


def read(folder: Path) -> None:
    from actune.data.formats import read_pool

    read_pool(folder / "pool.csv")


def write(folder: Path) -> None:
    from actune.core.columns import write_columns
    from actune.data.formats import read_pool

    pool = read_pool(folder / "pool.csv")
    write_columns(folder / "pool.arrow", pool.ids, pool.texts, pool.labels)


def open_few(folder: Path) -> None:
    from actune.core.columns import open_columns

    pool = open_columns([folder / "pool.arrow"], ("a", "b"))
    for row in range(0, len(pool), -(-len(pool) // FEW)):
        assert pool.row_of[pool.ids[row]] == row and pool.texts[row]


def fill(folder: Path) -> None:
    """Answers all questions in the files, half of them with each class."""
    for path in (folder / "project.csv", folder / "named.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            columns, *rows = csv.reader(file)
        for number, row in enumerate(rows):
            row[columns.index("label")] = CLASSES[number % len(CLASSES)]
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([columns, *rows])


def embed(folder: Path) -> None:
    """Random unit vectors where the project's learner looks for the embeddings of its pool."""
    import numpy as np

    from actune.models.probing import Probing
    from actune.session.setup import open_session

    def made(learner: Probing, texts: Sequence[str], progress: object) -> tuple[Vectors, Flags]:
        vectors: Vectors = np.empty((len(texts), learner.width), np.float32)
        rng = np.random.default_rng([*texts[0].encode()])  # texts come in chunks, and chunks must differ
        for start in range(0, len(texts), BLOCK):
            block = rng.standard_normal(vectors[start : start + BLOCK].shape, np.float32)
            vectors[start : start + BLOCK] = block / np.linalg.norm(block, axis=1, keepdims=True)
        return vectors, np.zeros(len(texts), bool)

    Probing._embed = made  # type: ignore[method-assign]
    with open_session(folder / "project") as session:
        assert len(session.prepared.pool) == len(session.pool)


STEPS: dict[str, Callable[[Path], None]] = {
    "read": read,
    "write": write,
    "open": open_few,
    "fill": fill,
    "embed": embed,
}


def measured(*command: str) -> dict[str, float]:
    """Runs a command to its end. This process stays small, because a child's peak counts from that of its parent."""
    started = time.perf_counter()
    child = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return {"seconds": round(time.perf_counter() - started, 2), "mebibytes": round(usage.ru_maxrss / MEBIBYTE)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--out", help="a file to add results to")
    parser.add_argument("--step", choices=[*STEPS, "make"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step == "make":
        return make(given.folder, given.rows[0])
    if given.step:
        return STEPS[given.step](given.folder)
    about = {"command": " ".join(["python", *sys.argv]), "machine": f"{platform.machine()} {os.cpu_count()} cores"}
    for rows in given.rows:
        folder = Path(tempfile.mkdtemp(prefix="actune-pool-"))
        own = [__file__, "--folder", str(folder)]
        os.environ["ACTUNE_CACHE"] = str(folder / "cache")
        project, named = str(folder / "project"), str(folder / "named")
        actune = ["-m", "actune"]
        start = [
            *actune,
            "start",
            str(folder / "pool.csv"),
            "--labels",
            ",".join(CLASSES),
            "--learner",
            "probe",
            *FIRST,
        ]
        commands = {
            "make": [*own, "--step", "make", "--rows", str(rows)],
            "read": [*own, "--step", "read"],
            "write": [*own, "--step", "write"],
            "open": [*own, "--step", "open"],
            "start": [*start, "--out", project],
            "start, named": [*start, "--id", "name", "--out", named],
            "ask": [*actune, "ask", project, "--to", f"{project}.csv"],
            "ask, named": [*actune, "ask", named, "--to", f"{named}.csv"],
            "fill": [*own, "--step", "fill"],
            "tell": [*actune, "tell", project, f"{project}.csv"],
            "tell, named": [*actune, "tell", named, f"{named}.csv"],
            "embed": [*own, "--step", "embed"],
            "advance": [*actune, "advance", project],
            "ask again": [*actune, "ask", project],
        }
        try:
            for what, command in commands.items():
                facts = {"what": what, "rows": rows, **measured(*command)}
                print(json.dumps(facts), flush=True)
                if given.out:
                    with Path(given.out).open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps({**facts, **about}) + "\n")
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
