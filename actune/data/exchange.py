"""Files of other labelling tools, Label Studio and Argilla: what goes out and what comes back is a list of records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actune.core.outputs import STANDARD_OUTPUT, named_output, write_output, writing
from actune.core.places import is_same
from actune.data import argilla, label_studio
from actune.data.records import Record
from actune.errors import DataError, SettingError, nearest

SUFFIX = ".json"


@dataclass(frozen=True)
class Tool:
    """How one tool writes its records, knows them, and is told about the classes."""

    write: Callable[[Record], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], Record]
    knows: Callable[[Mapping[str, Any]], bool]
    configure: Callable[[Sequence[str]], str]
    configuration: str  # the suffix of that file


TOOLS = {
    "label-studio": Tool(
        label_studio.task_of, label_studio.record_of, label_studio.is_task, label_studio.configuration, ".xml"
    ),
    "argilla": Tool(argilla.dict_of, argilla.record_of, argilla.is_record, argilla.settings, ".json"),
}


def find_tool(name: str) -> Tool:
    """A tool by its name, or a sentence that lists them."""
    if name not in TOOLS:
        raise SettingError(f"there is no format {name!r}: {nearest(name, TOOLS)}")
    return TOOLS[name]


def check_records_target(path: str | Path, format: str, configuration: str | Path | None = None) -> None:
    """Refuses what cannot be written before any work is done: the file of records, and that of the configuration."""
    tool, path = find_tool(format), Path(path)
    if path != STANDARD_OUTPUT and path.suffix.lower() != SUFFIX:
        raise DataError(f"cannot write {path}: with --format {format} its name must end in {SUFFIX}")
    named_output(path)
    if configuration is None:
        return
    place = Path(configuration)
    if place == STANDARD_OUTPUT or place.suffix.lower() != tool.configuration:
        raise DataError(f"cannot write {place}: the name of this configuration must end in {tool.configuration}")
    named_output(place)
    if place.absolute() == path.absolute() or is_same(place, path):
        raise DataError(f"{path} is the file of the labels: choose another file for the configuration")


def write_records(path: str | Path, records: Iterable[Record], format: str) -> None:
    """Writes a list of records as JSON, one on each line."""
    tool = find_tool(format)
    with writing(named_output(path)) as stream:
        before = b"[\n"
        for record in records:
            stream.write(before + json.dumps(tool.write(record), ensure_ascii=False, allow_nan=False).encode())
            before = b",\n"
        stream.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def write_configuration(path: str | Path, classes: Sequence[str], format: str) -> None:
    """Writes what the tool needs to know about the classes."""
    write_output(named_output(path), find_tool(format).configure(classes).encode())


def records_in(found: Sequence[Mapping[str, Any]]) -> list[Record] | None:
    """The records of a tool in a list of objects, None where these are ordinary rows."""
    for tool in TOOLS.values():
        if found and all(tool.knows(each) for each in found):
            return [tool.read(each) for each in found]
    return None
