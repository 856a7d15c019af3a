"""`actune verify`: is a run folder sound?"""

from __future__ import annotations

import typer

from actune.cli import options
from actune.cli.console import Output, counted
from actune.core.printing import printable


def verify(
    folder: options.Folder,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Check a run folder for damage; nothing is changed.

    Checks the configuration, the database, the log of answers, texts, arrays and models. Each problem is one line, and
    the exit code is 2 if there is any. A folder with results of `actune bench` is checked cell by cell.

    Example: actune verify posts
    """
    from actune.session.verifying import verify as verify_folder

    output = Output(json, quiet)
    found = verify_folder(folder)
    for problem in found.problems:  # also with --quiet: these are what was asked for
        typer.echo(f"actune: {printable(problem)}", err=True)
    checked = counted(len(found.folders), "run folder")
    output.say(f"{checked} checked: {counted(len(found.problems), 'problem') if found.problems else 'no problems'}")
    if found.problems:
        output.say(f"next: actune repair {folder}, or restore a backup")
    output.give({"folder": str(folder), "checked": len(found.folders), "problems": list(found.problems)})
    if found.problems:
        raise typer.Exit(2)
