"""Progress bars on a terminal: rounds done, and the stage at hand with its rate and the time it still takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from actune.cli.console import Output

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import ProgressColumn

STAGES = {
    "tokenize": "tokenizing texts",
    "embed": "embedding texts",
    "train": "training steps",
    "read": "reading texts",
    "sample": "dropout passes",
    "perturb": "perturbing texts",
    "adapt": "adapting steps",
    "surprisal": "surprisal of texts",
}


class Bars:
    """A `Progress` that draws. Without a drawing (no terminal, or quiet) it only swallows the calls."""

    def __init__(self, drawing: RichProgress | None = None) -> None:
        self.drawing = drawing
        self._rounds = drawing.add_task("rounds", visible=False) if drawing else None
        self._stage = drawing.add_task("", visible=False) if drawing else None
        self._now = ("", 0)

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self.drawing is None or self._stage is None:
            return
        before, last = self._now
        if stage != before or done <= last:  # another stage, or the same once more
            self.drawing.reset(self._stage, total=total, description=STAGES.get(stage, stage), visible=True)
        self.drawing.update(self._stage, completed=done, total=total)
        self._now = (stage, done)

    def rounds(self, done: int, planned: int) -> None:
        """Moves the bar of rounds."""
        if self.drawing is not None and self._rounds is not None:
            self.drawing.update(self._rounds, completed=done, total=planned, visible=True)


@contextmanager
def progress_bars(output: Output) -> Iterator[Bars]:
    """Bars for as long as the work takes; they vanish at its end."""
    if output.quiet or not output.stderr.is_terminal:
        yield Bars()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = [TextColumn("{task.description:>16}"), BarColumn(), MofNCompleteColumn(), _rate(), TimeRemainingColumn()]
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
