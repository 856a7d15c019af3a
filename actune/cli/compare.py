"""`actune compare`: whether active learning helps on this data, and how many labels it saves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import bench_options, options
from actune.cli.console import Output, counted
from actune.errors import ActuneError


def compare(
    data: options.Data,
    methods: Annotated[
        str, typer.Option(help="The methods to compare with random, separated by commas; `actune methods` lists them.")
    ] = "auto,entropy,badge",
    seeds: Annotated[
        int, typer.Option(help="How many runs of each method, with different seeds; a verdict needs at least 3.")
    ] = 5,
    model: options.Model = "minilm",
    learner: Annotated[str, typer.Option(help="probe (minutes on a CPU) or finetune.")] = "probe",
    initial: options.Initial = None,
    batch: options.Batch = None,
    rounds: Annotated[
        int | None, typer.Option(help="The number of rounds of each run; by default the data set's own.")
    ] = None,
    settings: options.Set = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The results folder; by default runs/compare-NAME.")
    ] = None,
    workers: bench_options.Workers = None,
    threads: bench_options.Threads = None,
    device: options.Device = "auto",
    data_dir: options.DataDir = None,
    text: options.Text = None,
    label: options.Label = None,
    id: options.Id = None,
    dev: options.Dev = None,
    test: options.Test = None,
    split: Annotated[str | None, typer.Option(help="The column that assigns each row to train, dev or test.")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compares methods with random sampling on labelled data and says whether active learning helps.

    Answers are simulated from the labels. An interrupted comparison continues with the same command, and further
    seeds or methods are added to the existing results.

    Example: actune compare tickets.csv --methods auto,entropy --seeds 5
    """
    from actune.bench.own import own_grid, short_name
    from actune.bench.run import prepare
    from actune.bench.verdict import compare_with_random
    from actune.cli.live import watched

    output = Output(json, quiet)
    words = options.given(initial=initial, batch=batch, rounds=rounds)
    files = {name: str(file.absolute()) for name, file in (("dev", dev), ("test", test)) if file is not None}
    reading = {**options.given(text=text, label=label, id=id, split=split), **files}
    chosen = [word.strip() for word in methods.split(",") if word.strip()]
    grid = own_grid(data, chosen, seeds, model, learner, {**options.changes_of(settings), **words}, reading)
    folder = out or Path("runs") / f"compare-{short_name(data)}"
    found, executor = bench_options.local(device, workers, threads)
    work = prepare(grid, folder, found, (), data_dir)
    output.say(f"{counted(len(work.cells), 'run')} in {folder}, {len(work.done)} already finished")
    watched(output, work, work.events(executor, data_dir))
    if work.failed:
        reason = next(iter(work.failed.values()))
        raise ActuneError(f"{counted(len(work.failed), 'run')} of {len(work.cells)} failed: {reason}")
    comparison = compare_with_random(work.results)
    output.show(comparison.table.title, comparison.table.columns, comparison.table.rows)
    if not json:
        for sentence in comparison.sentences:
            typer.echo(sentence)
    output.say(f"details: actune bench report {folder}")
    output.give({"folder": str(folder), **comparison.facts()})
