"""Keeps fuzzed commands short: what would train for long, or start processes or a cluster, ends with a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from actune.errors import SettingError

MOST_STEPS = 60


def keep_work_short() -> None:
    """For this process and those that it forks; everything before the first step of training stays as it is."""
    from actune.bench import clusters, local
    from actune.models import adaptation, training

    plan, adapt = training.plan_batches, adaptation.adapt

    def plan_few(rows: Any, objective: Any, recipe: Any, streams: Any) -> Any:
        count = max(1, len(rows.rows))
        _check(max(training.steps_with(count, objective, recipe), training.steps_alone(count, recipe)))
        return plan(rows, objective, recipe, streams)

    def adapt_briefly(folder: Any, texts: Any, steps: int, *more: Any) -> Any:
        _check(steps)
        return adapt(folder, texts, steps, *more)

    training.plan_batches = plan_few
    adaptation.adapt = adapt_briefly
    local.Local.run = _no_cells  # type: ignore[method-assign]
    clusters.connected = _no_cells  # type: ignore[assignment]


def _check(steps: int) -> None:
    if steps > MOST_STEPS:
        raise SettingError(f"a fuzzer does not wait for {steps} steps")


def _no_cells(*_: object, **__: object) -> Iterator[Any]:
    raise SettingError("a fuzzer runs no cells")
