"""A person at a terminal: every command is a process of its own, and every sentence that it prints is looked at."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl

from tests.cli.test_processes import Terminal

HERE = str(Path(__file__).parents[2])


@dataclass(frozen=True)
class Said:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def next(self) -> str:
        """The words after `next: actune`, which is the last line of the prose."""
        lines = [line for line in self.err.splitlines() if line.startswith("next: actune ")]
        assert len(lines) == 1, self.err
        return lines[0].removeprefix("next: actune ")

    @property
    def error(self) -> str:
        """The one sentence of an error."""
        lines = self.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("actune: "), self.err
        return lines[0].removeprefix("actune: ")


@dataclass(frozen=True)
class Person:
    """Works in one folder, with relative paths, as people do."""

    folder: Path

    def does(self, *words: object, code: int = 0) -> Said:
        """Runs `actune` with these words and looks at all that it says."""
        ended = subprocess.run(
            [sys.executable, "-m", "actune", *map(str, words)],
            capture_output=True,
            cwd=self.folder,
            env=_environment(),
            timeout=180,
            check=False,
        )
        said = Said(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
        assert said.code == code, said.err
        assert "Traceback" not in said.out + said.err
        assert "Warning" not in said.err, said.err
        return said

    def knows(self, *words: object) -> dict[str, Any]:
        """The same with `--json`: the facts that the command gives."""
        facts = json.loads(self.does(*words, "--json").out.splitlines()[-1])
        assert isinstance(facts, dict)
        return facts

    def stops(self, *words: object, by: signal.Signals) -> Said:
        """Runs a command on a terminal, and ends it when its training has begun."""
        terminal = Terminal()
        process = subprocess.Popen(
            [sys.executable, "-m", "actune", *map(str, words)],
            stdout=subprocess.DEVNULL,
            stderr=terminal.slave,
            cwd=self.folder,
            env={**_environment(), "TERM": "xterm", "COLUMNS": "120"},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
        )
        try:
            terminal.wait_for("training steps")
            process.send_signal(by)
            code = process.wait(60)
        finally:
            process.kill()
        return Said(code, "", terminal.close())

    def python(self, code: str) -> str:
        """What a program prints in a new process."""
        ended = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=self.folder, env=_environment()
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def writes(self, name: str, rows: Iterable[Sequence[object]], **how: Any) -> None:
        """A CSV file, with a delimiter or an encoding of its own."""
        with (self.folder / name).open("w", encoding=how.pop("encoding", "utf-8"), newline="") as handle:
            csv.writer(handle, **how).writerows(rows)

    def reads(self, name: str) -> list[dict[str, str]]:
        with (self.folder / name).open(encoding="utf-8-sig", newline="") as handle:
            return list(csv.DictReader(handle))

    def fills(self, name: str, label: Callable[[int, str], str | None]) -> list[str]:
        """Fills the column `label` of a batch by the number and the text of each row; gives the ids."""
        if name.endswith(".xlsx"):
            return self._fills_workbook(name, label)
        rows = self.reads(name)
        told = [{**row, "label": label(number, row["text"]) or ""} for number, row in enumerate(rows)]
        self.writes(name, [list(rows[0]), *(list(row.values()) for row in told)])
        return [row["id"] for row in rows]

    def _fills_workbook(self, name: str, label: Callable[[int, str], str | None]) -> list[str]:
        book = openpyxl.load_workbook(self.folder / name)
        sheet: Any = book.active
        columns = [cell.value for cell in sheet[1]]
        id, text, answer = (columns.index(each) + 1 for each in ("id", "text", "label"))
        rows = range(2, sheet.max_row + 1)
        for number, row in enumerate(rows):
            sheet.cell(row, answer).value = label(number, sheet.cell(row, text).value)
        book.save(self.folder / name)
        return [str(sheet.cell(row, id).value) for row in rows]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": HERE, "PYTHONUTF8": "1"}
