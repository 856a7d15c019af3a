"""`actune compare`: whether active learning helps on this data, and how many labels it saves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import bench_options
from actune.cli.console import Output, counted
from actune.cli.options import Json, Quiet, run_options
from actune.core.options import Place
from actune.core.printing import printable
from actune.core.run_options import RunOptions
from actune.errors import ActuneError


@run_options(Place.COMPARE)
def compare(
    *,
    methods: Annotated[
        str, typer.Option(help="The methods to compare with random, separated by commas; see `actune methods`.")
    ] = "thrifty,entropy,badge",
    seeds: Annotated[int, typer.Option(help="The number of runs per method; a verdict needs at least 3.")] = 5,
    learner: Annotated[
        str, typer.Option(help="How models are trained: probe (minutes on a CPU) or finetune.")
    ] = "probe",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The results folder; by default runs/compare-NAME.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The HTML file, or - for standard output; by default compare.html in the results folder.",
        ),
    ] = None,
    workers: bench_options.Workers = None,
    threads: bench_options.Threads = None,
    options: RunOptions,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods with random sampling, to see whether active learning helps.

    The answers are simulated from the labels of the data. The command prints a verdict with a confidence interval and
    writes an HTML page with learning curves, and its tables in LaTeX. The same command continues an interrupted
    comparison; with more seeds or methods, it runs only what is new.

    Example: actune compare tickets.csv --methods thrifty,entropy --seeds 5
    """
    from actune.bench.compared_page import FILE, write_comparison
    from actune.bench.own import check_test_set, command_of, own_grid, short_name
    from actune.bench.run import prepare
    from actune.bench.verdict import compare_with_random
    from actune.cli.live import watched
    from actune.core.outputs import named_output

    output = Output(json, quiet, to)
    chosen = [word.strip() for word in methods.split(",") if word.strip()]
    grid = own_grid(options, chosen, seeds, learner)
    folder = out or Path("runs") / f"compare-{short_name(options['source'])}"
    page = folder / FILE if to is None else named_output(to)
    found, executor = bench_options.local(options["device"], workers, threads)
    place = options["reading"].get("data_dir")
    data_dir = None if place is None else Path(place)
    check_test_set(grid, data_dir)
    work = prepare(grid, folder, found, (), data_dir)
    output.say(f"{counted(len(work.cells), 'run')} in {folder}, {len(work.done)} already finished")
    watched(output, work, work.events(executor, data_dir))
    if work.failed:
        reason = next(iter(work.failed.values()))
        raise ActuneError(
            f"{len(work.failed):,} of {counted(len(work.cells), 'run')} failed, the first because: {reason}"
        )
    comparison = compare_with_random(work.results)
    output.show(comparison.table.title, comparison.table.columns, comparison.table.rows)
    if not json:
        for sentence in (*comparison.sentences, comparison.p_of):
            typer.echo(printable(sentence), err=not output.is_free)
    command = command_of(options, chosen, seeds, learner, folder)
    files = write_comparison(work.results, comparison, page, command)
    output.say(f"page: {', '.join(map(output.named, files))}")
    output.give({"folder": str(folder), "files": [str(file) for file in files], **comparison.facts()})
