"""`actune report`: learning curves in the terminal and as one html page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import options
from actune.cli.console import Output


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="The folders of runs or projects.")],
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The HTML file, or - for standard output; by default DIR/report.html."),
    ] = None,
    round: Annotated[int | None, typer.Option(help="The round for the map of texts; the newest by default.")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Print the learning curves of runs and write an HTML report that works offline.

    Example: actune report runs/001 runs/002 --to compared.html
    """
    from actune.cli.curve import show_curve, show_curves
    from actune.core.outputs import named_output
    from actune.session.runner import result
    from actune.session.setup import open_session

    output = Output(json, quiet, to)
    place = folders[0] / "report.html" if to is None else named_output(to)
    sessions = [open_session(folder) for folder in folders]
    runs = [result(session) for session in sessions]
    from actune.report.page import write_report

    write_report(sessions, place, round)
    page = to or place
    if len(runs) == 1:
        show_curve(output, runs[0])
    else:
        show_curves(output, runs)
    output.say(f"report: {output.named(page)}")
    output.give({"report": str(page), "runs": runs})
