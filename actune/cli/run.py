"""`actune run`: a simulated run on labelled data, from nothing, from where it stopped, or from its end."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from actune.cli import options as given_as
from actune.cli.console import Output
from actune.cli.options import changes_of, given

if TYPE_CHECKING:
    from actune.cli.progress import Bars
    from actune.core.task import Task
    from actune.session.request import Words
    from actune.session.session import Session


def run(
    data: given_as.Data,
    method: given_as.Method = "auto",
    model: given_as.Model = "minilm",
    learner: given_as.Learner = "auto",
    initial: given_as.Initial = None,
    batch: given_as.Batch = None,
    rounds: Annotated[int | None, typer.Option(help="Fine-tunings; the data set's own number by default.")] = None,
    seed: given_as.Seed = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The run's folder; by default a new runs/NNN.")
    ] = None,
    settings: given_as.Set = None,
    preset: given_as.Preset = "paper",
    device: given_as.Device = "auto",
    noise: Annotated[float, typer.Option(help="The share of answers that are wrong.")] = 0.0,
    first: given_as.First = None,
    adapt: given_as.Adapt = 0,
    train_layers: given_as.TrainLayers = None,
    cache_limit: given_as.CacheLimit = None,
    weak: given_as.Weak = False,
    votes: given_as.VotesFile = None,
    label_model: given_as.LabelModel = "em",
    keep_weak: given_as.KeepWeak = False,
    start_from: given_as.StartFrom = None,
    round_seconds: given_as.RoundSeconds = 60.0,
    data_dir: given_as.DataDir = None,
    text: given_as.Text = None,
    label: given_as.Label = None,
    id: given_as.Id = None,
    dev: given_as.Dev = None,
    test: given_as.Test = None,
    split: Annotated[str | None, typer.Option(help="The column that says train, dev or test.")] = None,
    hold_out_dev: Annotated[float | None, typer.Option(help="Rows, or a share of them, held out as dev.")] = None,
    hold_out_test: Annotated[float | None, typer.Option(help="Rows, or a share of them, held out as test.")] = None,
    sample: Annotated[int | None, typer.Option(help="At most so many texts of the pool, drawn by the seed.")] = None,
    json: given_as.Json = False,
    quiet: given_as.Quiet = False,
) -> None:
    """Runs a method on labelled data, with simulated answers.

    With the same --out, a stopped run goes on, a finished one prints its result, and more --rounds extend it.

    Example: actune run trec --method auto --learner probe --initial 50 --batch 50 --rounds 6 --out runs/trec
    """
    from actune.data.splits import labelled_only
    from actune.session.setup import task_of

    reading = given(
        text=text,
        label=label,
        id=id,
        split=split,
        hold_out_dev=hold_out_dev,
        hold_out_test=hold_out_test,
        sample=sample,
        dev=dev,
        test=test,
        data_dir=None if data_dir is None else data_dir.absolute(),  # the run may be opened from another folder
    )
    task = labelled_only(task_of(data, reading, seed, preset))
    words: Words = {
        "source": str(Path(data).absolute()) if task.bundled and Path(data).is_dir() else data,
        "method": method,
        "model": model,
        "learner": learner,
        "device": device,
        "preset": preset,
        "initial": initial,
        "batch": batch,
        "rounds": rounds,
        "seed": seed,
        "simulated": True,
        "noise": noise,
        **given_as.opening(first, adapt, weak, votes, label_model, keep_weak, start_from),
        "changes": changes_of(settings, train_layers=train_layers, cache_limit=cache_limit),
        "reading": reading,
    }
    _run(Output(json, quiet), task, out, words, round_seconds)


def _run(output: Output, task: Task, out: Path | None, words: Words, round_seconds: float) -> None:
    from actune.cli.curve import show_curve
    from actune.cli.failures import Stopped
    from actune.cli.folders import numbered_folder
    from actune.cli.progress import progress_bars
    from actune.session.resume import open_or_create
    from actune.session.runner import result
    from actune.store.store import FILE

    place: AbstractContextManager[Path] = nullcontext(out) if out else numbered_folder(Path("runs"))
    with place as folder:
        try:
            with progress_bars(output) as bars:
                session = open_or_create(folder, task, words, round_seconds, bars)
                output.say(f"folder: {folder}", *session.config.resolved.notes)
                fresh = _go_on(output, session, bars)
            facts = result(session)
            show_curve(output, facts)
            _report(output, session, folder / "report.html", fresh)
        except KeyboardInterrupt:
            if not (folder / FILE).exists():
                raise Stopped("stopped before anything was finished: the same command starts again") from None
            again = "the same command" if out else f"the same command with --out {folder}"
            raise Stopped(f"stopped: what was finished is kept in {folder}, and {again} continues") from None
    output.give(facts)


def _go_on(output: Output, session: Session, bars: Bars) -> bool:
    """Runs what is left of the plan; says whether anything was."""
    from actune.annotators.oracle import Oracle
    from actune.session import runner

    request = session.config.request
    if session.done and (session.final or not session.config.resolved.final):
        output.say("this run is finished: its stored result follows")
        return False
    told: set[str] = set()

    def tell(facts: dict[str, Any]) -> None:
        bars.rounds(facts["round"] + 1, request.fits)
        measured = "" if facts["accuracy"] is None else f", accuracy {facts['accuracy']:.4f}"
        took = sum(facts["seconds"].values())
        notes = [note for note in session.machine.learner.notes if note not in told]
        told.update(notes)
        output.say(*notes, f"round {facts['round']}: {facts['labels']:,} labels{measured}, {took:.1f} s")

    bars.rounds(session.fitted, request.fits)
    runner.run(session, Oracle(session.pool, request.noise, request.seed), tell)
    return True


def _report(output: Output, session: Session, page: Path, fresh: bool) -> None:
    if fresh or not page.exists():
        from actune.report.page import write_report

        write_report([session], page)
    output.say(f"report: {page}")
