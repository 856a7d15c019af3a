"""A fine-tuning at the end that is killed goes on where it was, and ends with the same bits as an unbroken one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import actune
from actune.core.pool import pool_of
from actune.core.settings import own_settings
from actune.core.task import Task
from actune.models import checkpoints
from actune.session.session import Session
from tests.models.tiny import WORDS, save_tiny

TEXTS = [f"{a} {b} the {c} ?" for a in WORDS[:5] for b in WORDS[5:9] for c in WORDS[9:11]]  # 40
CLASSES = ("x", "y")


def label_of(text: str) -> str:
    return CLASSES[text.startswith(("who", "what"))]


def made(folder: Path, model: Path, method: str, dev: bool) -> Session:
    """A project with its first answers, ready to be fine-tuned."""
    pool = pool_of(TEXTS, classes=CLASSES)
    held_out = pool_of(TEXTS[::3], [*map(label_of, TEXTS[::3])], classes=CLASSES) if dev else None
    task = Task("project", pool, held_out, None, own_settings(len(pool), 2))
    changes = {"steps": 4, "epochs": 1, "teacher_samples": 2, "teacher_rows": 16}
    options: dict[str, Any] = {"method": method, "model": str(model), "device": "cpu", "changes": changes}
    session = actune.create(folder, task, initial=8, batch=4, round_seconds=0.0, **options)
    short = replace(session.config.final_training, steps=12, epochs=6, most_steps=12, dev_every=3)
    session.reconfigure(replace(session.config, final_training=short))
    session.tell({question.id: label_of(question.text) for question in session.ask()})
    return session


def interrupt() -> None:
    raise KeyboardInterrupt


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def finish(
    folder: Path, kill_at: tuple[str, int] | None = None, end: Callable[[], None] = interrupt
) -> list[tuple[str, int]]:
    """Fine-tunes at the end with a checkpoint at every step; gives the steps that were taken, or ends at one."""
    checkpoints.EVERY = checkpoints.WORTH = 0.0
    taken: list[tuple[str, int]] = []

    def watch(stage: str, done: int, total: int) -> None:
        if stage.startswith("train"):
            taken.append((stage, done))
            if (stage, done) == kill_at:
                end()

    with actune.open_session(folder, watch) as session:
        session.finish()
    return taken


def weights(folder: Path) -> bytes:
    return (folder / "model" / "model.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("method", "dev", "kill_at"),
    [
        ("random", False, ("train", 4)),
        ("random", True, ("train", 4)),  # the best step on dev was before the kill
        ("cosine", False, ("train 2/2", 8)),  # its student teaches itself
        ("ust", False, ("train 2/2", 7)),
    ],
)
def test_a_killed_fine_tuning_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, dev: bool, kill_at: tuple[str, int]
) -> None:
    for name in ("EVERY", "WORTH"):
        monkeypatch.setattr(checkpoints, name, getattr(checkpoints, name))  # for `finish`, which changes them
    made(tmp_path / "whole", save_tiny(tmp_path / "tiny"), method, dev).close()
    broken = Path(shutil.copytree(tmp_path / "whole", tmp_path / "broken"))
    whole = finish(tmp_path / "whole")
    if method == "ust":
        command = [sys.executable, "-m", "tests.session.test_checkpoints", str(broken), json.dumps(kill_at)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
        assert done.returncode == -signal.SIGKILL, done.stderr
    else:
        with pytest.raises(KeyboardInterrupt):  # what a kill leaves behind, without another process
            finish(broken, kill_at)
    assert list((broken / "checkpoints").iterdir())
    taken = finish(broken)
    assert taken == whole[whole.index(kill_at) :]  # killed before the checkpoint of its last step
    assert weights(broken) == weights(tmp_path / "whole")
    assert not (broken / "checkpoints").exists()


def test_other_answers_begin_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "p", save_tiny(tmp_path / "tiny"), "random", dev=False).close()
    for name in ("EVERY", "WORTH"):
        monkeypatch.setattr(checkpoints, name, 0.0)

    def stop(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("train", 5):
            raise KeyboardInterrupt

    with actune.open_session(tmp_path / "p", stop) as session, pytest.raises(KeyboardInterrupt):
        session.finish()
    with actune.open_session(tmp_path / "p") as session:
        row = next(iter(session.labels().of_row))
        session.tell({session.pool.ids[row]: CLASSES[1 - session.labels().of_row[row]]})
    taken = finish(tmp_path / "p")
    assert taken[0] == ("train", 1)


def test_short_fits_keep_nothing(tmp_path: Path) -> None:
    session = made(tmp_path / "p", save_tiny(tmp_path / "tiny"), "random", dev=False)
    seen = []
    session.progress = lambda *_: seen.append((tmp_path / "p" / "checkpoints").exists())
    session.finish()
    assert seen and not any(seen)


if __name__ == "__main__":
    finish(Path(sys.argv[1]), tuple(json.loads(sys.argv[2])), kill)
