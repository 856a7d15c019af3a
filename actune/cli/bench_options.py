"""What the commands of `actune bench` share: options, and what they mean on this machine."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from actune.bench.cells import Device
    from actune.bench.local import Local

GridFile = Annotated[Path, typer.Argument(metavar="GRID", help="A TOML file: see docs/experiments.md.")]
Only = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUES", help="Only these cells: task=trec, seed=0,1; repeatable.")
]
Threads = Annotated[int | None, typer.Option(min=1, help="Of each cell; 1 on a CPU. They decide the last bits.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Cells at a time; by default one a core, or one a GPU.")]
Results = Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")]


def local(device: str, workers: int | None, threads: int | None, here: bool = True) -> tuple[Device, Local]:
    """The device, and processes to run cells on it; what is not here is one sentence, unless it is elsewhere."""
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
