"""What is published names no folder of the machine that made it: files keep only their base names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from actune.core import toml
from actune.core.places import base_name
from actune.errors import ActuneError

RUN_WORDS = {
    "request": ("data", "model", "weak", "start_from"),
    "reading": ("dev", "test", "data_dir"),
    "resolved": ("model_found",),
}
GRID_WORDS = ("tasks", "task", "models", "model", "data", "dev", "test", "weak", "start_from", "method", "methods")
_PATH = re.compile(r"(?<![\w./:\\~])(?:~?/|[A-Za-z]:\\)[^\s'\",;:()`]*[^\s'\",;:()`.]")  # in a sentence


def without_paths(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a run.toml with base names in the place of absolute paths."""
    found: dict[str, Any] = {
        name: dict(table) if isinstance(table, Mapping) else table for name, table in tables.items()
    }
    for name, words in RUN_WORDS.items():
        if isinstance(table := found.get(name), dict):
            table |= {word: base_name(table[word]) for word in words if isinstance(table.get(word), str)}
    if isinstance(resolved := found.get("resolved"), dict) and isinstance(resolved.get("notes"), (list, tuple)):
        resolved["notes"] = [shortened_paths(note) for note in resolved["notes"]]
    return found


def shortened_paths(sentence: Any) -> Any:
    """A sentence with base names in the place of absolute paths."""
    if not isinstance(sentence, str):
        return sentence
    return _PATH.sub(lambda found: base_name(found[0]), sentence)


def grid_without_paths(text: str) -> str:
    """A grid, its comments included, with base names in the place of absolute paths."""
    try:
        tables = toml.parse(text, "the grid")
    except ActuneError:
        return text  # no grid, so nobody can tell what is a path there
    paths = {word for word in _words(tables) if base_name(word) != word}

    def cleaned(part: re.Match[str]) -> str:
        if part[0].startswith("#"):
            return str(shortened_paths(part[0]))
        word = _string(part[0])
        return json.dumps(base_name(word), ensure_ascii=False) if word in paths else part[0]

    return toml.PARTS.sub(cleaned, text)


def _words(value: Any, within: bool = False) -> Iterator[str]:
    """Words of a grid that may be paths: values of some keys, and names of tasks."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "task" and isinstance(inner, dict):
                yield from inner
            yield from _words(inner, key in GRID_WORDS)
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner, within)
    elif within and isinstance(value, str):
        yield value


def _string(token: str) -> str | None:
    """What a token of TOML says, where it is a string."""
    if token[0] not in "\"'":
        return None
    try:
        return str(toml.parse(f"a = {token}", "a string")["a"])
    except ActuneError:
        return None
