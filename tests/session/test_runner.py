"""Annotators that take their time: a run waits for them, saves what they say at once, and never trains on nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import actune
from actune.annotators.oracle import Oracle
from actune.core.dialogue import Answer, Question
from actune.core.task import Task
from actune.session.runner import result

PLAN: dict[str, Any] = {"learner": "probe", "method": "entropy", "initial": 20, "batch": 10, "rounds": 2}
FAST = {"steps": 20, "epochs": 2}


class Slow:
    """Answers from a thread, a few at a time, and at most so many, a moment after it was asked."""

    def __init__(self, oracle: Oracle, part: int = 7, seconds: float = 0.05, most: int = 1000) -> None:
        self.oracle, self.part, self.seconds, self.most = oracle, part, seconds, most
        self.ready: list[Answer] = []
        self.empty = 0  # times that nothing was there
        self.finished = False

    def send(self, questions: Sequence[Question]) -> None:
        self.oracle.send(questions)
        threading.Thread(target=self._answer, args=(self.oracle.collect(),), daemon=True).start()

    def collect(self) -> list[Answer]:
        found, self.ready = self.ready, []
        self.empty += not found
        return found

    def _answer(self, answers: list[Answer]) -> None:
        for start in range(0, len(answers), self.part):
            time.sleep(self.seconds)
            part = answers[start : start + self.part][: self.most]
            self.most -= len(part)
            self.ready = [*self.ready, *part]
        self.finished = self.most <= 0


def simulated(folder: Path, task: Task) -> actune.Session:
    return actune.create(folder, task, simulated=True, changes=FAST, **PLAN)


def of_numbers(session: actune.Session) -> dict[str, Any]:
    return {name: value for name, value in result(session).items() if name not in ("folder", "seconds")}


def test_a_run_waits_for_answers_that_come_in_parts(tmp_path: Path, questions: Task) -> None:
    session, annotator, told = simulated(tmp_path / "slow", questions), Slow(Oracle(questions.pool)), []
    actune.run(session, annotator, told.append, wait=lambda pause: time.sleep(0.01))
    assert [facts.labels for facts in told] == [20, 30] and session.done
    assert annotator.empty > 2  # it did wait
    at_once = simulated(tmp_path / "fast", questions)
    actune.run(at_once, Oracle(questions.pool))
    assert of_numbers(session) == of_numbers(at_once)


def test_pauses_grow_to_a_limit_and_a_timeout_ends_the_waiting(tmp_path: Path, questions: Task) -> None:
    class Silent:
        def send(self, questions: Sequence[Question]) -> None: ...

        def collect(self) -> list[Answer]:
            return []

    session, pauses = simulated(tmp_path / "run", questions), list[float]()

    def wait(seconds: float) -> None:
        pauses.append(seconds)
        time.sleep(0.01)

    with pytest.raises(
        actune.NoAnswer, match=r"no answer arrived within 0\.2 seconds, and 20 of 20 questions are open"
    ):
        actune.run(session, Silent(), timeout=0.2, wait=wait)
    assert pauses[:4] == [0.05, 0.1, 0.2, 0.4] and max(pauses) == 5.0
    assert session.fitted == 0 and issubclass(actune.NoAnswer, TimeoutError)
    actune.run(session, Oracle(questions.pool))
    assert session.done


def test_an_annotator_that_is_finished_ends_the_run(tmp_path: Path, questions: Task) -> None:
    session = simulated(tmp_path / "run", questions)
    actune.run(session, Slow(Oracle(questions.pool), most=25), timeout=20)
    assert [facts.labels for facts in session.rounds()] == [20, 25] and session.done

    session = simulated(tmp_path / "other", questions)
    actune.run(session, Slow(Oracle(questions.pool), most=20), timeout=20)
    assert session.fitted == 1  # nothing new was answered, so nothing was trained a second time
    actune.run(session, Oracle(questions.pool))
    assert session.done


def test_answers_of_others_are_not_waited_for(tmp_path: Path, questions: Task) -> None:
    """Another process tells all answers while the annotator has nothing to say."""

    class Nobody:
        def send(self, questions: Sequence[Question]) -> None:
            self.asked = questions

        def collect(self) -> list[Answer]:
            return []

    session, annotator = simulated(tmp_path / "run", questions), Nobody()
    oracle = Oracle(questions.pool)

    def wait(seconds: float) -> None:
        oracle.send(annotator.asked)
        with actune.open_session(tmp_path / "run") as other:
            other.tell(oracle.collect())

    actune.run(session, annotator, wait=wait)
    assert session.done


def test_ctrl_c_loses_no_answer(tmp_path: Path, questions: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    session = simulated(tmp_path / "run", questions)
    tell, times = session.tell, []

    def interrupted(answers: Any) -> Any:
        times.append(1)
        if len(times) == 1:
            raise KeyboardInterrupt
        return tell(answers)

    monkeypatch.setattr(session, "tell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        actune.run(session, Oracle(questions.pool))
    assert len(session.labels().of_row) == 20 and session.fitted == 0

    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    again = actune.open_session(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        actune.run(again, Slow(Oracle(questions.pool)), wait=stop)  # all are answered: it trains, and then it waits
    assert again.fitted == 1
    actune.run(again, Oracle(questions.pool))
    at_once = simulated(tmp_path / "fast", questions)
    actune.run(at_once, Oracle(questions.pool))
    assert of_numbers(again) == of_numbers(at_once)


def test_a_project_without_a_plan_ends_when_there_is_nothing_to_ask(tmp_path: Path, questions: Task) -> None:
    pool = actune.pool_of(questions.pool.texts[:40], classes=questions.pool.classes)
    session = actune.create(
        tmp_path / "run", pool, learner="probe", method="random", changes=FAST, initial=20, batch=15
    )
    actune.run(session, ByRow(questions))
    assert [facts.labels for facts in session.rounds()] == [20, 35, 40]


class ByRow:
    """Knows the labels of texts by their rows, which are the ids of a pool that has none."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.waiting: list[Question] = []

    def send(self, questions: Sequence[Question]) -> None:
        self.waiting += questions

    def collect(self) -> list[Answer]:
        asked, self.waiting = self.waiting, []
        pool = self.task.pool
        return [Answer(each.id, pool.classes[pool.labels[int(each.id)]]) for each in asked]


@pytest.mark.parametrize(("words", "sentence"), [({"timeout": -1}, "timeout must be"), ({"wait": 3}, "wait must be")])
def test_wrong_patience(tmp_path: Path, questions: Task, words: dict[str, Any], sentence: str) -> None:
    session = simulated(tmp_path / "run", questions)
    with pytest.raises(actune.SettingError, match=sentence):
        actune.run(session, Oracle(questions.pool), **words)
