"""What long work says about itself."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

import actune
from actune.cli.progress import Bars, Lines, stage_name
from actune.core.progress import part, parts_of, silent
from actune.core.task import Task


def test_a_stage_tells_which_of_several_fits_it_is() -> None:
    told: list[str] = []
    part(lambda stage, done, total: told.append(stage), 2, 3)("train", 1, 9)
    assert told == ["train 2/3"] and parts_of("train 2/3") == ("train", 2, 3)
    assert part(silent, 1, 1) is silent and parts_of("lower layers, 0.52 GB") == ("lower layers, 0.52 GB", 1, 1)
    assert stage_name("train 2/3") == "training steps, fit 2 of 3" and stage_name("embed") == "embedding texts"


def test_lines_come_seldom_and_tell_the_time_of_all_fits() -> None:
    now, said = [0.0], []
    lines = Lines(said.append, lambda: now[0])
    for fit in (1, 2, 3):
        for step in range(1, 21):
            lines(f"train {fit}/3", step, 20)
            now[0] += 1.0
        lines("read", 5, 5)
    assert said[0] == "training steps, fit 1 of 3: 11 of 20, about 49 s left"
    assert said[1:3] == ["reading texts: 5 of 5", "training steps, fit 2 of 3: 11 of 20, about 29 s left"]
    assert len(said) == 6  # in a minute
    lines.rounds(1, 6)
    now[0] += 600
    lines("embed", 1, 4)
    assert said[-1] == "round 2 of 6, embedding texts: 1 of 4"


def test_short_work_says_nothing() -> None:
    said: list[str] = []
    lines = Lines(said.append)
    for step in range(50):
        lines("train", step, 50)
    assert said == []


def test_a_bar_counts_the_steps_of_all_fits() -> None:
    with Progress(console=Console(file=io.StringIO())) as drawing:
        bars = Bars(drawing)
        bars("train 1/3", 10, 10)
        bars("read", 4, 4)
        bars("train 2/3", 5, 10)
        task = drawing.tasks[1]
        assert (task.completed, task.total, task.description) == (15, 30, "training steps, fit 2 of 3")


@pytest.mark.parametrize(("method", "fits"), [("random", ["train"]), ("ust", ["train 1/2", "train 2/2"])])
def test_a_round_numbers_its_fits(tmp_path: Path, questions: Task, method: str, fits: list[str]) -> None:
    told: list[str] = []
    changes = {"steps": 4, "epochs": 1, "teacher_samples": 2}
    plan = {"learner": "probe", "initial": 12, "batch": 6, "rounds": 1, "simulated": True, "changes": changes}
    session = actune.create(
        tmp_path / "run", questions, method=method, progress=lambda stage, done, total: told.append(stage), **plan
    )
    actune.run(session, actune.Oracle(questions.pool))
    assert [stage for stage in dict.fromkeys(told) if stage.startswith("train")] == fits
