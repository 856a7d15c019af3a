"""`actune bench status`: how far a grid is."""

from __future__ import annotations

from actune.cli import bench_options, options
from actune.cli.console import Output

STATES = ("cells", "finished", "begun", "failed", "missing")
SHOWN = {"begun": "started"}


def status(folder: bench_options.ResultsFolder, json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Count the finished, started, failed and missing cells of the whole grid.

    Example: actune bench status results/smoke
    """
    from actune.bench.store import Results

    output, results = Output(json, quiet), Results(folder)
    finished, failed = set(results.finished()), results.failed
    rows: dict[tuple[str, ...], dict[str, int]] = {}
    for key, point in [*results.cells.items(), *((None, point) for point in results.unplanned())]:
        begun = "begun" if key and results.rounds(key) else "missing"
        state = "finished" if key in finished else "failed" if key in failed else begun
        place = (point.task, point.method, point.model, point.learner, point.variant)
        row = rows.setdefault(place, dict.fromkeys(STATES, 0))
        row["cells"] += 1
        row[state] += 1
    columns = ["task", "method", "model", "learner", "variant", *(SHOWN.get(state, state) for state in STATES)]
    output.show(str(folder), columns, [[*place, *row.values()] for place, row in rows.items()])
    sums = {state: sum(row[state] for row in rows.values()) for state in STATES}
    progress = results.progress()
    reasons = {results.cells[key].name: reason for key, reason in failed.items()}
    output.say(*(f"{name} failed: {reason}" for name, reason in reasons.items()))
    output.say(progress.sentence)
    output.give({"folder": str(folder), **sums, "complete": progress.complete, "reasons": reasons})
