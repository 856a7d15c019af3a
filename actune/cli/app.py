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
    label,
    label_model,
    methods,
    predict,
    repair,
    report,
    run,
    start,
    status,
    tell,
    user,
    verify,
)
from actune.cli.failures import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Start with `actune start FILE --labels a,b --out DIR`, or with `actune run trec --learner probe`.",
)
PANELS = {
    "Label texts": (
        label.label,
        start.start,
        ask.ask,
        tell.tell,
        advance.advance,
        status.status,
        add.add,
        predict.predict,
        export.export,
        label_model.label_model,
    ),
    "Run on labelled data": (run.run,),
    "Inspect": (report.report, verify.verify, repair.repair, methods.methods, doctor.doctor),
    "Experiments": (compare.compare,),
}
for panel, commands in PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.add_typer(user.user, name="user", rich_help_panel="Label texts")
app.add_typer(bench.bench, name="bench", rich_help_panel="Experiments")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Train text classifiers with few labels: actune asks you about texts that it is unsure of, and learns from
    its own predictions on others (self-training).
    """
