"""`actune compare`: does active learning help on this data, by how many labels, and how certain is that."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from actune.cli import bench_options as bench_as
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
    workers: bench_as.Workers = None,
    threads: bench_as.Threads = None,
    options: RunOptions,
    json: Json = False,
    quiet: Quiet = False,
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
    chosen = [word.strip() for word in methods.split(",") if word.strip()]
    grid = own_grid(options, chosen, seeds, learner)
    folder = out or Path("runs") / f"compare-{short_name(options['source'])}"
    found, executor = bench_as.local(options["device"], workers, threads)
    place = options["reading"].get("data_dir")
    data_dir = None if place is None else Path(place)
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
