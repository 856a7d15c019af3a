"""`actune bench tidy`: finished cells as tables, without their run folders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import bench_options, options
from actune.cli.console import Output, counted


def tidy(
    folder: bench_options.ResultsFolder,
    to: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="The output folder; tables there are replaced if none of their cells is lost."
        ),
    ],
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the finished cells of a results folder as a few small tables, for publishing.

    The other `bench` commands read such a folder too, and `bench run --out` does not repeat its cells. Unfinished cells
    are left out.

    Example: actune bench tidy runs/core --to results/core
    """
    from actune.bench.publishing import publish

    output = Output(json, quiet)
    done = publish(folder, to)
    left = f"; {counted(done.unfinished, 'unfinished cell')} left out" if done.unfinished else ""
    output.say(f"{counted(done.cells, 'finished cell')} in {to}, {done.size / 1e6:.1f} MB{left}")
    output.give({"folder": str(to), "cells": done.cells, "unfinished": done.unfinished, "bytes": done.size})
