"""`actune bench`: experiments, from a grid of cells to one table; one file per command."""

from __future__ import annotations

import typer

from actune.cli import bench_merge, bench_pages, bench_plan, bench_run, bench_status, bench_tidy

bench = typer.Typer(
    no_args_is_help=True, help="Run grids of experiments (methods, tasks and seeds) on one or more machines."
)
for command in (
    bench_plan.plan,
    bench_run.run,
    bench_status.status,
    bench_merge.merge,
    bench_tidy.tidy,
    bench_pages.figures,
    bench_pages.report,
):
    bench.command()(command)
