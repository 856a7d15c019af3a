"""Fuzzes the command line itself: working commands with words changed, and random words of every command."""

from __future__ import annotations

import os
import random
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.ground import PLAN, Place
from tests.fuzz.words import FILES, NUMBERS, TEXTS, value

SMALL = [*PLAN, "--model", "tiny"]
# each of these works as it is
TEMPLATES: tuple[list[str], ...] = (
    ["run", "labelled.csv", *SMALL, "--rounds", "2", "--method", "actune", "--out", "new"],
    ["run", "labelled.csv", *SMALL, "--rounds", "1", "--method", "random", "--out", "new", "--json", "--quiet"],
    ["run", "labelled.csv", *SMALL, "--rounds", "1", "--votes", "rules.toml", "--out", "new"],
    ["run", "labelled.csv", *SMALL, "--rounds", "2", "--out", "run"],
    ["start", "bare.csv", *SMALL, "--labels", "x,y", "--test", "test.csv", "--out", "new"],
    ["start", "bare.csv", *SMALL, "--labels", "x,y", "--first", "representatives", "--seed", "1", "--out", "new"],
    ["start", "votes.csv", *SMALL, "--labels", "x,y", "--weak", "--out", "new"],
    ["ask", "project", "--to", "new.csv"],
    ["ask", "project", "--json"],
    ["tell", "project", "batch.csv", "--by", "me"],
    ["tell", "project", "batch.csv", "--label-column", "label", "--id-column", "id", "--encoding", "utf-8"],
    ["advance", "project", "--force"],
    ["advance", "project", "--finish", "--json"],
    ["status", "project"],
    ["status", "run", "--json", "--quiet"],
    ["add", "project", "bare.csv", "--text", "text", "--id", "id"],
    ["predict", "project", "bare.csv", "--out", "new.csv", "--probabilities"],
    ["predict", "run", "labelled.csv", "--text", "text"],
    ["export", "project", "--to", "new.csv", "--pseudo", "--raw"],
    ["export", "run", "--to", "new.jsonl"],
    ["report", "project", "run", "--to", "new.html", "--round", "0"],
    ["report", "run"],
    ["label-model", "votes.csv", "--label-model", "em", "--seed", "0", "--to", "new.csv"],
    [
        "label-model",
        "bare.csv",
        "--rules",
        "rules.toml",
        "--labels",
        "x,y",
        "--columns",
        "vote_first",
        "--text",
        "text",
    ],
    ["methods", "--all"],
    ["methods", "--markdown"],
    ["doctor", "--data-dir", "folder", "--json"],
    [
        "compare",
        "labelled.csv",
        "--model",
        "tiny",
        "--methods",
        "entropy",
        "--seeds",
        "3",
        "--initial",
        "6",
        "--batch",
        "4",
        "--rounds",
        "2",
    ],
    ["bench", "plan", "grid.toml", "--device", "cuda", "--out", "results", "--only", "seed=0", "--workers", "2"],
    [
        "bench",
        "run",
        "grid.toml",
        "--device",
        "cpu",
        "--out",
        "new",
        "--threads",
        "1",
        "--keep-models",
        "none",
        "--seconds",
        "1",
    ],
    ["bench", "status", "results"],
    ["bench", "status", "tidy", "--json"],
    ["bench", "merge", "results", "tidy", "--out", "new"],
    ["bench", "tidy", "results", "--to", "new"],
)


def make(rng: random.Random, place: Place) -> list[list[str]]:
    """One command line, on files of which some are strange."""
    words = _changed(rng, rng.choice(TEMPLATES)) if rng.random() < 0.75 else _random(rng)
    words = [_spoken(word) for word in words]
    used = {part for word in words for part in (word, word.partition("=")[2])}
    place.take(*(name for name in _GROUND if name in used or name in _ALWAYS))
    _strange_files(place.folder, used)
    return [words]


_GROUND = ("tiny", "project", "run", "results", "tidy", "test.csv")
_GROUND += ("labelled.csv", "bare.csv", "votes.csv", "rules.toml", "rules.py", "grid.toml", "batch.csv")
_ALWAYS = ("tiny", "labelled.csv")  # grids and rules name them too


