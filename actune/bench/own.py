"""A grid for one data set and a few methods: what `actune compare` runs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from actune.bench.cells import load
from actune.bench.grid import READING, Grid, parse_grid
from actune.bench.verdict import BASELINE
from actune.bench.vocabulary import RUN_SETTINGS
from actune.core import toml
from actune.core.checks import told
from actune.core.options import Place, options_of
from actune.core.places import exists
from actune.core.printing import counted
from actune.core.run_options import RunOptions
from actune.core.spec import RunSpec
from actune.data.tasks import cards
from actune.errors import DataError, SettingError

MOST_SEEDS = 10_000


def own_grid(options: RunOptions, methods: Sequence[str], seeds: int, learner: str) -> Grid:
    """Random and these methods on one data set, each with the same seeds."""
    methods = [BASELINE, *(method for method in dict.fromkeys(methods) if method != BASELINE)]
    if len(methods) < 2:
        raise SettingError(
            f"a comparison needs at least one method other than {BASELINE}, for example --methods thrifty,entropy"
        )
    if seeds < 1:
        raise SettingError(f"--seeds must be at least 1, not {told(seeds)}")
    if seeds > MOST_SEEDS:
        raise SettingError(f"--seeds must be at most {MOST_SEEDS:,}, not {told(seeds)}")
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
        place = str(path.absolute()) if exists(path) else data  # or a hub id
        words += f"\n[task.{json.dumps(name)}]\n" + toml.dumps({"data": place, **reading})
    elif reading:
        raise SettingError(
            f"{data!r} is a named data set with its own columns: leave out --{next(iter(reading)).replace('_', '-')}"
        )
    return parse_grid(words, "the comparison", python=True)  # all of it stood on the command line


def check_test_set(grid: Grid, data_dir: Path | None = None) -> None:
    """Refuses data without a test set before anything runs: nothing could be measured."""
    point = grid.points[0]
    task = load(point.data, point.reading, point.seed, point.preset, data_dir)
    if task.test is None:
        count = counted(len(task.pool) + (len(task.dev) if task.dev else 0), "labelled text")
        raise DataError(
            f"{point.data} has {count}, which is too few to hold out a test set: "
            "give one with --test FILE, or label more texts"
        )


def command_of(options: RunOptions, methods: Sequence[str], seeds: int, learner: str, folder: Path) -> str:
    """The command that makes, or continues, such a comparison."""
    said: Mapping[str, Any] = options
    words = ["actune", "compare", options["source"], "--methods", ",".join(methods), "--seeds", str(seeds)]
    words += ["--learner", learner]
    for name, option in options_of(RunSpec).items():
        if (
            Place.COMPARE in option.places
            and not option.is_argument
            and said.get(name, option.default) != option.default
        ):
            words += [option.spelled, str(said[name])]
    for name, value in options["changes"].items():
        words += ["--set", f"{name}={value}"]
    for name, value in options["reading"].items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join([*words, "--out", str(folder)])


def _reading(options: RunOptions) -> dict[str, Any]:
    """How the data is read, with files under their whole paths: cells may run elsewhere."""
    reading = {name: value for name, value in options["reading"].items() if name in READING}
    return reading | {name: str(Path(reading[name]).absolute()) for name in ("dev", "test") if name in reading}


def short_name(data: str) -> str:
    """What a data set is called in tables: the file's name without its ending."""
    return Path(data).name.split(".")[0] or "data"
