"""`actune add`: more texts for a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import options as given_as
from actune.cli.console import Output, counted


def add(
    folder: given_as.Folder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file with more texts, labelled or not.")],
    text: given_as.Text = None,
    label: given_as.Label = None,
    id: given_as.Id = None,
    json: given_as.Json = False,
    quiet: given_as.Quiet = False,
) -> None:
    """Appends texts to a project; labels that come along are answers.

    Example: actune add posts more.csv
    """
    from actune.cli.folders import open_project
    from actune.data.formats import read_more

    output = Output(json, quiet)
    session = open_project(folder)
    more = read_more(file, session.pool, text, label, id)
    added, known = session.add(more), len(more.known_rows())
    output.say(*more.notes, f"{counted(added, 'text')} added, {known:,} with a label: {len(session.pool):,} in all")
    output.give(
        {"folder": str(folder), "added": added, "labels": known, "texts": len(session.pool), "notes": list(more.notes)}
    )
