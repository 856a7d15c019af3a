"""The executor `local`: processes on this machine, each taking one cell after another."""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from actune.bench.cells import Cell
from actune.bench.executors import Event, Waiting, is_late, keep_error
from actune.bench.work import CellStep, Job, OutOfTime, run_cell
from actune.errors import ActuneError, Busy

VISIBLE = "CUDA_VISIBLE_DEVICES"
_POLL_SECONDS = 1.0  # between two looks at the clock
_LEAVE_SECONDS = 10.0  # that an idle process has to leave by itself
Message = tuple[str, object]  # step, finished, stopped, failed (of no use to try again) or broken


@dataclass(frozen=True)
class Local:
    """Runs this many cells at a time. A process that dies takes nothing with it: its cell goes on in a new one."""

    workers: int
    gpus: int = 0  # workers take turns on them

    def run(self, cells: Sequence[Cell], job: Job) -> Iterator[Event]:
        waiting = Waiting(deque(cells))
        crew = [_Worker(number, self.gpus) for number in range(min(self.workers, len(cells)))]
        try:
            while True:
                for worker in crew:
                    if worker.cell is None and waiting.cells and not is_late(job):
                        busy = {other.group for other in crew if other.cell is not None}
                        yield worker.begin(waiting.next(worker.group, busy), job)
                at_work = [worker for worker in crew if worker.cell is not None]
                if not at_work:
                    return
                ready = wait([worker.connection for worker in at_work], _POLL_SECONDS)
                for worker in at_work:
                    if worker.connection in ready:
                        yield worker.hear(waiting)
        finally:
            for worker in crew:
                worker.dismiss()
            for worker in crew:
                worker.end(_LEAVE_SECONDS if worker.cell is None else 0.0)


class _Worker:
    """One process, started when it is first needed and again when it died."""

    def __init__(self, number: int, gpus: int) -> None:
        self.number = number
        self.gpus = gpus
        self.cell: Cell | None = None
        self.group = ""  # of its last cell
        self.process: SpawnProcess | None = None
        self.connection: Connection = None  # type: ignore[assignment]

    def begin(self, cell: Cell, job: Job) -> Event:
        if self.process is None:
            self._start()
        self.cell, self.group = cell, cell.group
        with suppress(OSError):  # it died: `hear` will find out
            self.connection.send((cell, job))
        return Event("started", cell)

    def hear(self, waiting: Waiting) -> Event:
        """What the process says about its cell, or that it is no more."""
        assert self.cell is not None
        try:
            kind, fact = self.connection.recv()
        except (EOFError, OSError):
            kind, fact = "broken", self._death()
        cell = self.cell
        if kind == "step":
            assert isinstance(fact, CellStep)
            return Event("step", cell, step=fact)
        self.cell = None
        if kind == "broken":
            self.end()  # what is left of a process in trouble may be in trouble too
            return waiting.again(cell, str(fact))
        return Event(kind, cell, str(fact))

    def dismiss(self) -> None:
        """An idle process hears that no more comes, and leaves; a killed one would leave its semaphores behind."""
        if self.process is not None and self.cell is None:
            self.connection.close()

    def end(self, patience: float = 0.0) -> None:
        if self.process is not None:
            self.process.join(patience)
            self.process.kill()  # whatever it is at: a cell goes on from its last round
            self.process.join()
            self.connection.close()
            self.process = None

    def _start(self) -> None:
        context = mp.get_context("spawn")  # a fork would inherit torch's threads in pieces
        self.connection, theirs = context.Pipe()  # one each: a killed process cannot block another's
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        with _own_gpu(visible()[self.number % self.gpus] if self.gpus > 1 else None):
            self.process.start()
        theirs.close()  # so that its end is seen here

    def _death(self) -> str:
        assert self.process is not None
        self.process.join(5)
        code = self.process.exitcode or 0
        return (
            f"its process was killed by {signal.Signals(-code).name}" if code < 0 else f"its process ended with {code}"
        )


def visible() -> list[str]:
    """The GPUs that this process may use, by the names that a child process understands."""
    import torch

    named = [name for name in os.environ.get(VISIBLE, "").split(",") if name]
    return named or [str(number) for number in range(torch.cuda.device_count())]


@contextmanager
def _own_gpu(name: str | None) -> Iterator[None]:
    """A process that is started here sees this GPU alone."""
    before = os.environ.get(VISIBLE)
    if name is not None:
        os.environ[VISIBLE] = name
    try:
        yield
    finally:
        if before is not None:
            os.environ[VISIBLE] = before
        elif name is not None:
            del os.environ[VISIBLE]


def _work(connection: Connection) -> None:
    """What a process does: one cell after another, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group, and the driver decides
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")  # they would be written across the driver's picture
    while True:
        try:
            cell, job = connection.recv()
        except EOFError:
            return
        connection.send(_outcome(cell, job, connection))


def _outcome(cell: Cell, job: Job, connection: Connection) -> Message:
    try:
        run_cell(cell, job, lambda step: connection.send(("step", step)))
        return "finished", ""
    except OutOfTime:
        return "stopped", ""
    except Busy as error:  # the process of a driver that was killed may still be at it
        return "broken", str(error)
    except ActuneError as error:
        return "failed", str(error)
    except Exception as error:
        keep_error(job, cell, traceback.format_exc())
        return "broken", f"{type(error).__name__}: {error}"


def _leave_with_parent() -> None:
    """A driver that was killed leaves nobody behind."""
    parent = mp.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
