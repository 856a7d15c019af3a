"""With `distinct` a batch has one of several near-duplicates; without it nothing is looked for and nothing changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import actune
from actune.core.pool import Pool, pool_of
from actune.core.task import Task
from actune.data import duplicates
from actune.data.duplicates import near_duplicates
from actune.errors import SettingError
from actune.rounds.distinct import next_rows, one_of_each
from actune.session.session import Session

PLAN: dict[str, Any] = {"learner": "probe", "changes": {"steps": "30", "epochs": "3"}, "initial": 12, "batch": 8}


@pytest.fixture
def repeated(questions: Task) -> Pool:
    """Sixty questions, each three times with other signs."""
    texts = [f"{text} {sign}" for sign in ("", "!", "???") for text in questions.pool.texts[:60]]
    return pool_of(texts, [questions.pool.classes[label] for label in questions.pool.labels[:60]] * 3)


def groups_asked(session: Session) -> Counter[int]:
    """How many questions of the open batch are of each group."""
    group_of = near_duplicates(session.pool.texts, 0.8)
    return Counter(int(group_of[session.pool.row_of[question.id]]) for question in session.ask())


def answer_all(session: Session, pool: Pool) -> None:
    session.tell({one.id: pool.classes[pool.labels[pool.row_of[one.id]]] for one in session.ask()})


@pytest.mark.parametrize("first", ["random", "representatives"])
@pytest.mark.parametrize("method", ["actune", "badge"])
def test_every_batch_of_a_project(tmp_path: Path, repeated: Pool, first: str, method: str) -> None:
    bare = pool_of(repeated.texts, classes=repeated.classes)
    with actune.create(tmp_path / "p", bare, first=first, method=method, distinct=0.8, **PLAN) as session:
        assert max(groups_asked(session).values()) == 1 and len(session.ask()) == 12
        answer_all(session, repeated)
        session.advance()
        assert max(groups_asked(session).values()) == 1 and len(session.ask()) == 8
        session.tell([actune.Answer(one.id) for one in session.ask()])
        assert session.choose_more() == 8 and max(groups_asked(session).values()) == 1


def test_without_it_a_batch_repeats_itself(tmp_path: Path, repeated: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*words: object) -> None:
        raise AssertionError("near-duplicates are looked for")

    bare = pool_of(repeated.texts, classes=repeated.classes)
    with actune.create(tmp_path / "p", bare, first="random", method="entropy", **PLAN) as session:
        monkeypatch.setattr(duplicates, "near_duplicates", never)
        answer_all(session, repeated)
        session.advance()
        monkeypatch.undo()
        assert max(groups_asked(session).values()) > 1


def test_a_simulated_run(tmp_path: Path, repeated: Pool, questions: Task) -> None:
    task = actune.task_of(repeated, test=questions.test)
    plan = {**PLAN, "rounds": 3, "simulated": True, "method": "entropy", "distinct": 0.8}
    with actune.create(tmp_path / "run", task, **plan) as session:
        actune.run(session, actune.Oracle(task.pool))
        group_of = near_duplicates(task.pool.texts, 0.8)
        for round in range(3):
            rows = [question.row for question in session.store.questions(round)]
            assert len({group_of[row] for row in rows}) == len(rows) == (12 if round == 0 else 8)


def test_one_group_is_one_question(tmp_path: Path) -> None:
    pool = pool_of(["the same text", "The same text!", "the SAME text ..."], classes=("a", "b"))
    with actune.create(tmp_path / "p", pool, first="random", distinct=0.8, learner="probe") as session:
        assert [question.id for question in session.ask()] == ["0"]


def test_the_first_of_each_group_in_their_order() -> None:
    group_of = np.array([0, 0, 2, 0, 4, 2])
    assert one_of_each(np.array([1, 3, 4, 5]), group_of).tolist() == [1, 4, 5]
    assert one_of_each(np.array([], np.int64), group_of).tolist() == []


@pytest.mark.parametrize("distinct", [-0.1, 1.5])
def test_what_is_no_similarity(tmp_path: Path, repeated: Pool, distinct: float) -> None:
    with pytest.raises(SettingError, match="--distinct must be a similarity from 0 to 1"):
        actune.create(tmp_path / "p", repeated, distinct=distinct)


@pytest.mark.parametrize("seed", range(20))
def test_rows_taken_one_by_one_are_those_taken_at_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    group_of = np.minimum(np.arange(60), rng.integers(0, 60, 60))
    order, gone = rng.permutation(60), set(rng.choice(60, rng.integers(0, 60), replace=False).tolist())
    left = np.asarray([row for row in order.tolist() if row not in gone], np.int64)
    for count in (1, 5, 60):
        assert next_rows(order.tolist(), count, gone) == left[:count].tolist()
        wanted = one_of_each(left, group_of, gone)[:count] if len(left) else left
        assert next_rows(order.tolist(), count, gone, group_of) == wanted.tolist()
