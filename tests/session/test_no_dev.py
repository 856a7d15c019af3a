"""A simulated run that leaves the dev set unused, as a project has none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import actune
from actune.annotators.oracle import Oracle
from actune.core.task import Task
from actune.errors import RunFolderError
from actune.session.resume import open_or_create, open_simulation
from actune.session.runner import run

PLAN: dict[str, Any] = {
    "learner": "probe",
    "method": "thrifty",
    "initial": 20,
    "batch": 10,
    "rounds": 2,
    "simulated": True,
    "changes": {"steps": 20, "epochs": 2},
}


def test_it_is_the_run_of_a_task_that_has_no_dev_set(tmp_path: Path, questions: Task) -> None:
    assert questions.dev is not None
    found = []
    for name, task, words in (("told", questions, {"no_dev": True}), ("bare", replace(questions, dev=None), {})):
        session = actune.create(tmp_path / name, task, **PLAN, **words)
        run(session, Oracle(session.pool))
        assert session.config.resolved.dev == 0 and session.task.dev is None and session.prepared.dev is None
        found.append([(facts.accuracy, facts.dev_accuracy, facts.class_counts) for facts in session.rounds()])
        session.close()
    assert found[0] == found[1] and all(dev is None for _, dev, _ in found[0])


def test_it_is_resumed_without_the_dev_set_and_is_not_the_run_with_it(tmp_path: Path) -> None:
    words = {**PLAN, "source": "trec", "rounds": 1}
    session = open_simulation(tmp_path / "run", **words, no_dev=True)
    run(session, Oracle(session.pool))
    session.close()
    again = open_simulation(tmp_path / "run", **words, no_dev=True)
    assert again.task.dev is None and again.rounds()[0].dev_accuracy is None
    again.close()
    assert actune.open_session(tmp_path / "run").task.dev is None
    with pytest.raises(RunFolderError, match="no-dev"):
        open_simulation(tmp_path / "run", **words)


def test_a_task_that_is_given_again_is_known_by_what_the_run_uses(tmp_path: Path, questions: Task) -> None:
    words = {**PLAN, "no_dev": True}
    open_or_create(tmp_path / "run", questions, words).close()  # type: ignore[arg-type]
    open_or_create(tmp_path / "run", questions, words).close()  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["thrifty", "actune"])
def test_the_answers_tell_how_many_pseudo_labels_are_right_where_no_dev_set_does(
    tmp_path: Path, questions: Task, method: str
) -> None:
    words = {**PLAN, "method": method, "rounds": 3, "initial": 40, "changes": {}}
    session = actune.create(tmp_path / "run", questions, **words, no_dev=True)
    run(session, Oracle(session.pool))
    found = [facts.pseudo_labels for facts in session.rounds() if facts.pseudo_labels.count]
    assert found and all(each.estimate is not None and 0 < each.estimate < 1 for each in found)
    gaps = [abs(each.estimate - each.accuracy) for each in found if each.estimate and each.accuracy is not None]
    assert len(gaps) == len(found) and max(gaps) < 0.3  # a student is surer than 0.9
    session.close()


def test_an_estimate_changes_nothing_else_and_is_the_same_in_a_resumed_run(
    tmp_path: Path, questions: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    def curve(folder: Path, stop: bool) -> list[Any]:
        session = actune.create(folder, questions, **PLAN, no_dev=True)
        for _ in range(2):
            truth = {question.id: questions.pool.row_of[question.id] for question in session.ask()}
            session.tell({id: questions.pool.classes[questions.pool.labels[row]] for id, row in truth.items()})
            session.advance()
            if stop:
                session.close()
                session = actune.open_session(folder)
        found = [(facts.accuracy, facts.pseudo_labels) for facts in session.rounds()]
        session.close()
        return found

    unbroken, resumed = curve(tmp_path / "a", stop=False), curve(tmp_path / "b", stop=True)
    assert unbroken == resumed
    monkeypatch.setattr("actune.rounds.pseudo_labels.how_sure", lambda *_: None)
    without = curve(tmp_path / "c", stop=False)
    assert [(accuracy, replace(each, estimate=None)) for accuracy, each in unbroken] == without


def test_a_fine_tuned_model_has_no_estimate_without_a_dev_set(tmp_path: Path, questions: Task) -> None:
    words = {**PLAN, "learner": "finetune", "rounds": 1, "changes": {"epochs": 1, "steps": 2, "max_tokens": 8}}
    session = actune.create(tmp_path / "run", questions, **words, no_dev=True)
    run(session, Oracle(session.pool))
    (facts,) = session.rounds()
    assert facts.pseudo_labels.count and facts.pseudo_labels.estimate is None
    session.close()
