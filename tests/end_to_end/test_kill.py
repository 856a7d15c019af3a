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

PLAN = ["--method", "actune", "--learner", "probe", "--initial", "30", "--batch", "20", "--rounds", "6", "--seed", "3"]
KILLS = 6


def command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "actune", "run", "trec", *PLAN, "--set", "steps=150", "--out", str(folder), "--json"]


def facts(folder: Path) -> dict[str, object]:
    """All that the unbroken and the resumed run must share, down to the bits of arrays and weights."""
    done = subprocess.run([*command(folder), "--quiet"], capture_output=True, text=True, check=True)
    result = json.loads(done.stdout.splitlines()[-1])
    for machine_dependent in ("seconds", "folder"):
        del result[machine_dependent]
    arrays = {file.name: file.read_bytes() for file in sorted((folder / "arrays").iterdir())}
    answers = [(answer.row, answer.kind, answer.label) for answer in answers_of(folder)]
    weights = (folder / "model" / "head.safetensors").read_bytes()
    return {"result": result, "arrays": arrays, "answers": answers, "weights": weights}


def answers_of(folder: Path) -> list[actune.session.database.AnswerRow]:
    if not (folder / "run.toml").exists():
        return []
    session = actune.open_session(folder)
    answers = session.store.database.answers()
    session.store.close()
    return answers


def test_a_killed_run_ends_like_an_unbroken_one(tmp_path):
    whole = facts(tmp_path / "whole")
    start = time.monotonic()
    assert facts(tmp_path / "again") == whole
    usual = time.monotonic() - start  # of the second run: the first may have had to embed the texts
    assert whole["result"]["labels"] == [30, 50, 70, 90, 110, 130]
    moments, broken = random.Random(0), [tmp_path / "broken-0"]
    rounds_at_kill = []
    while len(rounds_at_kill) < KILLS:
        folder = broken[-1]
        process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.3, 0.8) * usual)
        acknowledged = answers_of(folder)
        process.send_signal(signal.SIGKILL)
        if process.wait() == -signal.SIGKILL:
            assert answers_of(folder)[: len(acknowledged)] == acknowledged
            rounds_at_kill.append(actune.open_session(folder).fitted if (folder / "run.toml").exists() else -1)
        else:  # it came to its end between two kills: break another one
            broken.append(tmp_path / f"broken-{len(broken)}")
    assert len(set(rounds_at_kill)) > 1, "every kill met the same round"
    for folder in broken:
        if folder.exists():
            assert facts(folder) == whole, f"{folder.name}, killed in rounds {rounds_at_kill}"
