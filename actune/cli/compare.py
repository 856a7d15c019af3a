"""`actune compare`: whether active learning helps on this data, and how many labels it saves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import bench_options
from actune.cli.console import Output, counted
from actune.cli.options import Json, Quiet, run_options
from actune.core.options import Place
from actune.core.run_options import RunOptions
from actune.errors import ActuneError


@run_options(Place.COMPARE)
def compare(
    *,
    methods: Annotated[
        str, typer.Option(help="The methods to compare with random, separated by commas; see `actune methods`.")
    ] = "auto,entropy,badge",
    seeds: Annotated[int, typer.Option(help="How many runs each method gets; an answer needs at least 3.")] = 5,
    learner: Annotated[
        str, typer.Option(help="How a model learns: probe, which takes minutes on a CPU, or finetune.")
    ] = "probe",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder of results; by default runs/compare-NAME.")
    ] = None,
    workers: bench_options.Workers = None,
    threads: bench_options.Threads = None,
    options: RunOptions,
    json: Json = False,
    quiet: Quiet = False,
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
    chosen = [word.strip() for word in methods.split(",") if word.strip()]
    grid = own_grid(options, chosen, seeds, learner)
    folder = out or Path("runs") / f"compare-{short_name(options['source'])}"
    found, executor = bench_options.local(options["device"], workers, threads)
    place = options["reading"].get("data_dir")
    data_dir = None if place is None else Path(place)
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
