"""`actune bench figures` and `actune bench report`: results as figures and as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import bench_options, options
from actune.cli.console import Output
from actune.errors import SettingError


def figures(
    folder: bench_options.ResultsFolder,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The output folder; by default DIR/figures.")] = None,
    formats: Annotated[str, typer.Option(help="File formats, separated by commas: svg, pdf, png.")] = "svg,pdf,png",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw the paper's figures and tables for which there are runs, and list the others.

    Example: actune bench figures results --formats pdf
    """
    from actune.bench.figures.drawing import FORMATS
    from actune.bench.paper.figures.collection import draw_all
    from actune.bench.store import Results
    from actune.core.files import check_own_folder

    kinds = [word.strip() for word in formats.split(",") if word.strip()]
    if not kinds or (strange := sorted(set(kinds) - set(FORMATS))):
        raise SettingError(f"--formats takes {', '.join(FORMATS)}, not {strange[0] if kinds else formats!r}")
    output, place = Output(json, quiet), out or folder / "figures"
    if out is None:
        check_own_folder(place)
    drawn, missing = draw_all(Results(folder), place, kinds)
    output.show("drawn", ["file", "what"], [[each.name, each.title] for each in drawn])
    output.say(*(f"missing: {each.title} (needs {each.needs}); {each.grid} has the runs" for each in missing))
    output.say(f"figures, tables and captions: {place}")
    wanting = [{"name": each.name, "needs": each.needs, "grid": each.grid} for each in missing]
    output.give({"folder": str(place), "drawn": [each.name for each in drawn], "missing": wanting})


def report(
    folder: bench_options.ResultsFolder,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The HTML file, or - for standard output; by default DIR/report.html."),
    ] = None,
    latex: Annotated[
        bool, typer.Option("--latex", help="Also write the tables as LaTeX files next to the page.")
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write an HTML page with rankings, statistical tests, learning curves and the paper's claims.

    Example: actune bench report results --latex
    """
    from actune.bench.paper.page import write_page
    from actune.bench.store import Results
    from actune.core.outputs import named_output

    output = Output(json, quiet, out)
    if latex and not output.is_free:
        raise SettingError("--latex writes files next to the page, and --out - writes none: leave one of them out")
    place = folder / "report.html" if out is None else named_output(out)
    found, files = write_page(Results(folder), place, latex)
    for table in found.rankings:
        output.show(table.title, table.columns, table.rows)
    if found.judged:
        rows = [
            [each.claim.name, each.shown, each.numbers, each.p_shown, each.seeds, each.tasks] for each in found.findings
        ]
        output.show("claims of the paper", ["claim", "verdict", "found", "p", "seeds", "tasks"], rows)
        output.say(*(f"missing: {each.title}; {each.grid} has the runs" for each in found.missing))
    if not found.progress.complete:
        output.say(found.progress.sentence)
    output.say(f"report: {', '.join(map(output.named, files))}")
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
