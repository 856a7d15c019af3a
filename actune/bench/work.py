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
from typing import Literal

from actune.annotators.oracle import Oracle
from actune.bench.cells import Cell, data_digest, load
from actune.bench.pruning import finish, prune
from actune.core.facts import RoundFacts
from actune.core.files import storage_sentences
from actune.core.run_options import RunOptions
from actune.core.task import Task
from actune.data.tasks import VARIABLE
from actune.errors import DataError, ModelError
from actune.session.config import load_config
from actune.session.resume import open_or_create
from actune.session.runner import run
from actune.session.session import Session
from actune.store.store import FILE

ModelsKept = Literal["none", "last", "all"]
STEP_SECONDS = 0.2  # between two reports of progress


@dataclass(frozen=True)
class Job:
    """What all cells of a run have in common."""

    folder: Path  # cells/KEY are the run folders
    data_dir: Path | None = None
    models: ModelsKept = "none"
    until: float | None = None  # a time of the clock after which a cell stops at the end of its round


@dataclass(frozen=True)
class CellStep:
    """Where a cell is."""

    round: int
    stage: str
    done: int
    total: int


class OutOfTime(Exception):
    """The cell stopped at the end of a round, and goes on another time."""


def run_cell(cell: Cell, job: Job, tell: Callable[[CellStep], None] = lambda step: None) -> None:
    """Runs a cell to its end, from wherever it was left."""
    import torch

    from actune.bench.sharing import SharedFits

    _check_machine(cell)
    if job.data_dir is not None:
        os.environ[VARIABLE] = str(job.data_dir)  # and not a word of the request: another machine has it elsewhere
    point = cell.point
    task = _task(point.data, json.dumps(dict(point.reading)), point.seed, point.preset)
    if data_digest(task) != cell.data:
        raise DataError(
            f"the data of {point.task!r} on this machine differs from the data that the grid was planned with"
        )
    words = _Telling(tell)
    folder = job.folder / "cells" / cell.key
    with storage_sentences(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
    threads = torch.get_num_threads()
    try:
        with _limited(cell.device.threads):
            torch.set_num_threads(cell.device.threads)
            session = open_or_create(folder, task, _as_begun(folder, cell.options), progress=words)
            session.models = job.models
            session.shared = SharedFits(job.folder / "shared" / cell.group, session.config)
            _to_the_end(session, job, words)
    finally:
        torch.set_num_threads(threads)
        gc.collect()
        if cell.device.kind == "cuda":
            torch.cuda.empty_cache()  # other cells may be waiting for room


def _as_begun(folder: Path, options: RunOptions) -> RunOptions:
    """Equal keys are equal settings, whether the grid that began a cell named them or left them at their defaults."""
    if not (folder / FILE).exists():
        return options
    begun = load_config(folder).request.changes
    return {**options, "changes": begun}


def _limited(threads: int) -> AbstractContextManager[object]:
    """As many threads in every library, whatever its environment says: an executor must not decide the last bits."""
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:  # it comes with scikit-learn; torch counts its threads itself
        return nullcontext()
    return threadpool_limits(threads)  # type: ignore[no-any-return]


def _to_the_end(session: Session, job: Job, words: _Telling) -> None:
    request = session.config.request

    def after(facts: RoundFacts) -> None:
        prune(session)
        words.begin(facts.round + 1)
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

    def __init__(self, tell: Callable[[CellStep], None]) -> None:
        self.tell = tell
        self.round = 0
        self._last = 0.0

    def begin(self, round: int) -> None:
        self.round = round
        self.tell(CellStep(round, "", 0, 0))

    def __call__(self, stage: str, done: int, total: int) -> None:
        if (now := time.monotonic()) - self._last > STEP_SECONDS:
            self._last = now
            self.tell(CellStep(self.round, stage, done, total))


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
            f"the grid was planned for {cell.device.precision} on {cell.device.kind}, but this machine uses {found}: "
            "run these cells on machines of the same kind, or use another --out"
        )
