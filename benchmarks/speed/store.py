"""How long one answer and one batch of questions take, in a process that has the project open.

    PYTHONPATH=. python benchmarks/speed/store.py --texts 1000 1000000 --answers 100000

A project on made-up texts, whose ids are their row numbers or names, gets so many answers, each of which changes a
label or gives a new one, and keeps 50 open questions. It is opened again, and then `tell` of one answer and `ask` are
called again and again. Times are milliseconds. An answer is on the disk when `tell` returns, so one `fsync` stands
beside; in memory (`/dev/shm`) nobody waits for a disk.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import actune
from actune.core.dialogue import Answer

CLASSES = ("praise", "complaint", "question", "other")
OPEN, CHUNK, CALLS = 50, 5000, 300
SOON = {"method": "random", "learner": "probe", "first": "random", "device": "cpu"}  # nothing is read or trained


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, nargs="+", default=[1000, 1_000_000])
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--out", help="a file to add results to")
    given = parser.parse_args(words)
    command = " ".join(["python benchmarks/speed/store.py", *words])
    about = {"command": command, "machine": f"{platform.machine()} {os.cpu_count()} cores"}
    places = ("disk", None), ("memory", "/dev/shm")
    for texts, (place, parent), ids in product(given.texts, places, ("row numbers", "names")):
        with tempfile.TemporaryDirectory(dir=parent) as scratch:
            for facts in measure(Path(scratch) / "project", texts, given.answers, ids == "names"):
                line = json.dumps({**facts, "ids": ids, "place": place, **about})
                print(line, flush=True)
                if given.out:
                    with Path(given.out).open("a", encoding="utf-8") as file:
                        file.write(f"{line}\n")


def measure(folder: Path, texts: int, answers: int, named: bool) -> Iterator[dict[str, Any]]:
    ids = [f"post-{row}" for row in range(texts)] if named else None
    pool = actune.pool_of([f"made-up text number {row}" for row in range(texts)], ids=ids, classes=CLASSES)
    actune.create(folder, pool, initial=OPEN, batch=OPEN, **SOON).close()
    with actune.open_session(folder) as session:
        asked = {question.id for question in session.ask()}
        sayings = said_on([id for id in pool.ids if id not in asked])
        for _ in range(0, answers, CHUNK):
            session.tell([next(sayings) for _ in range(CHUNK)])
        size = {"texts": texts, "answers": len(session.store.answers())}
        yield {"what": "tell of one answer", **size, **times(lambda: session.tell([next(sayings)]))}
        yield {"what": f"ask of {OPEN}", **size, **times(session.ask)}
        with (folder / "synced").open("wb") as file:
            yield {"what": "fsync of 4 KiB", **size, **times(lambda: sync(file))}


def said_on(ids: list[str]) -> Iterator[Answer]:
    """Answers without end, none of which repeats what was said before."""
    turn = 0
    while True:
        yield from (Answer(id, CLASSES[turn % len(CLASSES)]) for id in ids)
        turn += 1


def sync(file: Any) -> None:
    file.write(b"x" * 4096)
    file.flush()
    os.fsync(file.fileno())


def times(work: Callable[[], object]) -> dict[str, float]:
    work()
    seconds = []
    for _ in range(CALLS):
        start = time.perf_counter()
        work()
        seconds.append(1000 * (time.perf_counter() - start))
    hundredths = statistics.quantiles(seconds, n=100)
    return {
        "median_ms": round(hundredths[49], 3),
        "p95_ms": round(hundredths[94], 3),
        "worst_ms": round(max(seconds), 3),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
