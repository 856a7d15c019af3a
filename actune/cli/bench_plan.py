"""`actune bench plan`: what a grid would run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from actune.cli import bench_options, options
from actune.cli.console import Output, counted

if TYPE_CHECKING:
    from actune.bench.forecast import Forecast


def plan(
    grid: bench_options.GridFile,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A results folder; the estimate leaves out cells that are finished there."),
    ] = None,
    workers: bench_options.Workers = None,
    threads: bench_options.Threads = None,
    device: options.Device = "auto",
    data_dir: options.DataDir = None,
    only: bench_options.Only = None,
    allow_python_rules: bench_options.AllowPython = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List the cells (runs) of a grid, their numbers of labels and the estimated time.

    The estimate is based on a measurement of a few seconds and includes the embedding of new texts.

    Example: actune bench plan benchmarks/grids/smoke.toml --out results/smoke
    """
    from actune.bench.cells import plan_some
    from actune.bench.estimates import Estimates
    from actune.bench.forecast import forecast
    from actune.bench.store import Results, has_cells

    output = Output(json, quiet)
    found = bench_options.load_grid(grid, allow_python_rules, output)
    there, how = bench_options.local(device, workers, threads, here=False)
    every, cells, note = plan_some(found, only or (), there, data_dir)
    results = Results(out) if out and has_cells(out) else None
    finished = set(results.finished()) if results else set()
    left_over = [cell for cell in cells if cell.key not in finished]
    time_left = forecast(left_over, Estimates(every, results), how.workers, data_dir, here=is_here(there.kind))
    rows: dict[tuple[str, ...], list[Any]] = {}
    for cell in cells:
        point, left = cell.point, cell.key not in finished
        row = rows.setdefault((point.task, point.method, point.model, point.learner, point.variant), [0, 0, 0, 0, 0.0])
        for place, value in enumerate((1, not left, cell.fits, cell.labels, time_left.cells.get(cell.key, 0.0))):
            row[place] += value
    columns = ["task", "method", "model", "learner", "variant", "cells", "finished", "fits", "labels", "time left"]
    output.show(found.title, columns, [[*place, *row[:-1], duration(row[-1])] for place, row in rows.items()])
    facts: dict[str, Any] = {
        "title": found.title,
        "cells": len(cells),
        "finished": sum(cell.key in finished for cell in cells),
        "fits": sum(cell.fits for cell in cells),
        "labels": sum(cell.labels for cell in cells),
        "seconds": round(time_left.seconds, 3),
        "texts_to_embed": time_left.to_embed,
        "embedding_seconds": round(time_left.embedding, 3),
        "basis": time_left.basis,
    }
    output.say(
        f"{counted(facts['cells'], 'cell')}, {facts['finished']} finished; {counted(facts['fits'], 'fit')} and "
        f"{counted(facts['labels'], 'label')} in all",
        f"about {duration(time_left.seconds)} with {counted(how.workers, 'worker')}, {time_left.basis}",
        *embedding_told(time_left),
        *filter(None, [note]),
    )
    output.give(facts)


def embedding_told(found: Forecast) -> list[str]:
    """What embedding adds, where some texts are not embedded yet."""
    if not found.to_embed:
        return []
    return [f"{counted(found.to_embed, 'text')} must be embedded first ({duration(found.embedding)} of this time)"]


def is_here(kind: str) -> bool:
    """Whether this machine has such a device, so that it can be measured."""
    import torch

    return kind == "cpu" or torch.cuda.is_available()


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
