"""Real runs are killed, at random moments and before every change of a file; resumed they end like unbroken ones."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import actune
import actune.store.records
from tests.end_to_end.processes import fitted, started

ROOT = Path(__file__).parents[2]
PLAN = ["--learner", "probe", "--initial", "30", "--batch", "20", "--rounds", "6", "--seed", "3"]
FINETUNED = "actune --learner finetune --rounds 3 --sample 300 --set epochs=1 --set steps=8"
KILLS = {"actune": 4, "random": 1, "ust": 1, "badge": 1, "actune --weak": 1, FINETUNED: 1}


def words(method: str) -> list[object]:
    shorter = [*("--set", "steps=150"), *("--set", "teacher_samples=5"), *("--set", "most_steps=600")]
    name, *more = method.split()
    return ["run", "trec", "--method", name, *PLAN, *shorter, *more, "--json", "--quiet"]


def facts(method: str, folder: Path) -> dict[str, object]:
    """All that the unbroken and the resumed run must share, down to the bits of arrays and weights."""
    command = [sys.executable, "-m", "actune", *map(str, words(method)), "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout.splitlines()[-1])
    for machine_dependent in ("seconds", "folder"):
        del result[machine_dependent]
    arrays = {file.name: file.read_bytes() for file in sorted((folder / "arrays").iterdir())}
    answers = [(answer.row, answer.kind, answer.label) for answer in answers_of(folder)]
    weights = [file.read_bytes() for file in (folder / "model").glob("*.safetensors")]
    assert weights
    return {"result": result, "arrays": arrays, "answers": answers, "weights": weights}


def answers_of(folder: Path) -> list[actune.store.records.AnswerRow]:
    if not (folder / "run.toml").exists():
        return []
    session = actune.open_session(folder)
    answers = session.store.answers()
    session.store.close()
    return answers


@pytest.mark.parametrize("method", KILLS)
def test_a_killed_run_ends_like_an_unbroken_one(tmp_path, method):
    whole = facts(method, tmp_path / "whole")
    labels = whole["result"]["labels"]
    weak = method.endswith("--weak")
    assert labels == ([0, 20, 40, 60, 80, 100, 120] if weak else [30, 50, 70, 90, 110, 130][: len(labels)])
    assert len(labels) == (3 if method == FINETUNED else 6 + weak)
    moments, broken = random.Random(0), [tmp_path / "broken-0"]
    rounds_at_kill = []
    while len(rounds_at_kill) < KILLS[method]:
        folder = broken[-1]
        process = started(words(method), folder, moments.randint(max(0, fitted(folder)), len(labels) - 1))
        time.sleep(moments.uniform(0, 0.2))  # about a round
        acknowledged = answers_of(folder)
        process.send_signal(signal.SIGKILL)
        killed = process.wait() == -signal.SIGKILL
        assert answers_of(folder)[: len(acknowledged)] == acknowledged
        session = actune.open_session(folder) if (folder / "run.toml").exists() else None
        if killed:
            rounds_at_kill.append(session.fitted if session else -1)
        if session and session.done:  # break another one
            broken.append(tmp_path / f"broken-{len(broken)}")
    assert KILLS[method] < 4 or len(set(rounds_at_kill)) > 1, "every kill met the same round"
    for folder in broken:
        if folder.exists():
            assert facts(method, folder) == whole, f"{folder.name}, killed in rounds {rounds_at_kill}"


@pytest.mark.parametrize(("part", "parts", "database"), [(0, 4, "sqlite"), (1, 4, "sqlite"), (0, 40, "postgres")])
def test_a_project_killed_before_a_change_of_a_file_goes_on(tmp_path, part, parts, database):
    """Start, tell, add, advance, finish, export, predict and merge: two quarters of all changes of files.

    The other two follow with `python -m tests.end_to_end.killing FOLDER PART 4`, and with PostgreSQL a few of them.
    """
    words = [str(tmp_path), str(part), str(parts), database]
    command = [sys.executable, "-m", "tests.end_to_end.killing", *words]
    alone = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "ACTUNE_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ | alone)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["changes"] > 250 and found["kills"] >= found["changes"] // parts
