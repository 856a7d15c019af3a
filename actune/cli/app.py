"""The command line: words become one library call each."""

from __future__ import annotations

from typing import Annotated

import typer

from actune import __version__
from actune.cli import (
    add,
    advance,
    ask,
    bench,
    compare,
    doctor,
    export,
    label_model,
    methods,
    predict,
    report,
    run,
    start,
    tell,
)
from actune.cli.failures import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="Example: actune run trec --learner probe --initial 50 --batch 50 --rounds 6",
)
for command in (
    run.run,
    start.start,
    ask.ask,
    tell.tell,
    advance.advance,
    add.add,
    predict.predict,
    export.export,
    report.report,
    compare.compare,
    label_model.label_model,
    methods.methods,
    doctor.doctor,
):
    app.command()(command)
app.add_typer(bench.bench, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Fine-tune text classifiers with few labels: ask about the unsure texts, trust the sure ones."""
