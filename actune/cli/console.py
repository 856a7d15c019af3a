"""Where a command's words go: prose to stderr, its result to stdout, and facts as JSON on the last line of stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

JOINERS = "\u200c\u200d"  # invisible, but Persian, Hindi and emoji need them
PIPE_WIDTH = 160  # of a table that goes to a file or a pipe


class Output:
    """The two streams of one command. With `as_json` stdout holds one object and nothing else."""

    def __init__(self, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet

    @cached_property
    def stderr(self) -> Console:
        """The console that prose and progress bars share, so that neither writes over the other."""
        from rich.console import Console

        return Console(stderr=True, markup=False, highlight=False, emoji=False)

    def say(self, *sentences: str) -> None:
        """Prose for a person."""
        if not self.quiet:
            for sentence in sentences:
                self.stderr.print(plain(sentence), soft_wrap=True)

    def show(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """A table as the command's result."""
        if self.as_json:
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(plain(title)), title_justify="left", show_header=any(columns))
        for name in columns:
            table.add_column(Text(plain(name)), overflow="fold")
        for row in rows:
            table.add_row(*(Text(plain(cell)) for cell in row))
        width = None if sys.stdout.isatty() else PIPE_WIDTH
        Console(markup=False, highlight=False, emoji=False, width=width).print(table)

    def give(self, facts: dict[str, Any]) -> None:
        """The command's facts for machines, as the last line."""
        if self.as_json:
            sys.stdout.write(json.dumps(facts) + "\n")
            sys.stdout.flush()


def plain(cell: object) -> str:
    """A cell in one line of printable characters: a text must not be able to steer somebody's terminal."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return "".join(sign if sign.isprintable() or sign in JOINERS else _instead(sign) for sign in str(cell))


def _instead(sign: str) -> str:
    return " " if sign.isspace() else "\ufffd"


def counted(number: int, noun: str) -> str:
    """`1 text`, `1,200 texts`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
