"""One whole round on pools of up to a million texts, AcTune's or another's: seconds by phase, and how they grow.

    PYTHONPATH=. python benchmarks/speed/round.py --data-dir DIR
    PYTHONPATH=. python benchmarks/speed/round.py --data-dir DIR --learner finetune --device cuda --model mpnet \\
        --rows 10000,100000,1000000
    PYTHONPATH=. python benchmarks/speed/round.py --data-dir DIR --rows 100000 --methods entropy,thrifty

From a CSV file to the last model: 100 answers, a fit, a read of the pool, 100 questions and the rows to trust, answers,
a fit on all of them; then the folder is opened once more. Texts are real; where more are wanted they come again, each
with a number put between two of its words. The probe finds its embeddings in the cache, as in every run but the first:
those of the first 10,000 texts are real, and those of their copies are the same with some jitter. Every size has a
process of its own. The slope is that of log seconds over log texts, from the smallest pool of 10,000 texts or more to
the largest: 1 is linear.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import resource
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch

import actune
from actune.core.pool import Pool
from actune.core.progress import Progress
from actune.core.task import Task
from actune.data.splits import labelled_only
from actune.methods.regions import Regions
from actune.methods.teaching import EvenDraw
from actune.models.cache import Embedded, Room, in_memory
from actune.models.encoders import choose_device
from actune.models.finetuning import FineTuning
from actune.models.learners import PROBE
from actune.models.probing import Probing
from actune.models.sources import fetch, find_model
from actune.rounds import fitting, measuring, selecting
from actune.rounds.outputs import ModelOutputs
from actune.session.session import Session
from actune.session.setup import find_task
from benchmarks.speed.common import Results

EMBEDDED = 10_000  # real texts whose embeddings two cores make in a minute
HELD = 1000  # rows of dev and of test, the same for every pool
JITTER = 0.02  # where the coordinates of unit vectors of 384 are near 0.05
FROM = 10_000  # texts from which on the slope is taken: below, most of the time is the same for every pool
PHASES = ("open", "create", "answer", "prepare", "fit", "evaluate", "read", "regions", "select", "save", "reopen")


class Watch:
    """Seconds by phase, each without those of the phases inside it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inside = [0.0]

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        self._inside.append(0.0)
        yield
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
        spent = time.perf_counter() - start
        self.seconds[name] += spent - self._inside.pop()
        self._inside[-1] += spent

    def calls(self, owner: Any, method: str, name: str) -> None:
        """From now on every call of a method counts under this name."""
        inner: Callable[..., Any] = getattr(owner, method)

        def timed(*given: Any, **words: Any) -> Any:
            with self.phase(name):
                return inner(*given, **words)

        setattr(owner, method, timed)


def watching() -> Watch:
    """A watch over the phases that lie inside one call of a session."""
    watch = Watch()
    for owner, method, name in (
        (Session, "ask", "answer"),
        (Session, "tell", "answer"),
        (Probing, "prepare", "prepare"),
        (FineTuning, "prepare", "prepare"),
        (fitting, "fit", "fit"),
        (measuring, "measure", "evaluate"),
        (ModelOutputs, "read", "read"),
        (Regions, "__call__", "regions"),
        (selecting, "select", "select"),
        (EvenDraw, "__call__", "select"),  # within the fit
        (Session, "advance", "save"),  # what is left of it
    ):
        watch.calls(owner, method, name)
    return watch


class Made(Probing):
    """Puts made embeddings where the product's own probe looks for them."""

    def __init__(self, vectors: np.ndarray, *given: Any) -> None:
        super().__init__(*given)
        self.vectors = vectors

    def _embed(self, texts: Sequence[str], progress: Progress, room: Room = in_memory) -> Embedded:
        return jittered(self.vectors, room((len(texts), self.vectors.shape[1]))), 0


def jittered(vectors: np.ndarray, made: np.ndarray) -> np.ndarray:
    """These vectors over and over; from the second time on with noise, and of length 1 again."""
    rng, rows = np.random.default_rng(0), len(made)
    made[: len(vectors)] = vectors[:rows]
    for first in range(len(vectors), rows, len(vectors)):
        copy = vectors[: rows - first]
        copy = copy + JITTER * rng.standard_normal(copy.shape, np.float32)
        made[first : first + len(copy)] = copy / np.linalg.norm(copy, axis=1, keepdims=True)
    return made


def edited(pool: Pool, real: int, rows: int) -> Iterator[tuple[str, str]]:
    """Text and label: the first real ones, then copies of them, each with its number between two of its words."""
    rng, real = np.random.default_rng(0), min(real, len(pool))
    for row in range(rows):
        copy, place = divmod(row, real)
        words = pool.texts[place].split(" ")
        if copy:
            words.insert(int(rng.integers(len(words) + 1)), str(copy))
        yield " ".join(words), pool.classes[pool.labels[place]]


def write_files(folder: Path, given: argparse.Namespace, rows: int) -> None:
    """The pool as a user has it, and small dev and test files."""
    task = actune.load_task(given.data, given.data_dir)
    assert task.dev is not None and task.test is not None
    real = EMBEDDED if given.learner == "probe" else len(task.pool)
    for name, pool, count in (("pool", task.pool, rows), ("dev", task.dev, HELD), ("test", task.test, HELD)):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("text", "label"))
            writer.writerows(edited(pool, real, count))


