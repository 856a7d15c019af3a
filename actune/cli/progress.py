"""Where long work is: bars on a terminal, and elsewhere a plain line from time to time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from actune.cli.console import Output
from actune.core.printing import shortened
from actune.core.progress import Progress, parts_of

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import ProgressColumn

STAGES = {
    "tokenize": "tokenizing texts",
    "embed": "embedding texts",
    "train": "training steps",
    "validate": "cross-validating",
    "read": "reading texts",
    "sample": "dropout passes",
    "perturb": "perturbing texts",
    "adapt": "adapting steps",
    "surprisal": "surprisal of texts",
    "predict": "labelling texts",
}
EVERY = 10.0  # seconds between two lines


def stage_name(stage: str) -> str:
    """A stage as people read it: `training steps, fit 2 of 3`."""
    name, number, of = parts_of(stage)
    return STAGES.get(name, shortened(name)) + (f", fit {number} of {of}" if of > 1 else "")


class RoundProgress(Progress, Protocol):
    """A progress that also knows of rounds."""

    def rounds(self, done: int, planned: int) -> None:
        """So many of the planned rounds are done."""
        ...


class Quiet:
    """Swallows the calls."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...

    def rounds(self, done: int, planned: int) -> None: ...


class Bars:
    """Draws a bar of rounds, and one of the stage at hand, with its rate and the time that it and its like take."""

    def __init__(self, drawing: RichProgress) -> None:
        self.drawing = drawing
        self._rounds = drawing.add_task("rounds", visible=False)
        self._stage = drawing.add_task("", visible=False)
        self._now = ("", 0)

    def __call__(self, stage: str, done: int, total: int) -> None:
        name, number, of = parts_of(stage)
        done_of_all, all = (number - 1) * total + done, of * total  # so that the time left is that of all fits
        before, last = self._now
        if name != before or done_of_all <= last:  # another stage, or the same once more
            self.drawing.reset(self._stage, total=all, visible=True)
        self.drawing.update(self._stage, completed=done_of_all, total=all, description=stage_name(stage))
        self._now = (name, done_of_all)

    def rounds(self, done: int, planned: int) -> None:
        self.drawing.update(self._rounds, completed=done, total=planned, visible=True)


class Lines:
    """Says now and then which stage is at hand and how long it still takes; short work says nothing."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._said = clock()
        self._began: dict[str, tuple[float, float]] = {}  # when a stage began, and what share of it was done before
        self._now = ("", 0.0)
        self._round = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        name, number, of = parts_of(stage)
        now, share = self._clock(), (number - 1 + done / max(1, total)) / of
        again = name == self._now[0] and share <= self._now[1]
        if name not in self._began or again or (number == 1 and name != self._now[0]):
            self._began[name] = now, share
        self._now = (name, share)
        if now - self._said >= EVERY:
            self._said = now
            self._say(f"{self._round}{stage_name(stage)}: {done:,} of {total:,}{self._left(name, now, share)}")

    def rounds(self, done: int, planned: int) -> None:
        self._round = f"round {min(done + 1, planned)} of {planned}, "

    def _left(self, name: str, now: float, share: float) -> str:
        began, before = self._began[name]
        if share <= before:
            return ""
        seconds = (now - began) * (1 - share) / (share - before)
        return f", about {seconds:.0f} s left" if seconds < 120 else f", about {seconds / 60:.0f} min left"


@contextmanager
def progress_bars(output: Output) -> Iterator[RoundProgress]:
    """Bars for as long as the work takes, which vanish at its end; lines where there is no terminal."""
    if output.quiet or not output.stderr.is_terminal:
        yield Quiet() if output.quiet else Lines(output.say)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    name = TextColumn("{task.description:>16}", markup=False)
    columns = [name, BarColumn(), MofNCompleteColumn(), _rate(), TimeRemainingColumn()]
    with Progress(*columns, console=output.stderr, transient=True) as drawing:
        yield Bars(drawing)


def _rate() -> ProgressColumn:
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        """Units a second, as far as it is known."""

        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.1f}/s" if task.speed else "")

    return Rate()
