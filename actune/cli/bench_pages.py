"""`actune bench figures` and `actune bench report`: what a folder of results says, as pictures and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import options
from actune.cli.console import Output
from actune.errors import SettingError

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that `actune bench run` filled.")]


def figures(
    folder: Folder,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where they go; by default DIR/figures.")] = None,
    formats: Annotated[str, typer.Option(help="Which kinds of files, of svg, pdf and png.")] = "svg,pdf,png",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Draws every figure and table of the paper that there are runs for, and says what is missing.

    Example: actune bench figures results --formats pdf
    """
    from actune.bench.figures import draw_all
    from actune.bench.figures.drawing import FORMATS
    from actune.bench.store import Results

    kinds = [word.strip() for word in formats.split(",") if word.strip()]
    if not kinds or (strange := sorted(set(kinds) - set(FORMATS))):
        raise SettingError(f"--formats takes {', '.join(FORMATS)}, not {strange[0] if kinds else formats!r}")
    output, place = Output(json, quiet), out or folder / "figures"
    drawn, missing = draw_all(Results(folder), place, kinds)
    output.show("drawn", ["file", "what"], [[each.name, each.title] for each in drawn])
    output.say(*(f"missing: {each.title} needs {each.needs}: see {each.grid}" for each in missing))
    output.say(f"figures, tables and captions: {place}")
    wanting = [{"name": each.name, "needs": each.needs, "grid": each.grid} for each in missing]
    output.give({"folder": str(place), "drawn": [each.name for each in drawn], "missing": wanting})


def report(
    folder: Folder,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The page; by default DIR/report.html.")] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Writes its tables for LaTeX beside it too.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Says which claims of the paper hold in these results, and writes a page that needs no network.

    Example: actune bench report results --latex
    """
    from actune.bench.page import write_page
    from actune.bench.store import Results

    output = Output(json, quiet)
    found, files = write_page(Results(folder), out or folder / "report.html", latex)
    rows = [
        [each.claim.name, each.shown, each.numbers, each.p_shown, each.seeds, each.tasks] for each in found.findings
    ]
    output.show("claims of the paper", ["claim", "verdict", "found", "p", "seeds", "tasks"], rows)
    output.say(*(f"missing: {each.title}: see {each.grid}" for each in found.missing))
    if not found.progress.complete:
        output.say(found.progress.sentence)
    output.say(f"report: {', '.join(map(str, files))}")
    claims = [
        {
            "claim": each.claim.name,
            "verdict": each.verdict,
            "complete": not each.measured.missing,
            "found": each.numbers,
            "p": each.p,
            "words": each.words,
        }
        for each in found.findings
    ]
    state = {"cells": found.progress.cells, "finished": found.progress.finished, "complete": found.progress.complete}
    output.give({"files": [str(file) for file in files], **state, "claims": claims})
