"""`actune bench plan`: what a grid would run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from actune.cli import bench_options as bench_as
from actune.cli import options
from actune.cli.console import Output, counted


def plan(
    grid: bench_as.GridFile,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="A folder of results: what it has is done.")] = None,
    workers: bench_as.Workers = None,
    threads: bench_as.Threads = None,
    device: options.Device = "auto",
    data_dir: options.DataDir = None,
    only: bench_as.Only = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Says what a grid would run, how many labels that takes and about how long, and runs nothing.

    Example: actune bench plan benchmarks/grids/smoke.toml --out results/smoke
    """
    from actune.bench.cells import plan_some
    from actune.bench.estimates import Estimates
    from actune.bench.grid import load_grid
    from actune.bench.store import FILE, Results

    output = Output(json, quiet)
    found = load_grid(grid)
    there, how = bench_as.local(device, workers, threads, here=False)
    every, cells, note = plan_some(found, only or (), there, data_dir)
    results = Results(out) if out and (out / FILE).is_file() else None
    finished = set(results.finished()) if results else set()
    estimates = Estimates(every, results)
    rows: dict[tuple[str, ...], list[Any]] = {}
    for cell in cells:
        point, left = cell.point, cell.key not in finished
        row = rows.setdefault((point.task, point.method, point.model, point.learner, point.variant), [0, 0, 0, 0, 0.0])
        for place, value in enumerate((1, not left, cell.fits, cell.labels, left * estimates.seconds(cell))):
            row[place] += value
    columns = ["task", "method", "model", "learner", "variant", "cells", "finished", "fits", "labels", "time left"]
    output.show(found.title, columns, [[*place, *row[:-1], duration(row[-1])] for place, row in rows.items()])
    seconds = sum(row[-1] for row in rows.values()) / how.workers
    facts = {
        "title": found.title,
        "cells": len(cells),
        "finished": sum(cell.key in finished for cell in cells),
        "fits": sum(cell.fits for cell in cells),
        "labels": sum(cell.labels for cell in cells),
        "seconds": round(seconds, 3),
        "basis": estimates.basis,
    }
    output.say(
        f"{counted(facts['cells'], 'cell')}, {facts['finished']} finished; {counted(facts['fits'], 'fit')} and "
        f"{counted(facts['labels'], 'label')} in all",
        f"about {duration(seconds)} with {counted(how.workers, 'worker')}, {estimates.basis}",
        *filter(None, [note]),
    )
    output.give(facts)


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
