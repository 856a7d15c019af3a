"""The driver: plans a grid, skips what is finished, has the rest run, and keeps the table."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from actune.bench.cells import RESULTS, Cell, CellDevice, plan_some, spec_of
from actune.bench.executors import Event, Executor
from actune.bench.grid import Grid
from actune.bench.store import Results
from actune.bench.tidy import TidyRecord
from actune.bench.work import Job, ModelsKept
from actune.core.files import locked, remove, storage_sentences
from actune.errors import ModelError

TABLE_SECONDS = 5.0  # between two writings of the table
RUNNING = "running cells in"


@dataclass
class GridRun:
    """One call of `bench run`: what there is to do, and what became of it."""

    results: Results
    cells: list[Cell]  # chosen ones
    done: list[str]  # their keys, those that were finished before included
    failed: dict[str, str] = field(default_factory=dict)  # reasons by key
    note: str = ""  # what the user should know before

    @property
    def todo(self) -> list[Cell]:
        done = set(self.done)
        return [cell for cell in self.cells if cell.key not in done]

    def events(
        self,
        executor: Executor,
        data_dir: Path | None = None,
        models: ModelsKept = "none",
        seconds: float | None = None,
    ) -> Generator[Event, None, None]:
        """Runs what is not finished yet and tells what happens; the table on the disk follows."""
        folder = self.results.folder
        until = None if seconds is None else time.time() + seconds
        job = Job(folder.absolute(), data_dir and data_dir.absolute(), models, until)
        written = time.monotonic()
        with storage_sentences(folder), locked(folder, RUNNING):
            self.results.write_table()
            try:
                for event in executor.run(self.todo, job):
                    self._note(event)
                    if event.kind in ("finished", "failed"):
                        self._forget_shared(event.cell.group)
                    if event.kind == "finished" and time.monotonic() - written > TABLE_SECONDS:
                        self.results.write_table()
                        written = time.monotonic()
                    yield event
            finally:
                self.results.write_table()
            if not self.todo:
                remove(folder / "shared", try_only=True)

    def _forget_shared(self, group: str) -> None:
        """First models take room: those that no cell to come can share go."""
        if not any(cell.group == group for cell in self.todo if cell.key not in self.failed):
            remove(self.results.folder / "shared" / group, try_only=True)

    def _note(self, event: Event) -> None:
        key = event.cell.key
        if event.kind == "finished":
            self.done.append(key)
            self.results.note_failure(key, None)
        elif event.kind == "failed":
            self.failed[key] = event.reason
            self.results.note_failure(key, event.reason)


def prepare(
    grid: Grid, folder: Path, device: CellDevice, only: Sequence[str] = (), data_dir: Path | None = None
) -> GridRun:
    """Everything that can be wrong is wrong now: the whole grid is planned, whichever cells are then chosen."""
    cells, chosen, note = plan_some(grid, only, device, data_dir)
    Results.opened(folder)
    with locked(folder, RUNNING):
        results = Results(folder)
        results.add({cell.key: cell.point for cell in cells}, grid.text)
        results.run_anew(cell.key for cell in cells if not _made_so(cell, results.tidy.get(cell.key)))
    finished = set(results.finished())
    note = " ".join(filter(None, [note, _anew_told(results, [cell for cell in chosen if cell.key not in finished])]))
    return GridRun(results, chosen, [cell.key for cell in chosen if cell.key in finished], note=note)


def _made_so(cell: Cell, known: TidyRecord | None) -> bool:
    """Whether what the tables say about a cell, if they have it, is what the grid asks for."""
    if known is None:
        return True
    config, version = known.config, known.made.get("results")
    same = spec_of(config.request, config.settings, config.training) == cell.spec
    return same and known.point.coordinates == cell.point.coordinates and version in (None, RESULTS)


def _anew_told(results: Results, left: Sequence[Cell]) -> str:
    """Cells that the tables have in another form cannot go on from there: they have no run folders."""
    tabled = {record.point.coordinates for record in results.tidy.values()}
    anew = [cell for cell in left if cell.point.coordinates in tabled and not results.rounds(cell.key)]
    if not anew:
        return ""
    be, start = ("is", "it starts") if len(anew) == 1 else ("are", "they start")
    return (
        f"{len(anew)} of the cells to run {be} in the tables of {str(results.folder)!r} with other settings, data or "
        f"encoder weights, or incomplete (the first is {anew[0].point.name}): {start} anew, because a table has no run "
        "folder to continue"
    )


def device_of(name: str, threads: int | None = None, here: bool = True) -> CellDevice:
    """The device that is asked for; one sentence where it is not there. A cluster's devices are not this machine's."""
    import torch

    from actune.models import precision
    from actune.models.encoders import choose_device

    if name not in ("auto", "cpu", "cuda"):
        raise ModelError(f"--device must be auto, cpu or cuda, not {name!r}")
    kind = choose_device(name).type if here or name == "auto" else name
    return CellDevice(kind, threads or 1, precision.name(torch.device(kind)))
