"""Checks at the door of the public functions: each turns a value of the wrong kind into one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any

from actune.core.printing import shortened
from actune.core.strings import Strings, is_text
from actune.errors import DataError, RunFolderError, SettingError

KIND_NAMES = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
    Mapping: "a mapping",
    list: "a list",
}
MOST_CLASSES = 10_000  # every step of the work, and every table of a run, has room for each of them


def several(values: Any, noun: str) -> Any:
    """Values that are many, or a sentence: a text alone would be taken for the list of its letters."""
    unordered = (str, bytes, set, frozenset, Mapping)
    if isinstance(values, unordered) or not isinstance(values, Iterable):
        raise DataError(f"{noun} must be a list, not {told(values)}")
    return values


def checked_strings(values: Any, noun: str) -> Strings:
    """Texts or ids as a column, or a sentence that names the first that is none."""
    if isinstance(values, Strings):
        return values
    found = list(several(values, f"{noun}s"))
    for place, value in enumerate(found):
        if not is_text(value):
            raise DataError(
                f"{noun}s[{place}] is {told(value)}: every {noun} must be a string without broken characters"
            )
    return Strings.of(found)


def checked_classes(values: Any) -> tuple[str, ...]:
    """Names of classes: strings that are not empty and that differ."""
    names = tuple(several(values, "classes"))
    check_many(names)
    for name in names:
        if not is_text(name) or not name.strip():
            raise DataError(f"classes has {told(name)}: every class name must be a string that is not empty")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the class {twice!r} is named twice: name each class once")
    return tuple(map(str, names))


def check_many(classes: Sequence[Any]) -> None:
    """Refuses what is no list of classes, such as a column of ids that was taken for that of the labels."""
    if len(classes) > MOST_CLASSES:
        raise DataError(
            f"there are {len(classes):,} classes, and a classifier can have at most {MOST_CLASSES:,}: check which "
            "column has the labels, or the list of the class names"
        )


def checked_labels(values: Any) -> list[str | None]:
    """The name of a class for each text; None, NaN and the empty text are no label."""
    found: Sequence[Any] = list(several(values, "labels"))
    for place, value in enumerate(found):
        if not (is_text(value) or _is_missing(value)):
            raise DataError(f"labels[{place}] is {told(value)}: every label must be the name of a class, or None")
    return [None if _is_missing(value) else str(value) for value in found]


def checked_folder(folder: Any) -> Path:
    """The path of a folder."""
    if not isinstance(folder, (str, PathLike)) or isinstance(folder, bytes):
        raise RunFolderError(f"a folder must be a path, such as 'runs/mine', not {told(folder)}")
    return Path(folder)


def checked_count(value: Any, name: str) -> int | None:
    """A whole number that is not negative, or None."""
    if value is None:
        return None
    number = whole_number(value)
    if number is None or number < 0:
        raise SettingError(f"{name} must be a whole number of at least 0, not {told(value)}")
    return number


def whole_number(value: Any) -> int | None:
    """The whole number that a value is, whether of Python or of NumPy; None where it is none."""
    try:
        return None if isinstance(value, bool) else index(value)
    except TypeError:
        return None


def _is_missing(value: Any) -> bool:
    """None, or what pandas has in its place."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


def told(value: object) -> str:
    """A value as a message shows it, whatever its repr is like."""
    try:
        return shortened(repr(value))
    except Exception:  # of somebody's own class, or because Python writes no number of more than 4,300 digits
        return "a number of thousands of digits" if isinstance(value, int) else f"a {type(value).__name__}"
