"""One cell, run where a worker is: the same for every executor."""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from actune.annotators.oracle import Oracle
from actune.bench.cells import Cell, data_digest, load
from actune.bench.pruning import finish, prune
from actune.core.task import Task
from actune.data.tasks import VARIABLE
from actune.errors import DataError, ModelError
from actune.session.config import load_config
from actune.session.request import Words
from actune.session.resume import open_or_create
from actune.session.runner import run
from actune.session.session import Session
from actune.store.store import FILE

Kept = Literal["none", "last", "all"]
OFTEN = 0.2  # seconds between two words about progress


@dataclass(frozen=True)
class Job:
    """What all cells of a run have in common."""

    folder: Path  # cells/KEY are the run folders
    data_dir: Path | None = None
    models: Kept = "none"
    until: float | None = None  # a time of the clock after which a cell stops at the end of its round


@dataclass(frozen=True)
class Step:
    """Where a cell is."""

    round: int
    stage: str
    done: int
    total: int


class OutOfTime(Exception):
    """The cell stopped at the end of a round, and goes on another time."""


def run_cell(cell: Cell, job: Job, tell: Callable[[Step], None] = lambda step: None) -> None:
    """Runs a cell to its end, from wherever it was left."""
    import torch

    from actune.bench.sharing import SharedFits

    _check_machine(cell)
    if job.data_dir is not None:
        os.environ[VARIABLE] = str(job.data_dir)  # and not a word of the request: another machine has it elsewhere
    point = cell.point
    task = _task(point.data, json.dumps(dict(point.reading)), point.seed, point.preset)
    if data_digest(task) != cell.data:
        raise DataError(f"the data of {point.task!r} is not here what it was where the grid was planned")
    words = _Telling(tell)
    folder = job.folder / "cells" / cell.key
    folder.parent.mkdir(parents=True, exist_ok=True)
    threads = torch.get_num_threads()
    try:
        with _limited(cell.device.threads):
            torch.set_num_threads(cell.device.threads)
            session = open_or_create(folder, task, _as_begun(folder, cell.words), progress=words)
            session.models, session.shared = job.models, SharedFits(job.folder / "shared" / cell.group)
            _to_the_end(session, job, words)
    finally:
        torch.set_num_threads(threads)
        gc.collect()
        if cell.device.kind == "cuda":
            torch.cuda.empty_cache()  # other cells may be waiting for room


def _as_begun(folder: Path, words: Words) -> Words:
    """Equal keys are equal settings, whether the grid that began a cell named them or left them at their defaults."""
    if not (folder / FILE).exists():
        return words
    begun = load_config(folder).request.changes
    return {**words, "changes": begun}


def _limited(threads: int) -> AbstractContextManager[object]:
    """As many threads in every library, whatever its environment says: an executor must not decide the last bits."""
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:  # it comes with scikit-learn; torch counts its threads itself
        return nullcontext()
    return threadpool_limits(threads)  # type: ignore[no-any-return]


def _to_the_end(session: Session, job: Job, words: _Telling) -> None:
    request = session.config.request

    def after(facts: dict[str, Any]) -> None:
        prune(session)
        words.begin(facts["round"] + 1)
        if job.until is not None and time.time() > job.until and not session.done:
            raise OutOfTime

    try:
        prune(session)  # a killed process may not have come to it
        words.begin(session.fitted)
        run(session, Oracle(session.pool, request.noise, request.seed), after)
        finish(session)
    finally:
        session.close()


class _Telling:
    """A session's progress, passed on now and then."""

    def __init__(self, tell: Callable[[Step], None]) -> None:
        self.tell = tell
        self.round = 0
        self._last = 0.0

    def begin(self, round: int) -> None:
        self.round = round
        self.tell(Step(round, "", 0, 0))

    def __call__(self, stage: str, done: int, total: int) -> None:
        if (now := time.monotonic()) - self._last > OFTEN:
            self._last = now
            self.tell(Step(self.round, stage, done, total))


@lru_cache(maxsize=2)
def _task(data: str, reading: str, seed: int, preset: str) -> Task:
    """Cells of one data set and seed come one after another: it is not loaded again for each."""
    return load(data, json.loads(reading), seed, preset)


def _check_machine(cell: Cell) -> None:
    """A key holds only on machines that compute alike."""
    from actune.models import precision
    from actune.models.encoders import choose_device

    found = precision.name(choose_device(cell.device.kind))
    if found != cell.device.precision:
        raise ModelError(
            f"the grid was planned where {cell.device.kind} computes in {cell.device.precision}, and here it computes "
            f"in {found}: run these cells on machines of one kind, each with its own --out"
        )
