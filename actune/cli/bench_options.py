"""What the commands of `actune bench` share: options, and what they mean on this machine."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli.console import Output, running_code

if TYPE_CHECKING:
    from actune.bench.cells import CellDevice
    from actune.bench.grid import Grid
    from actune.bench.local import Local

GridFile = Annotated[
    Path, typer.Argument(metavar="GRID", help="A TOML file that describes the runs; see docs/reference/grids.md.")
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUES", help="Select cells, for example task=trec or seed=0,1; all by default. May be repeated."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="CPU threads per cell; 1 by default on a CPU, where another number can change the last digits.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="The number of cells that run at the same time; by default one per core, or one per GPU.",
    ),
]
AllowPython = Annotated[
    bool,
    typer.Option(
        "--allow-python-rules",
        help='Run Python code that the grid names: rules (weak = "rules.py") and methods (module:name). Use it only '
        "for code that you have read.",
    ),
]
ResultsFolder = Annotated[Path, typer.Argument(metavar="DIR", help="The results folder of `actune bench run`.")]


def load_grid(file: Path, python: bool, output: Output) -> Grid:
    """The grid; a line says which code will run."""
    from actune.bench.grid import load_grid

    grid = load_grid(file, python)
    grid.check_code()
    output.say(*map(running_code, grid.code))
    return grid


def local(device: str, workers: int | None, threads: int | None, here: bool = True) -> tuple[CellDevice, Local]:
    """The device, and the processes that run cells on it; `here` is false where another machine will run them."""
    from actune.bench.local import Local, visible
    from actune.bench.run import device_of

    found = device_of(device, threads, here)
    gpus = max(1, len(visible())) if found.kind == "cuda" else 0
    crew = workers or gpus or max(1, cores() // found.threads)
    if found.kind == "cuda" and threads is None:
        found = replace(found, threads=max(1, cores() // crew))
    return found, Local(crew, gpus)


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
