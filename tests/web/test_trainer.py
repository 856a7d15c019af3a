"""What the server asks of the trainer, and what becomes of it where the trainer or the disk fails."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from actune.core.dialogue import Answer
from actune.core.pool import pool_of
from actune.errors import StorageError
from actune.session.labelling import create_labelling
from actune.web.desk import Desk
from actune.web.trainer import Trainer

# does nothing at all for a job, and writes down that it was asked; half a line is what a killed process leaves
STUB = """
import json, sys
for line in sys.stdin:
    job = json.loads(line)["job"]
    open(sys.argv[1], "a").write(job + " ")
    if job == "finish":
        print('{"ended": "fini', end="", flush=True)
        sys.exit(9)
    print(json.dumps({"ended": job, "error": None}), flush=True)
"""


@pytest.fixture
def trainer(tmp_path: Path):
    script = tmp_path / "stub.py"
    script.write_text(STUB)
    found = Trainer(tmp_path, tmp_path / "trainer.log")
    found._command = [sys.executable, str(script), str(tmp_path / "jobs")]
    yield found
    found.close()


@pytest.fixture
def desk(trainer: Trainer, tmp_path: Path):
    texts = pool_of([f"text number {row}" for row in range(40)], classes=("a", "b"))
    with create_labelling(tmp_path / "project", texts, initial=10, batch=10, audit=0) as session:
        found = Desk("id", session, trainer)
        trainer.after = found.after_answers
        yield found


def jobs(tmp_path: Path) -> list[str]:
    """The jobs that were done, once no more of them come."""
    time.sleep(1.0)
    return (tmp_path / "jobs").read_text().split() if (tmp_path / "jobs").exists() else []


def tell(desk: Desk, rows: range, label: str | None) -> None:
    for row in rows:
        desk.session.tell([Answer(str(row), label)])
        desk.after_answers()


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_round_that_cannot_be_is_not_tried_again_and_again(desk, tmp_path):
    tell(desk, range(12), "a")
    assert jobs(tmp_path) == ["advance"]
    tell(desk, range(12, 13), "b")
    assert jobs(tmp_path) == ["advance"] * 2
    tell(desk, range(13, 20), "b")
    assert jobs(tmp_path) == ["advance"] * 3  # another batch is answered


def test_nothing_is_done_at_the_end_of_the_pool_until_somebody_says_something(desk, tmp_path):
    for kind in (None, "a"):
        rows = range(40)
        desk.session.tell([Answer(str(row), kind) for row in rows])
        desk.after_answers()
        done = jobs(tmp_path)
        desk.after_answers()
        assert jobs(tmp_path) == done and 1 <= len(done) <= 3


def test_what_comes_while_a_round_is_made_is_looked_at_when_it_has_ended(desk, trainer, tmp_path):
    trainer._job = "advance"
    tell(desk, range(30), "a")
    trainer._take({"ended": "advance", "error": None})
    assert jobs(tmp_path) == ["advance"]


def test_a_database_that_is_away_when_a_job_ends_does_not_end_the_trainer(trainer, tmp_path):
    def fail() -> None:
        raise StorageError("the server of the database has gone away")

    trainer.after = fail
    for number in (1, 2):
        trainer.ask_for("advance")
        wait_until(lambda: trainer.state()["state"] == "idle")
        assert jobs(tmp_path) == ["advance"] * number


def test_a_trainer_that_is_killed_in_the_middle_of_a_word_is_started_again(trainer, tmp_path):
    trainer.ask_for("finish")
    wait_until(lambda: trainer.state()["state"] == "failed")
    trainer.ask_for("advance")
    wait_until(lambda: trainer.state()["state"] == "idle")
    assert jobs(tmp_path) == ["finish", "advance"]


def test_a_trainer_that_cannot_be_started_is_told_about_and_tried_again(trainer, tmp_path):
    log = tmp_path / "trainer.log"
    log.mkdir()  # as where the disk is full
    trainer.ask_for("advance")
    assert trainer.state()["state"] == "failed" and trainer.state()["error"]
    log.rmdir()
    trainer.ask_for("advance")
    wait_until(lambda: trainer.state()["state"] == "idle")
    assert jobs(tmp_path) == ["advance"]


def test_who_asks_for_more_waits_seldom_where_much_is_answered_and_never_where_all_is(desk, monkeypatch):
    from actune.web.routes import labelling

    drawn: list[int] = []
    monkeypatch.setattr(desk.session, "draw", lambda n: drawn.append(n) or n)
    labelling.more(desk, 3)
    monkeypatch.setattr(labelling, "MANY", 5)
    desk.session.tell([Answer(str(row), "a") for row in range(6)])
    labelling.more(desk, 3)
    desk.session.tell([Answer(str(row), None) for row in range(6, 40)])
    assert labelling.more(desk, 3) == 0
    assert drawn == [3, labelling.AT_ONCE]
