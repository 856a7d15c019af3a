"""Where a command's words go: prose to stderr, its result to stdout, and facts as JSON on the last line of stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.core.outputs import STANDARD_OUTPUT
from actune.core.printing import counted as counted
from actune.core.printing import one_line, printable
from actune.errors import SettingError

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 160  # of a table that goes to a file or a pipe


class Output:
    """The two streams of one command. With `as_json` stdout holds one object and nothing else."""

    def __init__(self, as_json: bool = False, quiet: bool = False, to: Path | None = None) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.is_free = to != STANDARD_OUTPUT  # stdout is, and not taken by the file that the user asked for
        if as_json and not self.is_free:
            raise SettingError("--json and - both write to standard output: leave one of them out")

    @cached_property
    def stderr(self) -> Console:
        """The console that prose and progress bars share, so that neither writes over the other."""
        from rich.console import Console

        return Console(stderr=True, markup=False, highlight=False, emoji=False)

    def say(self, *sentences: str) -> None:
        """Prose for a person."""
        if not self.quiet:
            for sentence in sentences:
                self.stderr.print(one_line(sentence), soft_wrap=True)

    def show(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """A table as the command's result."""
        if self.as_json:
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(printable(title)), title_justify="left", show_header=any(columns))
        for name in columns:
            table.add_column(Text(printable(name)), overflow="fold")
        for row in rows:
            table.add_row(*(Text(_cell(value)) for value in row))
        if not self.is_free:
            if not self.quiet:
                self.stderr.print(table)
            return
        width = None if sys.stdout.isatty() else PIPE_WIDTH
        Console(markup=False, highlight=False, emoji=False, width=width).print(table)

    @staticmethod
    def named(file: Path) -> str:
        """A file in a sentence."""
        return "standard output" if file == STANDARD_OUTPUT else str(file)

    def give(self, facts: dict[str, Any]) -> None:
        """The command's facts for machines, as the last line."""
        if self.as_json:
            sys.stdout.write(json.dumps(facts) + "\n")
            sys.stdout.flush()


def running_code(file: str) -> str:
    """What is said before a file of Python rules runs."""
    return f"running the Python code in {file}"


def _cell(value: object) -> str:
    """A value in one line of printable characters."""
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else printable(str(value))
