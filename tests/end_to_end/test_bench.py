"""Drivers, workers and Ray nodes of `actune bench run` are killed; the table is that of an undisturbed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from actune.bench.clusters import scratch
from actune.bench.store import Results
from actune.core.task import Task
from tests.bench.conftest import Small, grid_text, lasting, make_small, write_questions
from tests.end_to_end.processes import fitted

ROOT = Path(__file__).parents[2]
SECONDS = 180  # for anything that must happen


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, questions: Task) -> Small:
    """Cells that take a few seconds each."""
    data = write_questions(tmp_path_factory.mktemp("questions"), questions)
    return make_small(tmp_path_factory.mktemp("small"), grid_text(data, steps=500, seeds=[0]))


@contextmanager
def started(small: Small, out: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """The command in a process group of its own, which is ended with the test."""
    command = [sys.executable, "-m", "actune", "bench", "run", str(small.file), "--out", str(out), *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True)
    try:
        yield process
    finally:
        for child in [*children(process.pid), process.pid]:
            if alive(child):
                os.kill(child, signal.SIGKILL)
        process.communicate()


def wait_for(what: Callable[[], object]) -> None:
    limit = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < limit, "it did not happen"
        time.sleep(0.02)


def begun(folder: Path) -> list[int]:
    """How far the cells are that have at least one round and not all."""
    found = [fitted(cell) for cell in folder.glob("cells/*") if (cell / "run.toml").exists()]
    return [rounds for rounds in found if 0 < rounds < 4]


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def workers(pid: int) -> list[int]:
    """The processes that run cells; beside them is one that keeps their semaphores."""
    return [child for child in children(pid) if b"spawn_main" in command_of(child)]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def alive(pid: int) -> bool:
    return bool(command_of(pid))  # a zombie has none


def ends_like_the_undisturbed(small: Small, process: subprocess.Popen[str], out: Path) -> str:
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, said
    pd.testing.assert_frame_equal(lasting(Results(out).table()), lasting(small.table))
    pd.testing.assert_frame_equal(pd.read_csv(out / "results.csv").accuracy.to_frame(), small.table[["accuracy"]])
    assert not (out / "shared").exists()
    return said


def test_a_killed_worker_is_replaced_and_a_killed_driver_leaves_nobody_behind(small: Small, tmp_path: Path) -> None:
    out = tmp_path / "results"
    with started(small, out, "--workers", "2") as process:
        wait_for(lambda: begun(out))
        crew = workers(process.pid)
        assert len(crew) == 2
        os.kill(process.pid, signal.SIGKILL)
        wait_for(lambda: not any(map(alive, crew)))
    assert len(Results(out).finished()) < 2
    with started(small, out, "--workers", "1") as process:
        wait_for(lambda: workers(process.pid) and begun(out))
        os.kill(workers(process.pid)[0], signal.SIGKILL)
        said = ends_like_the_undisturbed(small, process, out)
    assert "retried: its process was killed by SIGKILL" in said


def test_ctrl_c_and_too_little_time_stop_cleanly(small: Small, tmp_path: Path) -> None:
    out = tmp_path / "results"
    with started(small, out, "--workers", "2") as process:
        wait_for(lambda: begun(out))
        crew = workers(process.pid)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, said = process.communicate(timeout=SECONDS)
        assert process.returncode == 130 and not any(map(alive, crew))
    (sentence,) = [line for line in said.splitlines() if line.startswith("actune: ")]
    assert sentence == f"actune: stopped; finished work is saved in {out}, and the same command continues"
    assert "Traceback" not in said
    with started(small, out, "--workers", "2", "--seconds", "0.001") as process:  # no time for any cell
        _, said = process.communicate(timeout=SECONDS)
        assert process.returncode == 0 and "left: run the same command to continue" in said


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without room for cells and two nodes with room for one each."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        yield cluster
    finally:
        cluster.shutdown()


def running(out: Path) -> list[int]:
    """How far cells are on the nodes, whose folders are all on this machine."""
    if not (out / "bench.toml").is_file():
        return []
    folder = scratch(Results(out).facts["id"])
    return [fitted(cell) for cell in folder.glob("cells/*") if (cell / "run.toml").exists()]


def test_a_node_that_dies_takes_no_cell_with_it(small: Small, cluster: Any, tmp_path: Path) -> None:
    out = tmp_path / "results"
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    with started(small, out, "--executor", "ray", "--address", cluster.address) as process:
        wait_for(lambda: len([rounds for rounds in running(out) if rounds > 0]) == 2)
        cluster.remove_node(nodes[1], allow_graceful=False)
        said = ends_like_the_undisturbed(small, process, out)
    assert "retried: " in said
    assert not scratch(Results(out).facts["id"]).exists()


def test_ray_on_this_machine_gives_the_same_table(small: Small, tmp_path: Path) -> None:
    out = tmp_path / "results"
    with started(small, out, "--executor", "ray", "--workers", "2") as process:
        ends_like_the_undisturbed(small, process, out)
