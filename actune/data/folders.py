"""A task from a folder with a train file and, if there are, dev and test files and the names of the classes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from actune.core.class_names import described_classes
from actune.core.pool import Pool
from actune.core.task import Task
from actune.data.splits import SPLITS, USUAL, Reading, read_part, task_of
from actune.data.tables import has_known_suffix
from actune.errors import DataError


def make_task_from_folder(folder: str | Path, reading: Reading = USUAL, seed: int = 0) -> Task:
    """A task from a folder that holds `train.csv` and, if there are, `dev.csv`, `test.csv` and `labels.json`."""
    folder = Path(folder)
    if reading.split:
        raise DataError(f"{folder} has a file per split: give a single file to use --split {reading.split}")
    files = {part: _only_file(folder, part) for part in ("train", "dev", "test")}
    if files["train"] is None:
        raise DataError(f"{folder} has no train file, such as train.csv or train.jsonl: add one")
    parts = {part: read_part(path, reading, require_labels=part != "train") for part, path in files.items() if path}
    if (names := folder / "labels.json").exists() and reading.classes is None:
        described = described_classes(f"@{names}")
        if any(each.phrases for each in described):  # such as numbers with their names
            raise DataError(f'{names} is not a list of class names: it must look like ["first", "second"]')
        listed = [each.name for each in described]
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
        raise DataError(f"{folder} has two {part} files, {found[0].name} and {found[1].name}: remove one of them")
    return found[0] if found else None


def _named(pool: Pool, names: list[str], source: Path) -> Pool:
    """The pool with the names of its classes where its labels are numbers into that list."""
    if set(pool.classes) <= set(names):
        return pool
    numbers = [int(name) if name.isdecimal() else len(names) for name in pool.classes]
    if strange := [name for name, number in zip(pool.classes, numbers, strict=True) if number >= len(names)]:
        raise DataError(f"the label {strange[0]!r} is neither a name in {source} nor a number below {len(names)}")
    return replace(pool, classes=tuple(names[number] for number in numbers))
