"""`actune bench run`: the cells of a grid that are not finished yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from actune.cli import bench_options as bench_as
from actune.cli import options
from actune.cli.console import Output, counted
from actune.errors import SettingError

if TYPE_CHECKING:
    from actune.bench.cells import Device
    from actune.bench.executors import Executor
    from actune.bench.run import Run
    from actune.bench.work import Kept


def run(
    grid: bench_as.GridFile,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of results; by default runs/GRID. The same one goes on."),
    ] = None,
    executor: Annotated[str, typer.Option(help="local or ray.")] = "local",
    address: Annotated[str | None, typer.Option(help="With ray: the cluster; by default one on this machine.")] = None,
    gpus_per_cell: Annotated[
        float | None, typer.Option(min=0.01, help="With ray: a share lets several cells run on one GPU; 1 by default.")
    ] = None,
    workers: bench_as.Workers = None,
    threads: bench_as.Threads = None,
    device: options.Device = "auto",
    data_dir: options.DataDir = None,
    only: bench_as.Only = None,
    keep_models: Annotated[str, typer.Option(help="none, last, or all.")] = "none",
    seconds: Annotated[
        float | None, typer.Option(help="Starts no cell after this time, and stops each after its round.")
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Runs the cells of a grid that are not finished yet.

    Finished cells are skipped, and a cell that was stopped or killed goes on from its last round. Without --out the
    results of smoke.toml are in runs/smoke, where the same command goes on.

    Example: actune bench run benchmarks/grids/smoke.toml --workers 2
    """
    from actune.bench.grid import load_grid
    from actune.bench.run import prepare
    from actune.cli.failures import Stopped
    from actune.cli.live import watched

    output, folder = Output(json, quiet), out or Path("runs") / grid.stem
    found, models = load_grid(grid), _kept(keep_models)
    if executor not in ("local", "ray"):
        raise SettingError(f"--executor is local or ray, not {executor!r}")
    if executor == "local" and (address or gpus_per_cell is not None):
        raise SettingError("--address and --gpus-per-cell belong to --executor ray")
    with ExitStack() as stack:
        if executor == "ray":
            where = stack.enter_context(_on_ray(address, device, workers, threads, gpus_per_cell))
        else:
            where = bench_as.local(device, workers, threads)
        work = prepare(found, folder, where[0], only or (), data_dir)
        output.say(
            f"{counted(len(work.cells), 'cell')}, {len(work.done)} of them finished, in {folder}",
            *filter(None, [work.note]),
        )
        try:
            with closing(work.events(where[1], data_dir, models, seconds)) as events:
                watched(output, work, events)
        except KeyboardInterrupt:
            raise Stopped(f"stopped: what was finished is kept in {folder}, and the same command continues") from None
    _tell(output, work)


@contextmanager
def _on_ray(
    address: str | None, device: str, workers: int | None, threads: int | None, gpus_per_cell: float | None
) -> Iterator[tuple[Device, Executor]]:
    """The devices of a cluster; on a machine of its own Ray has room for as many cells as were asked for."""
    from actune.bench.clusters import Cluster, check_gpus, connected
    from actune.bench.run import device_of

    room = (workers or max(1, bench_as.cores() // (threads or 1))) * (threads or 1)
    with connected(address, room) as ray:
        if device == "auto":
            device = "cuda" if ray.cluster_resources().get("GPU") else "cpu"
        share = (1.0 if gpus_per_cell is None else gpus_per_cell) if device == "cuda" else 0.0
        if device == "cuda":
            check_gpus(ray, share)
        yield device_of(device, threads, here=False), Cluster(ray, workers, share)


def _tell(output: Output, work: Run) -> None:
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
        output.say(f"{counted(facts['left'], 'cell')} left: the same command continues")
    output.give(facts)
    if work.failed:
        reasons = "; ".join(f"{name} ({reason})" for name, reason in facts["failed"].items())
        typer.echo(f"actune: {counted(len(work.failed), 'cell')} failed: {reasons}", err=True)
        raise typer.Exit(1)


def _kept(word: str) -> Kept:
    """Which models a cell keeps."""
    if word not in ("none", "last", "all"):
        raise SettingError(f"--keep-models is none, last or all, not {word!r}")
    return word  # type: ignore[return-value]