def read_files(folder: Path) -> Task:
    """As `actune run pool.csv --dev dev.csv --test test.csv` does."""
    held = {name: folder / f"{name}.csv" for name in ("dev", "test")}
    return labelled_only(find_task(str(folder / "pool.csv"), held, seed=0))


def fill_cache(folder: Path, given: argparse.Namespace) -> float:
    """Embeddings of all texts in the product's cache; the seconds that the real ones took."""
    task = read_files(folder)
    settings = (fetch(find_model(given.model)), len(task.pool.classes), task.settings.max_tokens, PROBE)
    probe = Probing(*settings, choose_device(given.device))
    real = actune.load_task(given.data, given.data_dir).pool.texts[:EMBEDDED]
    start = time.perf_counter()
    vectors = probe.prepare(real).vectors.cpu().numpy()
    seconds = time.perf_counter() - start
    for pool in (task.dev, task.test):
        probe.prepare(pool.texts if pool else ())
    Made(vectors, *settings, probe.device).prepare(task.pool.texts)
    return seconds


def measure(folder: Path, given: argparse.Namespace, method: str) -> dict[str, Any]:
    """The seconds of one round by phase, and the most memory that this process ever held."""
    watch = watching()
    start = time.perf_counter()
    with watch.phase("open"):
        task = read_files(folder)
    with watch.phase("create"):
        session = actune.create(
            folder / "run",
            task,
            simulated=True,
            method=method,
            model=given.model,
            learner=given.learner,
            device=given.device,
            initial=100,
            batch=100,
            rounds=given.rounds,
            changes=dict(change.split("=") for change in given.set),
        )
    actune.run(session, actune.Oracle(session.pool))
    session.close()
    with watch.phase("reopen"):
        rounds = actune.open_session(folder / "run").rounds()
    total = time.perf_counter() - start
    memory = {"memory_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}
    if torch.cuda.is_initialized():
        memory["gpu_memory_gib"] = torch.cuda.max_memory_allocated() / 2**30
    seconds = {name: watch.seconds[name] for name in PHASES}
    facts = {
        "method": method,
        "texts": len(task.pool),
        "trusted": rounds[-1].pseudo_labels.trained_on,
        "seconds": total,
        **memory,
    }
    return rounded(facts) | {"phases": rounded(seconds), "accuracy": [one.accuracy for one in rounds]}


def rounded(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in facts.items()}


def alone(work: Callable[..., Any], *given: Any) -> Any:
    """The result of some work in a process of its own, so that it finds nothing warm and its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(work, *given).result()


def slopes(found: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    """Of each phase and of the whole; none for what is too short to be measured."""
    wide = [facts for facts in found if facts["texts"] >= FROM]
    if len(wide) < 2:
        return {}
    few, many = wide[0], wide[-1]
    pairs = {name: (few["phases"][name], many["phases"][name]) for name in PHASES}
    pairs["whole"] = few["seconds"], many["seconds"]
    return {
        name: round(math.log(long / short) / math.log(many["texts"] / few["texts"]), 2) if short > 0.01 else None
        for name, (short, long) in pairs.items()
    }


def table(found: Sequence[dict[str, Any]]) -> str:
    """Seconds by phase, one column a pool, in Markdown."""
    steep = slopes(found)
    lines = [["seconds", *(f"{facts['texts']:,}" for facts in found), "slope"], ["---"] * (len(found) + 2)]
    for name in (*PHASES, "whole"):
        cells = [f"{facts['phases'].get(name, facts['seconds']):.2f}" for facts in found]
        lines.append([name, *cells, "–" if steep.get(name) is None else f"{steep[name]:.2f}"])
    lines[0][0] = f"seconds, {found[0]['method']}"
    lines.append(["memory, GiB", *(f"{facts['memory_gib']:.2f}" for facts in found), ""])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1000,10000,100000,1000000")
    parser.add_argument("--methods", default="actune")
    parser.add_argument("--data", default="ag_news")
    parser.add_argument("--data-dir")
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--learner", default="probe", choices=["probe", "finetune"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=2, help="fits; the pool is read between two of them")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--work", help="a folder for some gigabytes; embeddings are kept in it for the next time")
    parser.add_argument("--out", help="a file to add results to")
    given = parser.parse_args()
    results = Results(given.out, choose_device(given.device))
    if given.work:
        Path(given.work).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=given.work, prefix="round-") as scratch:
        os.environ["ACTUNE_CACHE"] = str(Path(given.work or scratch) / "cache")
        for method in given.methods.split(","):
            found = []
            for rows in map(int, given.rows.split(",")):
                found.append(one_size(Path(scratch) / str(rows), given, rows, method))
                results.add(**found[-1])
            results.add(method=method, slopes=slopes(found))
            print(table(found))


def one_size(folder: Path, given: argparse.Namespace, rows: int, method: str) -> dict[str, Any]:
    """The facts of a round on so many texts; the time of the real embeddings, if they had to be made, stands apart."""
    folder.mkdir()
    write_files(folder, given, rows)
    apart = {"embedding_apart": round(alone(fill_cache, folder, given), 3)} if given.learner == "probe" else {}
    facts: dict[str, Any] = alone(measure, folder, given, method) | apart
    shutil.rmtree(folder)
    return facts


if __name__ == "__main__":
    main()
