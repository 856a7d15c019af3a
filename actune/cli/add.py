"""`actune add`: more texts for a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted


def add(
    folder: options.Folder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file with more texts, labelled or not.")],
    text: options.Text = None,
    label: options.Label = None,
    id: options.Id = None,
    encoding: options.Encoding = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Add texts to a project; labels in the file become answers.

    By default the file is read with the encoding and, if it has them, the columns that the project was started with.

    Example: actune add posts more.csv
    """
    from actune.cli.folders import open_project
    from actune.data.formats import read_more

    output = Output(json, quiet)
    session = open_project(folder)
    more = read_more(file, session.pool, text, label, id, encoding, session.config.request.reading)
    added, known = session.add(more), len(more.known_rows())
    output.say(*more.notes, f"{counted(added, 'text')} added, {known:,} with a label: {len(session.pool):,} in all")
    output.give(
        {"folder": str(folder), "added": added, "labels": known, "texts": len(session.pool), "notes": list(more.notes)}
    )
