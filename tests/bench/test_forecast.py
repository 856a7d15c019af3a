"""How long a grid will take: embedding is counted where it is to be done, and processes side by side are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import pytest

from actune.bench import sharing
from actune.bench.cells import plan
from actune.bench.estimates import Estimates
from actune.bench.forecast import START, Forecast, forecast
from actune.bench.grid import parse_grid
from actune.bench.store import Results
from tests.bench.conftest import Small, device, make


def planned(text: str, results: Results | None = None, workers: int = 1) -> Forecast:
    cells = plan(parse_grid(text), device())
    finished = set(results.finished()) if results else set()
    left = [cell for cell in cells if cell.key not in finished]
    return forecast(left, Estimates(cells, results), workers)


def test_embedding_is_counted_until_it_is_done(
    grid_of: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sharing, "_prepared", OrderedDict())  # another test of this process may have read the texts
    text = grid_of(["random"], [0])
    before = planned(text)
    assert before.to_embed == 460 and before.embedding > 0 and before.basis == "measured on this machine"
    assert not (tmp_path / "cache").exists()  # measuring has kept nothing
    make(text, tmp_path / "results")
    after = planned(text)
    assert after.to_embed == after.embedding == 0
    assert before.seconds > before.embedding + max(before.cells.values())


def test_cells_run_side_by_side_and_finished_ones_cost_nothing(small: Small, grid_of: Callable[..., str]) -> None:
    results = Results(small.folder)
    nothing = planned(small.text, results)
    assert nothing.seconds == 0 and nothing.cells == {}
    more = grid_of(seeds=[0, 1, 2, 3])
    alone, together = planned(more, results), planned(more, results, workers=4)
    assert alone.basis == "estimated from the finished cells" and len(alone.cells) == 4
    assert START < together.seconds < alone.seconds
    assert alone.seconds == pytest.approx(START + sum(alone.cells.values()))
    assert together.seconds == pytest.approx(START + max(alone.cells.values()), abs=sum(alone.cells.values()) / 4)


def test_another_machine_is_not_measured(grid_of: Callable[..., str]) -> None:
    cells = plan(parse_grid(grid_of(["random"], [0])), device())
    found = forecast(cells, Estimates(cells, None), 1, here=False)
    assert found.basis.startswith("estimated from step and reading times on other machines") and found.seconds > START
