"""How cells are run: whoever runs them tells what happens to each, in the same words."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol

from actune.bench.cells import Cell
from actune.bench.work import CellStep, Job
from actune.core.files import check_own_folder, write_atomically
from actune.core.printing import one_line
from actune.errors import StorageError

LOG = logging.getLogger(__name__)
RETRIES = 2  # of a cell whose process died; a mistake that a sentence names would only be repeated
Kind = Literal["started", "step", "finished", "stopped", "retried", "failed"]


@dataclass(frozen=True)
class Event:
    """What happened to a cell."""

    kind: Kind
    cell: Cell
    reason: str = ""
    step: CellStep | None = None


class Executor(Protocol):
    """Runs cells in any order; every one ends finished, stopped or failed, unless the iteration is given up."""

    def run(self, cells: Sequence[Cell], job: Job) -> Iterator[Event]: ...


def is_late(job: Job) -> bool:
    """Whether no further cell may start."""
    return job.until is not None and time.time() > job.until


def keep_error(job: Job, cell: Cell, text: str) -> None:
    """What a process said when it broke off, for whoever looks for the reason."""
    file = job.folder / "errors" / f"{cell.key}.txt"
    with suppress(OSError, StorageError):
        check_own_folder(file.parent)
        file.parent.mkdir(exist_ok=True)
        write_atomically(file, f"{cell.point.name}\n{text}".encode())


@dataclass
class Waiting:
    """The cells that are still to be run, and how often each broke off."""

    cells: deque[Cell]
    broken: dict[str, int] = field(default_factory=dict)

    def next(self, known: str, busy: Collection[str]) -> Cell:
        """Rather a cell of the group that a worker knows, whose data it has; else of one that nobody else is at, for
        whoever comes second to a group waits for its first model. Long ones first: then all end at about one time."""
        cell = min(self.cells, key=lambda cell: (cell.group != known, cell.group in busy, -cell.steps))
        self.cells.remove(cell)
        return cell

    def again(self, cell: Cell, reason: str) -> Event:
        """A cell whose process died is next once more, until that has happened too often."""
        times = self.broken[cell.key] = self.broken.get(cell.key, 0) + 1
        if times > RETRIES:
            return Event("failed", cell, f"{reason}, {times} times")
        self.cells.appendleft(cell)
        LOG.info("cell %s is tried again: %s", cell.key, one_line(reason))
        return Event("retried", cell, reason)
