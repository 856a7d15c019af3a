"""No dead ends: classes without an answer, batches that are skipped, rounds without news, and the model in use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import actune
from actune.core.dialogue import Answer
from actune.core.facts import Quality, QuestionRow, RoundFacts, Share
from actune.core.pool import Pool, pool_of
from actune.core.task import Task
from actune.errors import DataError
from actune.methods.recipes import RECIPES
from actune.session.quality import agreement
from actune.session.setup import project_task
from actune.session.status import status
from tests.models.tiny import save_tiny

FAST = {"steps": 8, "epochs": 2, "samples": 3, "teacher_samples": 3, "teacher_rows": 20}
CLASSES = tuple(f"class {number:02d}" for number in range(77))
Session = actune.Session


def bare(questions: Task, classes: tuple[str, ...], rows: int = 120) -> Pool:
    return pool_of(questions.pool.texts[:rows], ids=questions.pool.ids[:rows], classes=classes)


def made(folder: Path, questions: Task, classes: tuple[str, ...] = CLASSES, **options: Any) -> Session:
    words = {"learner": "probe", "initial": 12, "batch": 6, "changes": FAST, "method": "entropy", **options}
    return actune.create(folder, bare(questions, classes), **words)


def skip_all(session: Session) -> list[str]:
    ids = [question.id for question in session.ask()]
    session.tell([Answer(id) for id in ids])
    return ids


def test_the_first_batch_of_many_classes_may_hold_them_all(questions: Task) -> None:
    plans = [project_task(bare(questions, CLASSES[:count])).plan for count in (6, 77, 77)]
    assert [(plan.initial, plan.batch) for plan in plans[:2]] == [(6, 6), (77, 50)]
    many = pool_of([f"text {row}" for row in range(500)], classes=[f"c{number}" for number in range(300)])
    assert project_task(many).plan.initial == 100


@pytest.mark.parametrize("method", sorted(RECIPES))
def test_every_method_works_with_classes_that_have_no_answer(tmp_path: Path, questions: Task, method: str) -> None:
    """Three of nine classes are answered: a model is trained, asks on, and can name any class."""
    options: dict[str, Any] = {"method": method}
    if {"word embeddings", "masked language model"} & {*RECIPES[method].needs}:
        options |= {"model": str(save_tiny(tmp_path / "tiny")), "learner": "finetune", "adapt": 1}
    session = made(tmp_path / "p", questions, CLASSES[:9], **options)
    for _ in range(2):
        asked = session.ask()
        session.tell({question.id: CLASSES[3 * (number % 3)] for number, question in enumerate(asked)})
        facts = session.advance()
        assert facts is not None
    assert facts.class_counts[1] == 0 and facts.class_counts[3] > 0
    assert status(session).without_answers == tuple(CLASSES[number] for number in (1, 2, 4, 5, 7, 8))
    assert len(session.ask()) == 6
    assert len(session.predict(["who is it ?"])[0].probabilities) == 9


@pytest.mark.parametrize("told", ["nothing", "one class"])
def test_after_a_batch_that_trains_nothing_there_is_another(tmp_path: Path, questions: Task, told: str) -> None:
    session = made(tmp_path / "p", questions)
    seen: set[str] = set()
    for _ in range(3):
        asked = [question.id for question in session.ask()]
        assert len(asked) == 12 and not seen & {*asked}
        seen |= {*asked}
        session.tell([Answer(id, None if told == "nothing" else CLASSES[5]) for id in asked])
        assert session.advance() is None
    assert session.fitted == 0 and session.selected == 1
    last = session.ask()
    session.tell({question.id: CLASSES[number] for number, question in enumerate(last)})
    facts = session.advance()
    assert facts is not None and facts.round == 0


def test_more_questions_are_the_same_however_often_it_is_killed(tmp_path: Path, questions: Task) -> None:
    """A process that is killed before the commit leaves nothing; the next one chooses what it would have chosen."""
    chosen = []
    for name in ("a", "b"):
        session = made(tmp_path / name, questions)
        skip_all(session)
        if name == "b":
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(type(session.store), "add_questions", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
                with pytest.raises(KeyboardInterrupt):
                    session.advance()
            session = actune.open_session(tmp_path / name)
            assert session.ask() == []
        session.advance()
        chosen.append([question.id for question in session.ask()])
    assert chosen[0] == chosen[1]


def test_when_no_text_is_left_that_is_said(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions, initial=120)
    skip_all(session)
    with pytest.raises(DataError, match="no answers yet, and no text is left to ask about"):
        session.advance()


def answered(folder: Path, questions: Task, **options: Any) -> Session:
    """A project after its first round."""
    session = made(folder, questions, CLASSES[:3], **options)
    session.tell({question.id: CLASSES[number % 3] for number, question in enumerate(session.ask())})
    session.advance()
    return session


def test_news_are_labels_and_not_skips(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions, CLASSES[:3])
    assert session.has_news()
    session.tell({question.id: CLASSES[number % 3] for number, question in enumerate(session.ask())})
    session.advance()
    assert not session.has_news()
    skip_all(session)
    assert not session.has_news()
    row = next(iter(session.labels().of_row))
    session.tell([Answer(session.pool.ids[row])])  # a label that is taken back changes what is trained on
    assert session.has_news()


def test_more_questions_of_a_model_that_was_skipped(tmp_path: Path, questions: Task) -> None:
    session = answered(tmp_path / "p", questions, method="asst")
    skipped = skip_all(session)
    trusted = session.store.load_arrays("select-001")["pseudo_rows"].tolist()
    assert session.choose_more() == 6 and session.fitted == 1
    asked = session.ask()
    rows = {session.pool.row_of[question.id] for question in asked}
    assert not rows & set(trusted) and not {question.id for question in asked} & {*skipped}
    assert all(question.suggestion in CLASSES for question in asked)
    session.tell({question.id: CLASSES[0] for question in asked})
    facts = session.advance()
    assert facts is not None and (facts.round, facts.labels) == (1, 18)


# the model in use


def finished(session: Session, dev: float | None = None, labels: int = 12) -> None:
    """A final model as `finish` commits it, without the minutes that it takes."""
    store = session.store
    with store.new_model(session.fitted, "final") as (model, folder):
        (folder / "weights").write_text(f"final of {labels}")
    facts = {"round": session.fitted, "labels": labels, "dev_accuracy": dev, "answers_seen": labels}
    store.commit(model=model, facts={"final": facts})
    store.point_to_newest()


def next_round(session: Session, dev: float | None = None) -> None:
    from dataclasses import replace

    store, facts = session.store, session.rounds()[-1]
    with store.new_model(facts.round + 1, "round") as (model, folder):
        (folder / "weights").write_text(f"round {facts.round + 1}")
    later = replace(facts, round=facts.round + 1, metrics=replace(facts.metrics, dev_accuracy=dev))
    store.commit(fitted=later, model=model)
    store.point_to_newest()


@pytest.mark.parametrize(
    ("before", "after", "stays"), [(None, None, True), (0.8, 0.8, True), (0.8, 0.7, True), (0.8, 0.9, False)]
)
def test_a_fine_tuned_model_stays_in_use_until_dev_says_otherwise(
    tmp_path: Path, questions: Task, before: float | None, after: float | None, stays: bool
) -> None:
    session = answered(tmp_path / "p", questions)
    finished(session, before)
    next_round(session, after)
    assert (session.final is not None) is stays and len(session.finals()) == 1
    expected = "final of 12" if stays else "round 1"
    assert (tmp_path / "p" / "model" / "weights").read_text() == expected
    finished(session, 0.1, labels=20)  # another one takes its place, whatever it was before
    assert session.final is not None and session.final.labels == 20
    assert (tmp_path / "p" / "model" / "weights").read_text() == "final of 20"


def test_the_status_knows_which_answers_the_model_knows(tmp_path: Path, questions: Task) -> None:
    session = answered(tmp_path / "p", questions)
    found = status(session)
    assert found.model is not None and (found.model.round, found.model.fine_tuned, found.model.knows) == (0, False, 12)
    assert (found.texts, found.labels, found.questions, found.unlabelled, found.next) == (120, 12, 6, 108, "ask")
    finished(session)
    session.tell({question.id: CLASSES[0] for question in session.ask()[:4]})
    found = status(session)
    assert found.model is not None and (found.model.round, found.model.fine_tuned, found.model.knows) == (0, True, 12)
    assert (found.labels, found.next) == (16, "advance")
    assert json.loads(json.dumps(found.as_json()))["model"]["knows"] == 12


# quality without a test set


def test_shares_have_an_interval() -> None:
    share = Share.of(8, 10)
    assert (share.value, share.count) == (0.8, 10)
    assert (round(share.low, 4), round(share.high, 4)) == (0.4902, 0.9433)  # Wilson 1927, worked out by hand
    assert (Share.of(0, 5).low, Share.of(5, 5).high) == pytest.approx((0, 1), abs=1e-12)


def test_agreement_counts_the_newest_batches() -> None:
    old = [QuestionRow(1, row, 0, 0.5) for row in range(50)]
    new = [QuestionRow(2, row, 1, 0.5) for row in range(50, 160)]
    answers = dict.fromkeys(range(105), 0)
    assert agreement([QuestionRow(0, 1, None, None)], answers) is None
    assert agreement(old[:1], {}) is None
    share = agreement(old + new, answers)
    assert share is not None and (share.count, round(share.value, 3)) == (105, round(50 / 105, 3))
    share = agreement(old + new, dict.fromkeys(range(160), 1))
    assert share is not None and (share.count, share.value) == (110, 1.0)


def test_agreement_counts_a_text_once_with_its_last_suggestion() -> None:
    first, again = QuestionRow(1, 7, 0, 0.5), QuestionRow(2, 7, 1, 0.5)
    share = agreement([first, again], {7: 1})
    assert share is not None and (share.count, share.value) == (1, 1.0)


def test_a_project_without_a_test_set_is_cross_validated(tmp_path: Path, questions: Task) -> None:
    """The first word of a question decides its label, so that the answers can be learnt."""
    firsts = ("what", "how", "other")
    pool = pool_of(questions.pool.texts, ids=questions.pool.ids, classes=firsts)
    changes = {"epochs": 20, "steps": 20}
    session = actune.create(tmp_path / "p", pool, learner="probe", initial=60, batch=10, changes=changes)

    def told() -> None:
        words = {question.id: question.text.split()[0] for question in session.ask()}
        session.tell({id: word if word in firsts else "other" for id, word in words.items()})

    told()
    facts = session.advance()
    assert facts is not None and facts.quality.cross_validation is not None and facts.quality.agreement is None
    found = facts.quality.cross_validation
    assert (found.folds, found.learner, found.accuracy.count) == (5, "probe", 60)
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high and found.accuracy.value > 0.5
    told()
    quality = session.quality()
    assert quality.cross_validation == found and quality.agreement is not None and quality.agreement.count == 10
    stored = session.rounds()[-1]
    assert stored == facts == RoundFacts.from_json(json.loads(json.dumps(facts.as_json())))


def test_the_only_answer_of_a_class_is_not_held_out(tmp_path: Path, questions: Task) -> None:
    """A model that never saw a class cannot predict it, so that such answers would only count as mistakes."""
    texts, rare = questions.pool.texts[:40], tuple(f"rare {number}" for number in range(9))
    pool = pool_of(texts, classes=("common", "usual", *rare))
    labels = [*["common", "usual"] * 6, *rare]
    for count, expected in ((21, (12, 9)), (9, None)):
        told = labels[12 - (count - 9) :] if count > 9 else labels[-11:]
        session = actune.create(tmp_path / str(count), pool, learner="probe", initial=2, batch=2, changes=FAST)
        session.tell({str(row): label for row, label in enumerate(told)})
        facts = session.advance()
        assert facts is not None
        found = facts.quality.cross_validation
        assert (found and (found.accuracy.count, found.left_out)) == expected


def test_cross_validation_changes_nothing_else(
    tmp_path: Path, questions: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = answered(tmp_path / "a", questions, method="badge")
    monkeypatch.setattr("actune.rounds.cross_validating.cross_validate", lambda *_: None)
    other = answered(tmp_path / "b", questions, method="badge")
    assert one.rounds()[0].quality != Quality() == other.rounds()[0].quality
    assert one.ask() == other.ask()
    text = ["who is it ?"]
    assert np.allclose(*(list(s.predict(text)[0].probabilities.values()) for s in (one, other)), atol=0)


def test_a_simulated_run_is_not_cross_validated(tmp_path: Path, questions: Task) -> None:
    plan = {"learner": "probe", "initial": 12, "batch": 6, "rounds": 1, "simulated": True, "changes": FAST}
    session = actune.create(tmp_path / "p", questions, **plan)
    actune.run(session, actune.Oracle(questions.pool))
    assert session.rounds()[0].quality == Quality() == session.quality()
    assert status(session).next == "report"
