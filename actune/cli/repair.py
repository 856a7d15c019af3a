"""`actune repair`: rebuilds what can be rebuilt of a damaged run folder."""

from __future__ import annotations

import typer

from actune.cli import options
from actune.cli.console import Output
from actune.core.printing import printable


def repair(
    folder: options.Folder,
    method: options.OwnMethod = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Rebuild what can be rebuilt of a damaged run folder.

    Tables are rebuilt from the log of answers, a damaged database from all rows that can still be read and from the
    newest copy in its folder backups, and a damaged model or array of the last round is computed again. Nothing is
    deleted: what is replaced is kept under another name. The exit code is 2 if problems are left.

    Example: actune repair posts
    """
    from actune.cli.progress import progress_bars
    from actune.session.repairing import repair as repair_folder

    output = Output(json, quiet)
    with progress_bars(output) as bars:
        found = repair_folder(folder, bars, method)
    output.say(*(printable(each) for each in found.done))
    for problem in found.problems:
        typer.echo(f"actune: {printable(problem)}", err=True)
    if not found.problems:
        output.say("the folder has no problems" + (" now" if found.done else "; nothing was done"))
    output.give({"folder": str(folder), "done": list(found.done), "problems": list(found.problems)})
    if found.problems:
        raise typer.Exit(2)