def _changed(rng: random.Random, template: list[str]) -> list[str]:
    words = list(template)
    command = _command_of(words)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
        place = rng.randrange(1, len(words) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            del words[place : place + 1]
        elif kind == 1:
            words[place : place + 1] = [value(rng)]
        elif kind == 2:
            words.insert(place, value(rng))
        elif kind == 3 and place < len(words):
            words.insert(rng.randrange(1, len(words) + 1), words[place])
        else:
            words += _option(rng, command)
    return words


def _random(rng: random.Random) -> list[str]:
    names, command = rng.choice(_commands())
    words = list(names)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            words += [value(rng) for _ in range(rng.choice((1, 1, 1, 2 if parameter.nargs != 1 else 1, 0)))]
    for _ in range(rng.randrange(6)):
        words += _option(rng, command)
    if any(name in ("run", "start") for name in names):
        words += SMALL
    return words


def _option(rng: random.Random, command: Any) -> list[str]:
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    if not options or rng.random() < 0.05:
        return [rng.choice(("--nothing", "--js", "-h", "--help", "--version", "--set"))]
    option = rng.choice(options)
    name = rng.choice(option.opts)
    if option.is_flag:
        return [name]
    given = rng.choice(NUMBERS) if _takes_numbers(option) and rng.random() < 0.8 else value(rng)
    if name == "--set" and rng.random() < 0.9:
        given = f"{rng.choice(_settings())}={rng.choice((*NUMBERS, *TEXTS))}"
    if name == "--only" and rng.random() < 0.8:
        given = f"{rng.choice(('task', 'seed', 'method', 'variant', 'x'))}={value(rng)}"
    return [f"{name}={given}"] if rng.random() < 0.2 else [name, given]


def _takes_numbers(option: Any) -> bool:
    kind = getattr(getattr(option, "type_descriptor", None), "annotation", None)
    return kind in (int, float) or getattr(getattr(option, "type", None), "name", "") in ("integer", "float")


def _spoken(word: str) -> str:
    """What a process can be given: no NUL, and no surrogates but those that stand for bytes."""
    return os.fsdecode(word.replace("\0", "").encode("utf-8", "surrogateescape" if "\udcff" in word else "replace"))


@cache
def _commands() -> list[tuple[tuple[str, ...], Any]]:
    import typer

    from actune.cli.app import app

    root: Any = typer.main.get_command(app)
    found: list[tuple[tuple[str, ...], Any]] = []
    for name, command in root.commands.items():
        inner = getattr(command, "commands", None)
        found += [((name, other), each) for other, each in inner.items()] if inner else [((name,), command)]
    return found


def _command_of(words: list[str]) -> Any:
    return next(command for names, command in _commands() if list(names) == words[: len(names)])


@cache
def _settings() -> list[str]:
    from dataclasses import asdict

    from actune.core.settings import SYMBOLS, Settings, Training, Words

    return [*asdict(Settings()), *asdict(Training()), *asdict(Words()), *SYMBOLS, "nothing", ""]


def _strange_files(folder: Path, used: set[str]) -> None:
    """What the words name, where it is no regular file with good content."""
    for name in sorted(used & set(FILES)):
        path = folder / name
        with suppress(OSError, ValueError):
            if name in ("folder", "folder.csv"):
                path.mkdir()
            elif name.startswith("pipe"):
                os.mkfifo(path)
            elif name.startswith(("empty", "a[", "esc", "bytes")):
                path.write_text("" if name.startswith("empty") else "id,text,label\n1,who is it,x\n2,where,y\n")
            elif name == "null.csv":
                path.symlink_to(os.devnull)
            elif name == "loop":
                path.symlink_to(path)
            elif name == "locked.csv":
                path.write_text("id,text,label\n1,a,x\n")
                path.chmod(0)
            elif name == "socket":
                socket.socket(socket.AF_UNIX).bind(name)
            elif name in ("labelled.csv.gz", "labelled.xyz"):
                path.write_bytes((folder / "labelled.csv").read_bytes())
