"""Fuzzes results folders of others: damaged files, hostile keys and links, through the commands that read them."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import suppress
from pathlib import Path

from tests.fuzz.ground import Place
from tests.fuzz.words import TEXTS, mutated_bytes, mutated_text

KEYS = (
    *(
        "..",
        "../x",
        "x/../../../canary/folder",
        "../../../canary",
        "../../canary/folder",
        ".",
        "",
        "a" * 300,
        "x/y",
        "\\x",
        "CON",
    ),
    *("0" * 16, "0123456789ABCDEF", "g" * 16, "\\u001b[31m", "~", "/tmp/nothing", "x\\u0000y", "é" * 16),
)
COMMANDS = (
    ["bench", "merge", "other", "--out", "deep/all"],
    ["bench", "merge", "other", "results", "--out", "deep/all"],
    ["bench", "merge", "results", "other", "--out", "deep/all"],
    ["bench", "status", "other"],
    ["bench", "status", "other", "--json"],
    ["bench", "tidy", "other", "--to", "tables"],
    ["bench", "report", "other"],
)


def make(rng: random.Random, place: Place) -> list[list[str]]:
    """A results folder of somebody else, and one or two commands on it."""
    command = rng.choice(COMMANDS)
    if "results" in command:
        place.take("results")
    _precious(place.folder / "deep" / "outside")
    other = place.folder / "other"
    shutil.copytree(place.ground / rng.choice(("results", "results", "tidy")), other)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice((_text, _text, _key, _key, _bytes, _bytes, _link, _odd, _missing))(rng, other, place)
    return [command, ["bench", "status", "other"]] if rng.random() < 0.2 else [list(command)]


def _precious(folder: Path) -> None:
    """What a user has beside the results; nothing may touch it."""
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("years of work")


def _files(folder: Path, *kinds: str) -> list[Path]:
    """The files of these kinds; those of the folder itself come as often as all of its cells."""
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and (not kinds or path.suffix in kinds)
    ]
    return [path for path in found if path.parent == folder] * 6 + found


def _text(rng: random.Random, other: Path, place: Place) -> None:
    files = _files(other, ".toml", ".csv", ".jsonl")
    if files:
        file = rng.choice(files)
        text = mutated_text(rng, file.read_text(encoding="utf-8", errors="replace"))
        file.write_text(text, encoding="utf-8", errors="replace")


def _key(rng: random.Random, other: Path, place: Place) -> None:
    """A cell with a strange key, in the tables and perhaps as a folder."""
    cells = sorted(path.name for path in (other / "cells").glob("*")) if (other / "cells").is_dir() else []
    key = rng.choice(cells) if cells else None
    new = rng.choice((*KEYS, rng.choice(TEXTS).replace("\n", "")))
    for name in ("bench.toml", "cells.jsonl", "rounds.jsonl", "results.csv"):
        file = other / name
        if file.is_file() and not file.is_symlink():
            text = file.read_text(encoding="utf-8", errors="replace")
            key = key or next((word for word in text.split('"') if len(word) == 16 and word.isalnum()), "nothing")
            quoted = f'"{new}"' if name == "bench.toml" else new
            file.write_text(text.replace(key, quoted), encoding="utf-8", errors="replace")
    if key and (other / "cells" / key).is_dir() and not (other / "cells" / key).is_symlink():
        with suppress(OSError, ValueError):
            if rng.random() < 0.5:
                (other / "cells" / key).rename(other / "cells" / new)
            else:
                # links stay links: one may lead to an endless device
                shutil.copytree(other / "cells" / key, other.with_name("outside"), symlinks=True, dirs_exist_ok=True)


def _bytes(rng: random.Random, other: Path, place: Place) -> None:
    if files := _files(other):
        file = rng.choice(files)
        file.write_bytes(mutated_bytes(rng, file.read_bytes()))


def _link(rng: random.Random, other: Path, place: Place) -> None:
    """A link out of the folder, in the place of a file, of a cell, or beside them."""
    target = rng.choice(
        (place.canary, place.canary / "notes.txt", place.canary / "folder", Path("/etc/passwd"), Path("/"))
    )
    victim = rng.choice([*_files(other), *(other / "cells").glob("*"), other / "cells", other / "results.csv"])
    _make_room(victim)
    with suppress(OSError):
        victim.symlink_to(target)


def _odd(rng: random.Random, other: Path, place: Place) -> None:
    """A FIFO, a folder, an endless device or an empty file in the place of a file."""
    victim = rng.choice(_files(other) or [other / "bench.toml"])
    _make_room(victim)
    with suppress(OSError):
        kind = rng.randrange(4)
        if kind == 0:
            os.mkfifo(victim)
        elif kind == 1:
            victim.mkdir()
        elif kind == 2:
            victim.symlink_to("/dev/zero")
        else:
            victim.write_bytes(b"")


def _missing(rng: random.Random, other: Path, place: Place) -> None:
    _make_room(rng.choice([*_files(other), *(other / "cells").glob("*"), other / "cells"]))


def _make_room(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
