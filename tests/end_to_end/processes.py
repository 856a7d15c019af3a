"""Runs as processes of their own, and how far they are."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from actune.store.store import Store


def fitted(folder: Path) -> int:
    """Rounds that are on the disk; -1 before there is a run."""
    if not (folder / "run.toml").exists():
        return -1
    with Store.reading(folder) as store:
        return store.round_count()


def started(words: list[object], folder: Path, rounds: int) -> subprocess.Popen[bytes]:
    """A process that runs `actune` with these words, as soon as this many rounds are on the disk, or it has ended."""
    command = [sys.executable, "-m", "actune", *map(str, words), "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while fitted(folder) < rounds and process.poll() is None:
        time.sleep(0.01)
    return process
