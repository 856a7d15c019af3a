"""What is asked before there is a model: of very many texts, a sample of them is chosen from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import actune
from actune.core.pool import pool_of
from actune.core.task import Task
from actune.errors import SettingError
from actune.rounds import first
from actune.rounds.first import first_rows, sample_of


def test_few_rows_are_all_taken() -> None:
    rows = np.arange(0, 300, 3)
    assert sample_of(rows, seed=0) is rows


def test_of_very_many_rows_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first, "MOST_ROWS", 50)
    rows = np.arange(0, 3000, 3)
    one, same, other = (sample_of(rows, seed).tolist() for seed in (0, 0, 1))
    assert one == same == sorted(set(one)) and len(one) == 50 and set(one) <= set(rows.tolist())
    assert one != other


@pytest.mark.parametrize("how", ["representatives", "typiclust"])
def test_the_first_questions_come_from_the_sample(
    tmp_path: Path, questions: Task, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    bare = pool_of(questions.pool.texts, ids=questions.pool.ids, classes=questions.pool.classes)

    def asked(folder: str) -> tuple[list[int], str]:
        plan: dict[str, Any] = {"learner": "probe", "initial": 5, "first": how}
        session = actune.create(tmp_path / folder, bare, **plan)
        rows, said = first_rows(session.config.request, session.pool, session.labels(), lambda: session.prepared)
        assert rows == [session.pool.row_of[question.id] for question in session.ask()]
        return rows, said

    rows, said = asked("all")
    assert said == first.FIRST[how]
    monkeypatch.setattr(first, "MOST_ROWS", 40)
    few, said = asked("sample")
    assert said == f"{first.FIRST[how]}, among 40 drawn at random"
    assert len(set(few)) == 5 and set(few) <= set(sample_of(np.arange(len(bare)), 0).tolist()) and few != rows
    assert asked("again") == (few, said)


@pytest.mark.parametrize("count", [12, 13, 290])
def test_a_balanced_start_has_the_same_number_of_every_class(tmp_path: Path, questions: Task, count: int) -> None:
    words: dict[str, Any] = {"learner": "probe", "initial": count, "simulated": True, "batch": 1, "rounds": 1}

    def start(seed: int) -> list[int]:
        session = actune.create(tmp_path / f"{seed} {count}", questions, first="balanced", seed=seed, **words)
        return [session.pool.row_of[question.id] for question in session.ask()]

    rows = start(0)
    sizes = np.bincount(questions.pool.labels)
    counts = np.bincount(np.asarray(questions.pool.labels)[rows], minlength=len(sizes))
    assert len(set(rows)) == count == counts.sum()
    most = counts.max()
    assert all(number >= most - 1 or number == size for number, size in zip(counts, sizes, strict=True))
    assert first.balanced_rows(questions.pool, count, 0) == rows != first.balanced_rows(questions.pool, count, 1)


def test_people_cannot_begin_with_a_balanced_start(tmp_path: Path, questions: Task) -> None:
    bare = pool_of(questions.pool.texts, classes=questions.pool.classes)
    with pytest.raises(SettingError, match="balanced is for simulations with known labels"):
        actune.create(tmp_path / "p", bare, learner="probe", first="balanced")
