"""A grid for one data set and a few methods: what `actune compare` runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from actune.bench.grid import READING, Grid, parse_grid
from actune.bench.verdict import BASELINE
from actune.bench.vocabulary import RUN_SETTINGS
from actune.core import toml
from actune.core.run_options import RunOptions
from actune.data.tasks import cards
from actune.errors import SettingError


def own_grid(options: RunOptions, methods: Sequence[str], seeds: int, learner: str) -> Grid:
    """Random and these methods on one data set, each with the same seeds."""
    methods = [BASELINE, *(method for method in dict.fromkeys(methods) if method != BASELINE)]
    if len(methods) < 2:
        raise SettingError(f"a comparison needs a method beside {BASELINE}: --methods entropy,actune")
    if seeds < 1:
        raise SettingError(f"--seeds is a number of runs from 1, not {seeds}")
    said: Mapping[str, Any] = options
    data, named = options["source"], options["source"] in cards()
    name = data if named else short_name(data)
    tables: dict[str, Any] = {
        "title": f"{name}: does active learning help here?",
        "grid": {
            "tasks": [name],
            "methods": methods,
            "models": [options["model"]],
            "learners": [learner],
            "seeds": list(range(seeds)),
        },
        "settings": {**options["changes"], **{name: said[name] for name in RUN_SETTINGS if name in said}},
    }
    words, reading = toml.dumps(tables), _reading(options)
    if not named:
        path = Path(data).expanduser()
        place = str(path.absolute()) if path.exists() else data  # or a hub id
        words += f"\n[task.{json.dumps(name)}]\n" + toml.dumps({"data": place, **reading})
    elif reading:
        raise SettingError(f"{data!r} is read as it is: leave --{next(iter(reading)).replace('_', '-')} out")
    return parse_grid(words, "the comparison")


def _reading(options: RunOptions) -> dict[str, Any]:
    """How the data is read, with files under their whole paths: cells may run elsewhere."""
    reading = {name: value for name, value in options["reading"].items() if name in READING}
    return reading | {name: str(Path(reading[name]).absolute()) for name in ("dev", "test") if name in reading}


def short_name(data: str) -> str:
    """What a data set is called in tables: the file's name without its ending."""
    return Path(data).name.split(".")[0] or "data"
