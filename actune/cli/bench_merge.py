"""`actune bench merge`: results of several machines in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted


def merge(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of results.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder that takes them; it may hold some already.")],
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Brings the results of several machines together.

    Example: actune bench merge results/gpu-a results/gpu-b --out results/all
    """
    from actune.bench.merging import merge as merged

    output = Output(json, quiet)
    done = merged(folders, out)
    state = done.results.progress()
    finished, cells = state.finished, state.cells
    output.say(*done.notes, f"{counted(done.taken, 'cell')} taken; {finished} of {cells} finished in {out}")
    output.give(
        {"folder": str(out), "taken": done.taken, "finished": finished, "cells": cells, "notes": list(done.notes)}
    )
