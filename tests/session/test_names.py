"""Runs that begin with class names: a first model without answers, and none where names say nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import actune
from actune.annotators.oracle import Oracle
from actune.core.task import Task
from actune.errors import SettingError
from actune.session.opening import NO_NAMES
from actune.session.runner import run

PLAN: dict[str, Any] = {
    "method": "entropy",
    "learner": "probe",
    "batch": 20,
    "initial": 20,
    "rounds": 2,
    "simulated": True,
    "changes": {"steps": 60, "epochs": 10, "most_steps": 200},
}


def accuracies(folder: Path, task: Task, **words: Any) -> list[float | None]:
    with actune.create(folder, task, **(PLAN | words)) as session:
        run(session, Oracle(session.pool))
        return [facts.accuracy for facts in session.rounds()]


def test_names_are_entry_0_and_count_afterwards(questions: Task, tmp_path: Path) -> None:
    with actune.create(tmp_path / "run", questions, **PLAN, names="own") as session:
        assert session.ask() == [] and session.weak is not None
        assert session.weak.votes.sources == ("class names",)
        run(session, Oracle(session.pool))
        assert [facts.labels for facts in session.rounds()] == [0, 20, 40]
        first = session.rounds()[0].accuracy
    assert first is not None and first > 0.25  # of six classes
    assert accuracies(tmp_path / "other", questions, names="own", keep_weak=True)[0] == first


def test_a_resumed_run_equals_an_unbroken_one(questions: Task, tmp_path: Path) -> None:
    whole = accuracies(tmp_path / "whole", questions, names="own")
    with actune.create(tmp_path / "broken", questions, **PLAN, names="own") as session:
        session.advance()
    while True:
        with actune.open_session(tmp_path / "broken") as session:
            if session.done:
                break
            session.tell(answers(session))
            session.advance()
    with actune.open_session(tmp_path / "broken") as session:
        assert [facts.accuracy for facts in session.rounds()] == whole


def answers(session: Any) -> dict[str, str]:
    pool = session.pool
    return {q.id: pool.classes[pool.labels[pool.row_of[q.id]]] for q in session.ask()}


def test_names_that_say_nothing_change_nothing(questions: Task, tmp_path: Path) -> None:
    numbered = replace(questions, pool=replace(questions.pool, classes=tuple("012345")))
    numbered = replace(numbered, dev=None, test=replace(questions.test, classes=tuple("012345")))
    plain = accuracies(tmp_path / "plain", numbered)
    assert accuracies(tmp_path / "named", numbered, names="own") == plain
    with actune.open_session(tmp_path / "named") as session:
        assert NO_NAMES in session.config.resolved.notes and session.weak is None


def test_descriptions_of_unknown_classes(questions: Task, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="there is no class 'persons' to describe"):
        actune.create(tmp_path / "run", questions, **PLAN, names="persons: who")
    with pytest.raises(SettingError, match="--names cannot be combined"):
        actune.create(tmp_path / "run", questions, **PLAN, names="own", start_from=str(tmp_path))


def test_an_older_run_keeps_forgetting_its_weak_labels(questions: Task, tmp_path: Path) -> None:
    with actune.create(tmp_path / "run", questions, **PLAN, names="own") as session:
        assert session.weighs_weak
        session.store.set_fact("weak_weight", "")  # as an earlier version left it
        assert not session.weighs_weak and session.weak_of_row(1) == {}
