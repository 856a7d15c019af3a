"""The names of classes as a user gives them, with what is said about each: in a row with commas, or in a file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, NamedTuple

from actune.core import toml
from actune.core.places import open_regular
from actune.core.printing import shortened
from actune.errors import DataError, SettingError

MOST = 10**7  # bytes of a file with class names
COLON, BETWEEN = ": ", "|"  # between a name and what is said about it, and between several phrases
PARTS = ("description", "examples")  # of a class in a TOML or JSON file


class Described(NamedTuple):
    """A class, and phrases that say what belongs to it: a description, or a few examples."""

    name: str
    phrases: tuple[str, ...] = ()


def class_names(labels: str) -> list[str]:
    """`a,b` or `a,"b, or c"` as names, or `@FILE` with one name on each line; empty lines do not count."""
    return [described.name for described in described_classes(labels)]


def described_classes(labels: str) -> list[Described]:
    """The same names with what is said about each: `refund: the customer wants money back, praise`.

    A file has lines of this kind, or it is TOML or JSON and has a text, a list of texts, or a table with `description`
    and `examples` for each class.
    """
    if labels.startswith("@"):
        return _in_file(Path(labels[1:]).expanduser())
    try:
        entries = [entry.strip() for entry in next(csv.reader([labels], skipinitialspace=True), [])]
    except csv.Error:  # a line break of old Macs, or a name of a hundred thousand letters
        entries = [""]
    found = list(map(_described, entries))
    if not all(described.name for described in found):
        raise SettingError(f"--labels takes class names separated by commas, not {shortened(repr(labels))}")
    return found


def _described(entry: str) -> Described:
    name, _, said = entry.partition(COLON)
    phrases = tuple(phrase.strip() for phrase in said.split(BETWEEN) if phrase.strip())
    return Described(name.strip().removesuffix(":").rstrip() if phrases or not said else name.strip(), phrases)


def _in_file(path: Path) -> list[Described]:
    try:
        with open_regular(path, DataError) as handle:
            content = handle.read(MOST + 1).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8: save the class names as UTF-8") from None
    except (OSError, DataError) as error:
        reason = getattr(error.__cause__ or error, "strerror", None) or "it is not a regular file"
        raise DataError(f"cannot read the class names in {path} ({reason}): check the path") from None
    if len(content) > MOST:
        raise DataError(f"{path} has more than {MOST:,} bytes, which are not class names: check the path")
    kinds = {".json": _in_json, ".toml": _in_toml}
    read = kinds.get(path.suffix.lower(), lambda _, lines: [_described(line.strip()) for line in lines.splitlines()])
    found = [described for described in read(path, content) if described.name]
    if not found:
        raise DataError(f"{path} has no class names: write one per line")
    return found


def _in_json(path: Path, content: str) -> list[Described]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        return _in_tables(path, found)
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise DataError(f'{path} is not a list of class names: it must look like ["first", "second"]')
    return [Described(name.strip()) for name in found]


def _in_toml(path: Path, content: str) -> list[Described]:
    return _in_tables(path, toml.parse(content, str(path), DataError))


def _in_tables(path: Path, tables: dict[str, Any]) -> list[Described]:
    return [Described(name.strip(), _phrases(path, name, said)) for name, said in tables.items()]


def _phrases(path: Path, name: str, said: Any) -> tuple[str, ...]:
    """A text, a list of texts, or a table with a description and examples."""
    if isinstance(said, dict) and said.keys() <= set(PARTS):
        return tuple(phrase for part in PARTS for phrase in _phrases(path, name, said.get(part, [])))
    phrases = [said] if isinstance(said, str) else said
    if not isinstance(phrases, list) or not all(isinstance(phrase, str) for phrase in phrases):
        raise DataError(
            f"{path} must have a text, a list of texts, or description and examples for the class {shortened(name)!r}"
        )
    return tuple(phrase.strip() for phrase in phrases if phrase.strip())
