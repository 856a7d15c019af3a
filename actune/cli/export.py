"""`actune export`: the labels of a run as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted


def export(
    folder: options.Folder,
    to: Annotated[Path, typer.Option(metavar="FILE", help=f"Write the labels to {options.OUTPUT}.")],
    pseudo: Annotated[
        bool, typer.Option("--pseudo", help="Include pseudo-labels (their source column says `pseudo`).")
    ] = False,
    raw: options.Raw = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the labels to a file.

    Its columns are id, text, label, source (human or pseudo), round, confidence and by. `round` is the first round that
    was trained on the label; it is empty if there is none yet.

    Example: actune export posts --to labels.csv
    """
    from actune.data.export import check_target, write_table
    from actune.session.labelled import COLUMNS, human_rows, pseudo_rows
    from actune.session.setup import open_session

    output = Output(json, quiet, to)
    check_target(to)
    session = open_session(folder)
    human = human_rows(session)
    found = pseudo_rows(session) if pseudo else []
    notes = write_table(to, COLUMNS, [*human, *found], raw)
    mixed = f" and {counted(len(found), 'pseudo-label')}" if pseudo else ""
    output.say(*notes, f"{counted(len(human), 'human label')}{mixed} written to {output.named(to)}")
    output.give({"folder": str(folder), "file": str(to), "human": len(human), "pseudo": len(found), "notes": notes})
