"""What a results folder of somebody else says, checked before it is used: keys, places in a grid, rounds, arrays."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from actune.bench.grid import Point
from actune.bench.results_table import SECONDS
from actune.core.checks import told
from actune.core.facts import RoundFacts
from actune.errors import RunFolderError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Classes = npt.NDArray[np.int64]

LARGEST = 2**53  # of a whole number: floats and tables hold it
_KEY = re.compile(r"[0-9a-f]{16}")
_ID = re.compile(r"[0-9a-f]{32}")


def is_key(key: object) -> bool:
    """Whether this is the key of a cell. Keys are names of folders, so nothing else is one."""
    return isinstance(key, str) and _KEY.fullmatch(key) is not None


def checked_key(key: object, source: str) -> str:
    """The key of a cell, or one sentence."""
    if not is_key(key):
        raise RunFolderError(f"{source} names the cell {told(key)}: a key has 16 digits of 0-9 and a-f")
    return str(key)


def checked_point(place: object, source: str) -> Point:
    """Where a cell stands in its grid, or one sentence."""
    kinds = (str, str, str, str, int, str)
    found = list(place) if isinstance(place, (list, tuple)) else []
    if len(found) != len(kinds) or not all(map(_conforms, found, kinds)) or found[4] < 0:
        raise RunFolderError(
            f"{source} has a cell at {told(place)}, which is not a task, method, model, learner, seed and variant"
        )
    return Point(*found)


def check_facts(facts: Mapping[str, Any], source: str) -> None:
    """One sentence for what a bench.toml must not say."""
    kinds: dict[str, Any] = {"actune": str, "id": str, "cells": dict, "failed": Mapping[str, str], "anew": list[str]}
    for name in ("actune", "id", "cells"):
        if name not in facts:
            raise RunFolderError(f"{source} has no {name!r}: restore it from a backup, or choose another folder")
    for name, value in facts.items():
        if name in kinds and not _conforms(value, kinds[name]):
            raise RunFolderError(f"{source} has {name} = {told(value)}, which actune did not write")
    if not _ID.fullmatch(facts["id"]):  # nodes of a cluster name a folder like this
        raise RunFolderError(f"{source} has id = {told(facts['id'])}: an id has 32 digits of 0-9 and a-f")
    for key, place in facts["cells"].items():
        checked_key(key, source)
        checked_point(place, source)
    for key in (*facts.get("failed", ()), *facts.get("anew", ())):
        checked_key(key, source)


def checked_rounds(rounds: tuple[RoundFacts, ...], source: str) -> tuple[RoundFacts, ...]:
    """The rounds of a cell from the first on, or one sentence."""
    for number, facts in enumerate(rounds):
        if not _conforms(facts, RoundFacts) or any(phase not in facts.seconds for phase in SECONDS):
            raise RunFolderError(f"{source} has a round {number} with wrong numbers: restore it from a backup")
        if facts.round != number:
            raise RunFolderError(f"{source} lacks its round {number}: restore the file, or choose another folder")
    return rounds


def checked_made(made: Any, source: str) -> Mapping[str, Any]:
    """Where a cell was made, or one sentence."""
    if not isinstance(made, dict) or any(not isinstance(made.get(name), str) for name in ("machine", "commit")):
        raise RunFolderError(f"{source} does not say where it was made: restore it from a backup")
    return made


def checked_classes(values: Any, dimensions: int, source: str) -> Classes:
    """Class numbers as an array of so many dimensions, or one sentence."""
    import numpy as np

    try:
        found = np.asarray(values)
    except ValueError:  # lines of different lengths
        found = np.empty(0)
    if found.ndim != dimensions or not np.issubdtype(found.dtype, np.integer):
        raise RunFolderError(f"{source} has no array of class numbers: restore the file, or choose another folder")
    return found.astype(np.int64)


def _conforms(value: Any, kind: Any) -> bool:
    """Whether a value is of an annotated type, inside too; numbers are finite and of a usual size."""
    if isinstance(kind, UnionType):
        return any(_conforms(value, each) for each in get_args(kind))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return isinstance(value, kind) and all(  # type: ignore[arg-type]
            _conforms(getattr(value, entry.name), hints[entry.name]) for entry in fields(kind)
        )
    inner = get_args(kind)
    if get_origin(kind) in (tuple, list):
        return isinstance(value, get_origin(kind)) and all(_conforms(each, inner[0]) for each in value)
    if inner:
        return isinstance(value, Mapping) and all(
            _conforms(name, inner[0]) and _conforms(each, inner[1]) for name, each in value.items()
        )
    if kind is float:
        return type(value) in (int, float) and abs(value) <= LARGEST and math.isfinite(value)
    if kind is int:
        return type(value) is int and abs(value) <= LARGEST
    return isinstance(value, kind)
