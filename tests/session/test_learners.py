"""A learner from outside: a whole run on it, reopened, continued from, and refused where it is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import actune
from actune.core.task import Task
from actune.errors import MissingSignal, ModelError, SettingError
from actune.models.learners import LEARNERS
from tests.models.centroids import CENTROIDS

PLAN = {"learner": "centroids", "initial": 20, "batch": 10, "rounds": 3, "simulated": True, "source": "questions"}
TEXTS = ["who was the first man on the moon ?", "how many miles is it to the moon ?"]


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEARNERS, CENTROIDS.name, CENTROIDS)


def run_in(folder: Path, questions: Task) -> actune.Session:
    session = actune.create(folder, questions, method="actune", **PLAN)
    actune.run(session, actune.Oracle(questions.pool))
    return session


def test_a_whole_run_and_what_it_says_when_it_is_opened_again(questions: Task, tmp_path: Path) -> None:
    session = run_in(tmp_path / "run", questions)
    assert session.done and session.fitted == 3
    assert session.config.resolved.learner == "centroids" and not session.config.resolved.final
    test = questions.test
    assert test is not None
    said = [prediction.label for prediction in session.predict(test.texts)]
    right = sum(one == test.classes[label] for one, label in zip(said, test.labels, strict=True))
    assert right > 30  # of 100, where chance is near a sixth
    again = actune.open_session(tmp_path / "run")
    assert again.predict(TEXTS) == session.predict(TEXTS)


def test_a_signal_that_it_does_not_give_is_refused(questions: Task, tmp_path: Path) -> None:
    for method, word in (("bald", "needs dropout"), ("revival", "needs word embeddings")):
        with pytest.raises(MissingSignal, match=word):
            actune.create(tmp_path / method, questions, method=method, **PLAN)


def test_where_it_is_not_installed_that_is_said(
    questions: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_in(tmp_path / "run", questions)
    monkeypatch.delitem(LEARNERS, "centroids")
    sentence = r"unknown learner 'centroids': .* must be installed with that package"
    with pytest.raises(SettingError, match=sentence):
        actune.create(tmp_path / "other", questions, **PLAN)
    with pytest.raises(ModelError, match="by a learner that is not installed here"):
        actune.open_session(tmp_path / "run").predict(TEXTS)
