"""A task from a folder with a train file and, if there are, dev and test files and the names of the classes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from actune.core.pool import Pool
from actune.core.task import Task
from actune.data.splits import SPLITS, USUAL, Reading, read_part, task_of
from actune.data.tables import has_known_suffix
from actune.errors import DataError


def make_task_from_folder(folder: str | Path, reading: Reading = USUAL, seed: int = 0) -> Task:
    """A task from a folder that holds `train.csv` and, if there are, `dev.csv`, `test.csv` and `labels.json`."""
    folder = Path(folder)
    if reading.split:
        raise DataError(f"{folder} is split by its files: name one file to split it by column {reading.split!r}")
    files = {part: _only_file(folder, part) for part in ("train", "dev", "test")}
    if files["train"] is None:
        raise DataError(f"{folder} holds no train file: name it train.csv, train.jsonl or the like")
    parts = {part: read_part(path, reading, require_labels=part != "train") for part, path in files.items() if path}
    if (names := folder / "labels.json").exists() and reading.classes is None:
        listed = _listed(names)
        parts = {part: _named(pool, listed, names) for part, pool in parts.items()}
        reading = replace(reading, classes=tuple(listed))
    return task_of(folder.resolve().name, parts, reading, seed)


def _only_file(folder: Path, part: str) -> Path | None:
    found = sorted(
        path
        for path in folder.iterdir()
        if SPLITS.get(path.name.split(".")[0].lower()) == part and has_known_suffix(path)
    )
    if len(found) > 1:
        raise DataError(f"{folder} holds {found[0].name} and {found[1].name}: keep one {part} file")
    return found[0] if found else None


def _listed(path: Path) -> list[str]:
    try:
        names = json.loads(path.read_text("utf-8"))
    except ValueError:
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f'{path} is not a list of class names: it must look like ["first", "second"]')
    return names


def _named(pool: Pool, names: list[str], source: Path) -> Pool:
    """The pool with the names of its classes where its labels are numbers into that list."""
    if set(pool.classes) <= set(names):
        return pool
    numbers = [int(name) if name.isdecimal() else len(names) for name in pool.classes]
    if strange := [name for name, number in zip(pool.classes, numbers, strict=True) if number >= len(names)]:
        raise DataError(f"the label {strange[0]!r} is neither a name in {source} nor a number below {len(names)}")
    return replace(pool, classes=tuple(names[number] for number in numbers))
