"""`actune bench`: experiments, from a grid of cells to one table; one file per command."""

from __future__ import annotations

import typer

from actune.cli import bench_merge, bench_pages, bench_plan, bench_run, bench_status

bench = typer.Typer(
    no_args_is_help=True, help="Run experiments: grids of methods, tasks and seeds, on one machine or several."
)
for command in (
    bench_plan.plan,
    bench_run.run,
    bench_status.status,
    bench_merge.merge,
    bench_pages.figures,
    bench_pages.report,
):
    bench.command()(command)
