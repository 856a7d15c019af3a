"""The simulated annotator: it knows the labels, is wrong as often as it is told, and forgets the order of questions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from actune.annotators.oracle import Oracle
from actune.core.dialogue import Answer, Question
from actune.core.pool import Pool, pool_of
from actune.testing import check_annotator


@pytest.fixture
def pool() -> Pool:
    return pool_of([f"text {row}" for row in range(2_000)], ["a", "b", "c", "a"] * 500)


def ask(pool: Pool, rows: list[int], **options: float) -> list[Answer]:
    oracle = Oracle(pool, **options)
    oracle.send([Question(pool.ids[row], pool.texts[row], 0) for row in rows])
    return oracle.collect()


def test_it_keeps_the_contract_of_annotators(pool: Pool) -> None:
    check_annotator(Oracle(pool), [Question(pool.ids[row], pool.texts[row], 0) for row in (3, 1)], pool.classes)


def test_the_contract_of_annotators_is_told_where_it_is_broken() -> None:
    class Talkative(list[Answer]):
        def send(self, questions: Sequence[Question]) -> None:
            self.extend(Answer(question.id, "a") for question in questions)

        def collect(self) -> list[Answer]:
            return list(self)

    with pytest.raises(AssertionError, match="that it had given before"):
        check_annotator(Talkative(), [Question("1", "text", 0)], ["a", "b"])


def test_it_says_what_it_knows(pool: Pool) -> None:
    assert ask(pool, [2, 0]) == [Answer("2", "c", by="oracle"), Answer("0", "a", by="oracle")]


def test_it_answers_once_and_never_waits(pool: Pool) -> None:
    oracle = Oracle(pool)
    assert oracle.collect() == []
    oracle.send([Question("1", "text 1", 0)])
    oracle.send([Question("3", "text 3", 0)])
    assert [answer.id for answer in oracle.collect()] == ["1", "3"]
    assert oracle.collect() == []


def test_what_it_does_not_know_it_skips() -> None:
    assert ask(pool_of(["one", "two"], ["a", None], classes=["a", "b"]), [1]) == [Answer("1", by="oracle")]


def test_noise_is_a_share_by_text_and_not_by_order(pool: Pool) -> None:
    rows = list(range(len(pool)))
    there = {answer.id: answer.label for answer in ask(pool, rows, noise=0.3, seed=1)}
    back = {answer.id: answer.label for answer in ask(pool, rows[::-1], noise=0.3, seed=1)}
    assert there == back
    wrong = [there[str(row)] != pool.classes[pool.labels[row]] for row in rows]
    assert 0.27 < sum(wrong) / len(wrong) < 0.33
    assert there != {answer.id: answer.label for answer in ask(pool, rows, noise=0.3, seed=2)}
