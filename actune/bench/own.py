"""A grid for one data set and a few methods: what `actune compare` runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from actune.bench.grid import Grid, parse_grid
from actune.bench.verdict import BASELINE
from actune.data.tasks import cards
from actune.errors import SettingError
from actune.session import toml


def own_grid(
    data: str,
    methods: Sequence[str],
    seeds: int,
    model: str,
    learner: str,
    settings: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> Grid:
    """Random and these methods on one data set, each with the same seeds."""
    methods = [BASELINE, *(method for method in dict.fromkeys(methods) if method != BASELINE)]
    if len(methods) < 2:
        raise SettingError(f"a comparison needs a method beside {BASELINE}: --methods entropy,actune")
    if seeds < 1:
        raise SettingError(f"--seeds is a number of runs from 1, not {seeds}")
    named = data in cards()
    name = data if named else short_name(data)
    tables: dict[str, Any] = {
        "title": f"{name}: does active learning help here?",
        "grid": {
            "tasks": [name],
            "methods": methods,
            "models": [model],
            "learners": [learner],
            "seeds": list(range(seeds)),
        },
        "settings": dict(settings),
    }
    words = toml.dumps(tables)
    if not named:
        path = Path(data).expanduser()
        place = str(path.absolute()) if path.exists() else data  # or a hub id
        words += f"\n[task.{json.dumps(name)}]\n" + toml.dumps({"data": place, **reading})
    elif reading:
        raise SettingError(f"{data!r} is read as it is: leave --{next(iter(reading)).replace('_', '-')} out")
    return parse_grid(words, "the comparison")


def short_name(data: str) -> str:
    """What a data set is called in tables: the file's name without its ending."""
    return Path(data).name.split(".")[0] or "data"
