"""Live progress of a grid: how many cells are finished, and where each running cell is."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from typing import TYPE_CHECKING

from actune.cli.console import Output
from actune.cli.failures import Stopped
from actune.cli.progress import stage_name
from actune.core.printing import shortened

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

    from actune.bench.executors import Event
    from actune.bench.run import GridRun


def watched(output: Output, work: GridRun, events: Generator[Event, None, None]) -> None:
    """Follows the events to their end, with bars on a terminal; Ctrl-C ends them and says how to continue."""
    try:
        with closing(events):
            _follow(output, work, events)
    except KeyboardInterrupt:
        folder = work.results.folder
        raise Stopped(f"stopped; finished work is saved in {folder}, and the same command continues") from None


def _follow(output: Output, work: GridRun, events: Iterable[Event]) -> None:
    """A line for every cell that ends and, on a terminal, a picture of those that run."""
    if output.quiet or not output.stderr.is_terminal:
        for event in events:
            _say(output, work, event)
        return
    from rich.progress import Progress

    with Progress(*columns(), console=output.stderr, transient=True) as drawing:
        picture = _Picture(drawing, work)
        for event in events:
            picture.draw(event)
            _say(output, work, event)


def columns() -> tuple[ProgressColumn, ...]:
    """What a bar shows; a name is no markup, whatever brackets it has."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    name, now = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[now]}", markup=False)
    return name, BarColumn(20), now, TimeRemainingColumn()


def _say(output: Output, work: GridRun, event: Event) -> None:
    name = event.cell.point.name
    if event.kind == "finished":
        last = work.results.rows(event.cell.key)[-1]
        measured = "" if last["accuracy"] is None else f", accuracy {last['accuracy']:.4f}"
        output.say(f"{len(work.done)}/{len(work.cells)} {name}: {last['labels']:,} labels{measured}")
    elif event.kind in ("retried", "failed"):
        output.say(f"{name} {event.kind}: {event.reason}")


class _Picture:
    """A bar of all rounds, and one for every cell at work."""

    def __init__(self, drawing: Progress, work: GridRun) -> None:
        self.drawing = drawing
        self.work = work
        self.bars: dict[str, TaskID] = {}
        self.fitted = {cell.key: work.results.rounds(cell.key) for cell in work.todo}
        rounds = sum(cell.fits for cell in work.todo)
        self.all = drawing.add_task("rounds", total=rounds, completed=sum(self.fitted.values()), now="")

    def draw(self, event: Event) -> None:
        cell = event.cell
        if event.kind == "started":
            self.bars[cell.key] = self.drawing.add_task(shortened(cell.point.name), total=cell.fits, now="starting")
        elif event.kind != "step":
            self.drawing.remove_task(self.bars.pop(cell.key))
        if event.step is not None:
            self.fitted[cell.key] = event.step.round
            self.drawing.update(self.bars[cell.key], completed=event.step.round, now=_now(event))
        if event.kind == "finished":
            self.fitted[cell.key] = cell.fits
        states = f"cells: {len(self.work.done)} of {len(self.work.cells)} done, {len(self.bars)} running"
        failed = f", {len(self.work.failed)} failed" if self.work.failed else ""
        self.drawing.update(self.all, completed=sum(self.fitted.values()), now=states + failed)


def _now(event: Event) -> str:
    step = event.step
    assert step is not None
    said = f"round {min(step.round + 1, event.cell.fits)} of {event.cell.fits}"
    if not step.stage:
        return said
    return f"{said}, {stage_name(step.stage)} {100 * step.done // max(1, step.total)} %"
