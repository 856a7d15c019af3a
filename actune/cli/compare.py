"""`actune compare`: does active learning help on this data, by how many labels, and how certain is that."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from actune.cli import bench_options as bench_as
from actune.cli import options as given_as
from actune.cli.console import Output, counted
from actune.cli.options import changes_of, given
from actune.errors import ActuneError


def compare(
    data: given_as.Data,
    methods: Annotated[
        str, typer.Option(help="Which ones, beside random: see `actune methods`.")
    ] = "auto,entropy,badge",
    seeds: Annotated[int, typer.Option(help="Runs of each; an answer needs 3 at least.")] = 5,
    model: given_as.Model = "minilm",
    learner: Annotated[str, typer.Option(help="probe, which takes minutes on a CPU, or finetune.")] = "probe",
    initial: given_as.Initial = None,
    batch: given_as.Batch = None,
    rounds: Annotated[int | None, typer.Option(help="Fits of each run; the data set's own number by default.")] = None,
    settings: given_as.Set = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder of results; by default runs/compare-NAME.")
    ] = None,
    workers: bench_as.Workers = None,
    threads: bench_as.Threads = None,
    device: given_as.Device = "auto",
    data_dir: given_as.DataDir = None,
    text: given_as.Text = None,
    label: given_as.Label = None,
    id: given_as.Id = None,
    dev: given_as.Dev = None,
    test: given_as.Test = None,
    split: Annotated[str | None, typer.Option(help="The column that says train, dev or test.")] = None,
    json: given_as.Json = False,
    quiet: given_as.Quiet = False,
) -> None:
    """Runs methods beside random on labelled data, with simulated answers, and says whether they help.

    The same command goes on where it was stopped; more seeds or methods are added to what is there.

    Example: actune compare tickets.csv --methods auto,entropy --seeds 5
    """
    from actune.bench.own import own_grid, short_name
    from actune.bench.run import prepare
    from actune.bench.verdict import compare as judge
    from actune.cli.failures import Stopped
    from actune.cli.live import watched

    output = Output(json, quiet)
    words = given(initial=initial, batch=batch, rounds=rounds)
    files = {name: str(file.absolute()) for name, file in (("dev", dev), ("test", test)) if file is not None}
    reading = {**given(text=text, label=label, id=id, split=split), **files}
    chosen = [word.strip() for word in methods.split(",") if word.strip()]
    grid = own_grid(data, chosen, seeds, model, learner, {**changes_of(settings), **words}, reading)
    folder = out or Path("runs") / f"compare-{short_name(data)}"
    found, executor = bench_as.local(device, workers, threads)
    work = prepare(grid, folder, found, (), data_dir)
    output.say(f"{counted(len(work.cells), 'run')}, {len(work.done)} of them finished, in {folder}")
    try:
        with closing(work.events(executor, data_dir)) as events:
            watched(output, work, events)
    except KeyboardInterrupt:
        raise Stopped(f"stopped: what was finished is kept in {folder}, and the same command continues") from None
    if work.failed:
        reason = next(iter(work.failed.values()))
        raise ActuneError(f"{counted(len(work.failed), 'run')} of {len(work.cells)} failed: {reason}")
    comparison = judge(work.results)
    output.show(comparison.table.title, comparison.table.columns, comparison.table.rows)
    if not json:
        for sentence in comparison.sentences:
            typer.echo(sentence)
    output.say(f"everything about it: actune bench report {folder}")
    output.give({"folder": str(folder), **comparison.facts()})
