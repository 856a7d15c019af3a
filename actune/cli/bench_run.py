"""`actune bench run`: runs the cells of a grid that are not finished yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from actune.cli import bench_options, options
from actune.cli.console import Output, counted
from actune.core.printing import one_line
from actune.errors import SettingError

if TYPE_CHECKING:
    from actune.bench.cells import CellDevice
    from actune.bench.executors import Executor
    from actune.bench.run import GridRun
    from actune.bench.work import ModelsKept


def run(
    grid: bench_options.GridFile,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The results folder; by default runs/NAME. An existing one is continued."),
    ] = None,
    executor: Annotated[str, typer.Option(help="Where cells run: local or ray.")] = "local",
    address: Annotated[
        str | None,
        typer.Option(
            help="The address of a Ray cluster (with --executor ray); by default Ray is started on this machine."
        ),
    ] = None,
    gpus_per_cell: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            metavar="N",
            help="GPUs per cell (with --executor ray), 1 by default; with a fraction, several cells share a GPU.",
        ),
    ] = None,
    workers: bench_options.Workers = None,
    threads: bench_options.Threads = None,
    device: options.Device = "auto",
    data_dir: options.DataDir = None,
    only: bench_options.Only = None,
    allow_python_rules: bench_options.AllowPython = False,
    keep_models: Annotated[str, typer.Option(help="Which models each cell keeps: none, last or all.")] = "none",
    seconds: Annotated[
        float | None,
        typer.Option(
            help="A time limit in seconds: after it no cell starts, and running cells stop at the end of their round; "
            "no limit by default."
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the cells (runs) of a grid that are not finished yet.

    Finished cells are skipped, and a cell that was interrupted continues after its last finished round. Without --out,
    the results of NAME.toml are written to runs/NAME.

    Example: actune bench run benchmarks/grids/smoke.toml --workers 2
    """
    from actune.bench.run import prepare
    from actune.cli.live import watched

    output, folder = Output(json, quiet), out or Path("runs") / grid.stem
    found, models = bench_options.load_grid(grid, allow_python_rules, output), _kept(keep_models)
    if executor not in ("local", "ray"):
        raise SettingError(f"--executor must be local or ray, not {executor!r}")
    if executor == "local" and (address or gpus_per_cell is not None):
        raise SettingError("--address and --gpus-per-cell work only with --executor ray: add it, or leave them out")
    with ExitStack() as stack:
        if executor == "ray":
            where = stack.enter_context(_on_ray(address, device, workers, threads, gpus_per_cell))
        else:
            where = bench_options.local(device, workers, threads)
        work = prepare(found, folder, where[0], only or (), data_dir)
        output.say(
            f"{counted(len(work.cells), 'cell')} in {folder}, {len(work.done)} already finished",
            *filter(None, [work.note]),
        )
        watched(output, work, work.events(where[1], data_dir, models, seconds))
    _tell(output, work)


@contextmanager
def _on_ray(
    address: str | None, device: str, workers: int | None, threads: int | None, gpus_per_cell: float | None
) -> Iterator[tuple[CellDevice, Executor]]:
    """The devices of a cluster; on a machine of its own Ray has room for as many cells as were asked for."""
    from actune.bench.clusters import Cluster, check_gpus, connected
    from actune.bench.run import device_of

    room = (workers or max(1, bench_options.cores() // (threads or 1))) * (threads or 1)
    with connected(address, room) as ray:
        if device == "auto":
            device = "cuda" if ray.cluster_resources().get("GPU") else "cpu"
        share = (1.0 if gpus_per_cell is None else gpus_per_cell) if device == "cuda" else 0.0
        if device == "cuda":
            check_gpus(ray, share)
        yield device_of(device, threads, here=False), Cluster(ray, workers, share)


def _tell(output: Output, work: GridRun) -> None:
    folder = work.results.folder
    names = {cell.key: cell.point.name for cell in work.cells}
    facts: dict[str, Any] = {
        "folder": str(folder),
        "table": str(folder / "results.csv"),
        "cells": len(work.cells),
        "finished": len(work.done),
        "failed": {names[key]: reason for key, reason in work.failed.items()},
        "left": len(work.todo) - len(work.failed),
    }
    output.say(f"{facts['finished']} of {counted(facts['cells'], 'cell')} finished: {facts['table']}")
    if facts["left"]:
        output.say(f"{counted(facts['left'], 'cell')} left: run the same command to continue")
    output.give(facts)
    if work.failed:
        reasons = "; ".join(f"{name} ({reason})" for name, reason in facts["failed"].items())
        typer.echo(one_line(f"actune: {counted(len(work.failed), 'cell')} failed: {reasons}"), err=True)
        raise typer.Exit(1)


def _kept(word: str) -> ModelsKept:
    """Which models a cell keeps."""
    if word not in ("none", "last", "all"):
        raise SettingError(f"--keep-models must be none, last or all, not {word!r}")
    return word  # type: ignore[return-value]
