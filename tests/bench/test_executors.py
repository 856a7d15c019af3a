"""How broken cells are tried again, and how estimates come about."""

from __future__ import annotations

import multiprocessing as mp
import signal
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest

from actune.bench.cells import plan
from actune.bench.clusters import Board
from actune.bench.estimates import Estimates
from actune.bench.executors import Waiting
from actune.bench.grid import parse_grid
from actune.bench.local import Local
from actune.bench.run import device_of
from actune.bench.store import Results
from actune.bench.work import CellStep, Job
from actune.errors import ModelError
from actune.models.learners import find_learner
from tests.bench.conftest import Small, device


def test_a_cell_whose_process_dies_is_tried_three_times(grid_of: Callable[..., str]):
    first, second, *_ = plan(parse_grid(grid_of()), device())
    waiting = Waiting(deque([second]))
    assert [waiting.again(first, "killed").kind for _ in range(2)] == ["retried", "retried"]
    assert list(waiting.cells) == [first, first, second]
    event = waiting.again(first, "killed")
    assert (event.kind, event.reason) == ("failed", "killed, 3 times")
    assert waiting.again(second, "killed").kind == "retried"


def test_a_worker_stays_with_the_data_it_knows_and_workers_do_not_wait_for_each_other(grid_of: Callable[..., str]):
    cells = plan(parse_grid(grid_of()), device())
    groups = [cell.group for cell in cells]
    assert groups == [groups[0]] * 2 + [groups[2]] * 2
    waiting = Waiting(deque(cells))
    assert waiting.next("", ()) == cells[0]
    assert waiting.next("", {groups[0]}) == cells[2]  # not the group that somebody else is at
    assert waiting.next(groups[2], {groups[0]}) == cells[3]
    assert waiting.next(groups[2], {groups[0]}) == cells[1] and not waiting.cells


def test_finished_cells_tell_how_long_others_take(small: Small, grid_of: Callable[..., str]):
    cells = plan(parse_grid(grid_of(seeds=(0, 1, 2))), device())
    results = Results(small.folder)
    known = Estimates(cells, results)
    spent = small.table[(small.table.method == "asst")].filter(like="seconds_").sum().sum()
    asst = next(cell for cell in cells if cell.point.method == "asst" and cell.point.seed == 2)
    assert known.seconds(asst) == pytest.approx(spent / 2) and "from the finished cells" in known.basis
    unknown, (step, text) = Estimates(cells, None), find_learner("probe").price_on("cpu")
    assert asst.reads == 4 * (300 + 100)
    assert unknown.seconds(asst) == asst.steps * step + asst.reads * text and "on other machines" in unknown.basis


def test_a_device_that_is_not_there_is_one_sentence():
    with pytest.raises(ModelError, match="this machine has no CUDA device: use --device cpu"):
        device_of("cuda")
    with pytest.raises(ModelError, match="--device must be auto, cpu or cuda, not 'tpu'"):
        device_of("tpu")
    assert device_of("cuda", 3, here=False).precision == "bfloat16"
    assert device_of("auto").kind == "cpu" and device_of("auto").threads == 1


def test_a_board_tells_each_step_once():
    board = Board()
    board.note("a", CellStep(0, "train", 1, 2))
    board.note("a", CellStep(0, "train", 2, 2))
    assert board.steps() == {"a": CellStep(0, "train", 2, 2)}
    assert board.steps() == {}


def test_a_process_without_a_cell_leaves_by_itself_and_one_at_work_is_killed(
    grid_of: Callable[..., str], tmp_path: Path
):
    cell = plan(parse_grid(grid_of(["random"], [0], rounds=1)), device())[0]
    for stop, code in (("finished", 0), ("started", -signal.SIGKILL)):
        others = set(mp.active_children())
        events = Local(1).run([cell], Job(tmp_path / stop))
        said = next(event.kind for event in events if event.kind in (stop, "failed"))
        (process,) = set(mp.active_children()) - others
        events.close()  # type: ignore[attr-defined]
        assert (said, process.exitcode) == (stop, code)
