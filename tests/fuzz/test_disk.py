"""A short budget of injected disk errors and of random kills; the long ones are run as scripts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def run(module: str, *words: object, **more: str) -> dict[str, Any]:
    alone = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", **more}
    command = [sys.executable, "-m", f"tests.fuzz.{module}", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ | alone)
    assert done.returncode == 0, done.stdout + done.stderr
    facts = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(facts, dict)
    return facts


def test_disk_errors(tmp_path: Path) -> None:
    found = run("disk_errors", tmp_path, 0, 1, 12)
    assert found["injections"] == 12 and found["refused"] >= 6 and found["calls"] > 200


def test_random_kills(tmp_path: Path) -> None:
    found = run("random_kills", tmp_path, 10)
    assert found["kills"] >= 10 and found["equal"] >= 3
