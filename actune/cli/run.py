"""`actune run`: a simulated run on labelled data, from nothing, from where it stopped, or from its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli.console import Output, running_code
from actune.cli.options import Json, Quiet, run_options
from actune.core.options import Place
from actune.core.run_options import RunOptions
from actune.core.spec import is_code

if TYPE_CHECKING:
    from actune.cli.progress import RoundProgress
    from actune.core.facts import RoundFacts
    from actune.session.session import Session


@run_options(Place.RUN)
def run(
    *,
    options: RunOptions,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The run folder; by default a new folder runs/NNN.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a method on labelled data; the answers are simulated from the labels.

    The same command with the same --out continues a stopped run, prints the result of a finished one, and extends it
    if --rounds is larger.

    Example: actune run trec --method thrifty --learner probe --initial 50 --batch 50 --rounds 6 --out runs/trec
    """
    from actune.cli.curve import show_curve
    from actune.cli.folders import run_folder
    from actune.cli.progress import progress_bars
    from actune.session.resume import open_simulation
    from actune.session.runner import result
    from actune.store.store import FILE

    output = Output(json, quiet)
    with run_folder(out) as folder:
        if not (folder / FILE).exists() and is_code(options.get("weak", "")):
            output.say(running_code(options["weak"]))
        with progress_bars(output) as bars:
            session = open_simulation(folder, bars, **options)
            output.say(f"folder: {folder}", *session.config.resolved.notes)
            fresh = _go_on(output, session, bars)
        facts = result(session)
        show_curve(output, facts)
        _report(output, session, folder / "report.html", fresh)
    output.give(facts)


def _go_on(output: Output, session: Session, bars: RoundProgress) -> bool:
    """Runs what is left of the plan; says whether anything was."""
    from actune.annotators.oracle import Oracle
    from actune.session import runner

    request = session.config.request
    if session.finished:
        output.say("this run is finished; this is its stored result")
        return False
    told: set[str] = set()

    def tell(facts: RoundFacts) -> None:
        bars.rounds(facts.round + 1, request.fits)
        measured = "" if facts.accuracy is None else f", accuracy {facts.accuracy:.4f}"
        took = sum(facts.seconds.values())
        notes = [note for note in facts.notes if note not in told]
        told.update(notes)
        output.say(*notes, f"round {facts.round}: {facts.labels:,} labels{measured}, {took:.1f} s")

    bars.rounds(session.fitted, request.fits)
    runner.run(session, Oracle(session.pool, request.noise, request.seed), tell)
    return True


def _report(output: Output, session: Session, page: Path, fresh: bool) -> None:
    if fresh or not page.exists():
        from actune.report.page import write_report

        write_report([session], page)
    output.say(f"report: {page}")
