"""A real `actune run` is killed with SIGKILL at random moments; the resumed run ends like an unbroken one."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import actune

PLAN = ["--method", "actune", "--learner", "probe", "--initial", "30", "--batch", "20", "--rounds", "5", "--seed", "3"]
KILLS = 5


def command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "actune", "run", "trec", *PLAN, "--set", "steps=150", "--out", str(folder), "--json"]


def facts(folder: Path) -> dict[str, object]:
    """All that the unbroken and the resumed run must share, down to the bits of the arrays."""
    done = subprocess.run([*command(folder), "--quiet"], capture_output=True, text=True, check=True)
    result = json.loads(done.stdout.splitlines()[-1])
    for machine_dependent in ("seconds", "folder"):
        del result[machine_dependent]
    arrays = {file.name: file.read_bytes() for file in sorted((folder / "arrays").iterdir())}
    answers = [(answer.row, answer.kind, answer.label) for answer in actune.open_session(folder).store.database.answers()]
    weights = (folder / "model" / "head.safetensors").read_bytes()
    return {"result": result, "arrays": arrays, "answers": answers, "weights": weights}


def test_a_killed_run_ends_like_an_unbroken_one(tmp_path):
    whole = facts(tmp_path / "whole")
    assert whole["result"]["labels"] == [30, 50, 70, 90, 110]
    start = time.monotonic()
    subprocess.run(command(tmp_path / "timed"), capture_output=True, check=True)
    usual = time.monotonic() - start
    moments, killed = random.Random(0), 0
    while killed < KILLS:
        process = subprocess.Popen(command(tmp_path / "broken"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.2, 0.8) * usual)
        acknowledged = answers_of(tmp_path / "broken")
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        assert answers_of(tmp_path / "broken")[: len(acknowledged)] == acknowledged
        if process.returncode == 0:
            break
    assert killed >= 3
    assert facts(tmp_path / "broken") == whole


def answers_of(folder: Path) -> list[object]:
    if not (folder / "run.toml").exists():
        return []
    session = actune.open_session(folder)
    answers = list(session.store.database.answers())
    session.store.close()
    return answers
