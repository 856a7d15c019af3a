"""`actune bench merge`: the results of several machines in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted


def merge(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Results folders.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to merge into; it may already have results.")],
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Merge the results of several machines into one folder.

    Folders that `actune bench tidy` wrote can be merged too, and stay tables.

    Example: actune bench merge results/gpu-a results/gpu-b --out results/all
    """
    from actune.bench.merging import merge as merged

    output = Output(json, quiet)
    done = merged(folders, out)
    state = done.results.progress()
    finished, cells = state.finished, state.cells
    output.say(*done.notes, f"{counted(done.taken, 'cell')} copied; {finished} of {cells} cells in {out} are finished")
    output.give(
        {"folder": str(out), "taken": done.taken, "finished": finished, "cells": cells, "notes": list(done.notes)}
    )
