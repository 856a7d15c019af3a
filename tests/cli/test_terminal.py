"""Words of others on a real terminal: names of files, classes and tasks are shown and steer nothing."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console
from rich.progress import Progress

from actune.bench.executors import Event
from actune.cli.live import _Picture, columns
from tests.cli.conftest import COMMAND, write

HOSTILE = "a[/b]\x1b[31mEVIL\x1b]0;title\x07\x9b2J\u202e\u2066[bold]"
RAW = (b"\x1b[31mEVIL", b"\x1b]", b"\x07", "\x9b".encode(), "\u202e".encode(), "\u2066".encode())


def on_a_terminal(*words: object, seconds: int = 120) -> tuple[int, bytes]:
    """Runs a command whose three streams are a terminal; gives its exit code and all that it wrote there."""
    mine, its = pty.openpty()
    surroundings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [*COMMAND, *map(str, words)], stdin=its, stdout=its, stderr=its, env=surroundings, start_new_session=True
    )
    os.close(its)
    written = b""
    try:
        while piece := os.read(mine, 2**16):
            written += piece
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(mine)
    return process.wait(seconds), written


def check(written: bytes) -> None:
    assert not [sequence for sequence in RAW if sequence in written], written
    assert b"Traceback" not in written and b"MarkupError" not in written


def rows(count: int = 60) -> list[list[str]]:
    classes = (HOSTILE, "plain[/]")
    return [[f"text number {n} about {'cats' if n % 2 else 'dogs'}", classes[n % 2]] for n in range(count)]


def test_a_run_with_hostile_names(tmp_path: Path) -> None:
    folder = tmp_path / HOSTILE.replace("/", "∕")
    folder.mkdir()
    data = write(folder / "data.csv", ["text", "label"], rows())
    plan = ["--learner", "probe", "--initial", 10, "--batch", 5, "--rounds", 1, "--set", "epochs=2"]
    code, written = on_a_terminal("run", data, *plan, "--out", folder / "run")
    assert code == 0, written
    check(written)
    assert b"EVIL" in written
    code, written = on_a_terminal("predict", folder / "run", data, "--out", folder / "out.csv")
    assert code == 0, written
    check(written)


def test_bars_of_tasks_with_hostile_names(tmp_path: Path) -> None:
    data = write(tmp_path / "data.csv", ["text", "label"], rows())
    name = json.dumps(HOSTILE)  # TOML escapes as JSON does
    grid = tmp_path / "grid.toml"
    grid.write_text(
        f'[task.{name}]\ndata = "{data}"\n[grid]\ntasks = {name}\nmethods = "random"\nlearners = "probe"\n'
        "[settings]\ninitial = 10\nbatch = 5\nrounds = 1\nepochs = 2\n",
        encoding="utf-8",
    )
    code, written = on_a_terminal("bench", "run", grid, "--out", tmp_path / "results", "--workers", 1)
    assert code in (0, 2), written  # a grid may refuse such a name
    check(written)


@pytest.mark.parametrize(
    "words",
    [
        ["start", f"{HOSTILE}.csv", "--labels", "a,b", "--out", "x"],
        ["run", "trec", "--rounds", HOSTILE],
        ["run", "trec", f"--{HOSTILE}"],
        [f"--{HOSTILE}"],
        [HOSTILE],
        ["run", HOSTILE],
        ["run", "trec", "--method", HOSTILE],
        ["run", "trec", "--set", f"{HOSTILE}=1"],
        ["status", HOSTILE],
        ["bench", "plan", HOSTILE],
        ["bench", HOSTILE],
        ["start", "x.csv", "--labels", f"@{HOSTILE}", "--out", "x"],
    ],
    ids=lambda words: " ".join(words)[:12].encode("ascii", "replace").decode().replace("\x1b", "?"),
)
def test_words_of_the_command_line_are_repeated_safely(words: list[str]) -> None:
    code, written = on_a_terminal(*words)
    assert code == 2, written
    check(written)


def test_a_bar_takes_any_name() -> None:
    """Rich reads `[/b]` as markup where it may."""
    screen = io.StringIO()
    cell = SimpleNamespace(key="k", fits=2, point=SimpleNamespace(name=HOSTILE * 20))
    work = SimpleNamespace(todo=[cell], done=[], cells=[cell], failed={}, results=SimpleNamespace(rounds=lambda key: 0))
    with Progress(*columns(), console=Console(file=screen, force_terminal=True, width=300)) as drawing:
        picture = _Picture(drawing, work)  # type: ignore[arg-type]
        picture.draw(Event("started", cell))  # type: ignore[arg-type]
        drawing.refresh()
    check(screen.getvalue().encode())
    assert "[/b]" in screen.getvalue() and HOSTILE * 2 not in screen.getvalue()
