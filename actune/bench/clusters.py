"""The executor `ray`: cells as tasks on one machine or a cluster, whose run folders come back as bytes."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from actune.bench.cells import Cell
from actune.bench.copying import files_in, put_files
from actune.bench.executors import Event, Waiting, is_late, keep_error
from actune.bench.store import Results
from actune.bench.work import CellStep, Job, OutOfTime, run_cell
from actune.core.files import remove
from actune.errors import ActuneError, Busy, ModelError, SettingError, StorageError

_POLL_SECONDS = 0.5  # between two looks at the clock and the board
CellOutcome = tuple[str, str, dict[str, bytes]]  # finished, stopped or failed; a reason; the files of the run folder


@contextmanager
def connected(address: str | None, cpus: int) -> Iterator[Any]:
    """Ray: a cluster that is there, or one on this machine for as long as it is needed."""
    try:
        ray = import_module("ray")
    except ImportError:
        raise SettingError("--executor ray needs the package ray: pip install 'actune[ray]'") from None
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told about a user's experiments
    own = {"address": address} if address else {"address": "local", "num_cpus": cpus, "include_dashboard": False}
    try:
        ray.init(**own, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
        why = str(error).splitlines()[0]
        raise SettingError(
            f"cannot connect to a Ray cluster at {address or 'local'!r} ({why}): check --address, or start Ray first"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


@dataclass(frozen=True)
class Cluster:
    """Runs as many cells at a time as the cluster has room for. A cell whose node dies starts again on another."""

    ray: Any
    workers: int | None = None
    gpus_per_cell: float = 0.0

    def run(self, cells: Sequence[Cell], job: Job) -> Iterator[Event]:
        ray, waiting, running = self.ray, Waiting(deque(cells)), dict[Any, Cell]()
        board = ray.remote(num_cpus=0)(Board).remote()
        name = _name(job.folder)
        while True:
            while waiting.cells and len(running) < self.room(waiting.cells[0]) and not is_late(job):
                cell = waiting.cells.popleft()
                begun = files_in(job.folder / "cells" / cell.key)
                options = {"num_cpus": cell.device.threads, "num_gpus": self.gpus_per_cell, "max_retries": 0}
                running[ray.remote(**options)(there).remote(cell, job, name, begun, board)] = cell
                yield Event("started", cell)
            if not running:
                self._everywhere(name)
                return
            for ref in ray.wait(list(running), timeout=_POLL_SECONDS)[0]:
                cell = running.pop(ref)
                yield self._ended(ref, cell, job, waiting)
                if not any(other.group == cell.group for other in (*waiting.cells, *running.values())):
                    self._everywhere(f"{name}/shared/{cell.group}", wait=False)
            yield from (Event("step", cell, step=step) for cell, step in self._steps(board, running))

    def room(self, cell: Cell) -> int:
        """How many such cells fit into the cluster; one at least waits for it to grow."""
        if self.workers:
            return self.workers
        there = self.ray.cluster_resources()
        room = there.get("CPU", 0) // cell.device.threads
        if self.gpus_per_cell:
            room = min(room, there.get("GPU", 0) // self.gpus_per_cell)
        return max(1, int(room))

    def _ended(self, ref: Any, cell: Cell, job: Job, waiting: Waiting) -> Event:
        try:
            kind, reason, files = self.ray.get(ref)
        except self.ray.exceptions.RayError as error:  # a node or a process that died, or an error in the cell
            keep_error(job, cell, str(error))
            return waiting.again(cell, _last_line(error))
        if files:
            put_files(files, job.folder / "cells" / cell.key)
        return Event(kind, cell, reason)

    def _steps(self, board: Any, running: dict[Any, Cell]) -> list[tuple[Cell, CellStep]]:
        with suppress(self.ray.exceptions.RayError):  # the board may have been on a node that died
            steps = self.ray.get(board.steps.remote(), timeout=_POLL_SECONDS)
            return [(cell, steps[cell.key]) for cell in running.values() if cell.key in steps]
        return []

    def _everywhere(self, name: str, wait: bool = True) -> None:
        """Has every node forget what it kept under a name."""
        strategies = import_module("ray.util.scheduling_strategies")
        refs = []
        for node in (node for node in self.ray.nodes() if node["Alive"]):
            here = strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)
            refs.append(self.ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=here)(forget).remote(name))
        if wait:
            with suppress(self.ray.exceptions.RayError):
                self.ray.get(refs, timeout=10)


class Board:
    """Where cells write how far they are, and the driver reads it."""

    def __init__(self) -> None:
        self._steps: dict[str, CellStep] = {}

    def note(self, key: str, step: CellStep) -> None:
        self._steps[key] = step

    def steps(self) -> dict[str, CellStep]:
        found, self._steps = self._steps, {}
        return found


def check_gpus(ray: Any, gpus_per_cell: float) -> None:
    """One sentence for GPUs that the cluster has not."""
    there = ray.cluster_resources().get("GPU", 0)
    if there < gpus_per_cell or not there:
        raise ModelError(
            f"the Ray cluster has {there:g} GPUs, fewer than the {gpus_per_cell:g} per cell: lower --gpus-per-cell, or "
            "use --device cpu"
        )


def there(cell: Cell, job: Job, name: str, begun: dict[str, bytes], board: Any) -> CellOutcome:
    """Runs a cell on a node, in a folder of the node's own: a process that died there left it for the next."""
    place = replace(job, folder=scratch(name))
    folder = place.folder / "cells" / cell.key
    if begun and not folder.exists():
        put_files(begun, folder)
    try:
        run_cell(cell, place, lambda step: board.note.remote(cell.key, step))
        kind = "finished"
    except OutOfTime:
        kind = "stopped"
    except Busy:
        raise  # the process of a driver that was killed may still be at it
    except ActuneError as error:
        return "failed", str(error), {}
    files = files_in(folder)
    remove(folder, try_only=True)
    return kind, "", files


def forget(name: str) -> None:
    """What no cell needs any more, on this node."""
    remove(scratch(name), try_only=True)


def scratch(name: str) -> Path:
    """Where a node keeps what belongs to a folder of results: texts are nobody else's business."""
    owner = os.getuid() if hasattr(os, "getuid") else 0
    base = Path(tempfile.gettempdir()) / f"actune-{owner}"
    base.mkdir(mode=0o700, exist_ok=True)
    if base.lstat().st_uid != owner:
        raise StorageError(f"{str(base)!r} belongs to another user: set TMPDIR to another folder")
    return base / name


def _name(folder: Path) -> str:
    return str(Results(folder).facts["id"])


def _last_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1].strip()}" if lines else type(error).__name__
