"""Near-duplicates in a project for the page: asked once, one answer for all with consent, and none beside the audit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import actune
from actune.annotators.files import read_answers
from actune.core.dialogue import Answer
from actune.core.pool import Pool, pool_of
from actune.core.task import Task
from actune.data import duplicates
from actune.data.export import write_table
from actune.errors import DataError
from actune.rounds import cross_validating
from actune.session.labelled import COLUMNS, human_rows, labelled_records
from actune.session.labelling import create_labelling
from actune.session.verifying import problems_in

FAST = {"steps": 8, "epochs": 2, "regions": 4, "regions_used": 2}
PLAN: dict[str, Any] = {"initial": 8, "batch": 8, "changes": FAST, "method": "actune", "audit": 0}
ENDS = ("", "!", "???")
Session = actune.Session


def repeated(questions: Task, rows: int = 60) -> Pool:
    """Questions, each three times with other signs."""
    texts = [f"{text} {sign}" for sign in ENDS for text in questions.pool.texts[:rows]]
    return pool_of(texts, classes=questions.pool.classes)


def made(folder: Path, questions: Task, **options: Any) -> Session:
    return create_labelling(folder, repeated(questions), **PLAN | options)


def truth(questions: Task, id: str) -> str:
    return questions.pool.classes[questions.pool.labels[int(id) % 60]]


def answer_all(session: Session, questions: Task) -> list[int]:
    asked = session.ask()
    session.tell([Answer(each.id, truth(questions, each.id), by="ann") for each in asked])
    return [int(each.id) for each in asked]


def free_id(session: Session) -> str:
    """An open question that near-duplicates could share the answer of."""
    return next(each.id for each in session.ask() if session.open_near_duplicates([each.id])[each.id])


def test_a_text_of_a_group_is_asked_once_while_others_are_left(tmp_path: Path, questions: Task) -> None:
    with made(tmp_path / "p", questions) as session:
        asked = answer_all(session, questions)
        session.draw()
        asked += answer_all(session, questions)
        session.diversify()
        asked += answer_all(session, questions)
        for _ in range(2):
            session.advance()
            asked += answer_all(session, questions)
            session.draw_unsure(5)
            asked += answer_all(session, questions)
        assert max(Counter(row % 60 for row in asked).values()) == 1 and len(asked) > 40
        while len(asked) < 60:
            session.choose_more()
            asked += answer_all(session, questions)
        assert session.choose_more() == 8 and session.draw() == 0  # all groups have an answer now


def test_without_it_near_duplicates_are_asked_again(tmp_path: Path, questions: Task) -> None:
    with made(tmp_path / "p", questions, distinct=0) as session:
        rows = answer_all(session, questions)
        session.draw(80)
        rows += answer_all(session, questions)
        assert max(Counter(row % 60 for row in rows).values()) > 1
        assert session.near_duplicates().state == "off" and session.group_of is None


def test_one_answer_for_a_group_and_back(tmp_path: Path, questions: Task) -> None:
    with made(tmp_path / "p", questions) as session:
        id = free_id(session)
        beside = [str((int(id) + shift) % 180) for shift in (60, 120)]
        with pytest.raises(DataError, match="does not stand on the text"):
            session.apply_to_near_duplicates(id, "human", "ann")
        session.tell([Answer(id, "human", by="ann")])
        assert session.open_near_duplicates([id]) == {id: 2}
        before = len(session.store.answers())
        assert sorted(session.apply_to_near_duplicates(id, "human", "ann", "c1")) == sorted(beside)
        assert sorted(session.apply_to_near_duplicates(id, "human", "ann", "c1")) == sorted(
            beside
        )  # a repeated request
        log = session.store.answers()[before:]
        assert [(each.kind, each.by, each.applied) for each in log] == [("label", "ann", int(id))] * 2
        assert [row.applied for row in session.history("ann")] == [True, True, False]
        assert session.open_near_duplicates([id]) == {id: 0}
        (group,) = [each for each in session.near_duplicates(limit=100).groups if each.labels]
        assert (group.size, group.labels, group.open) == (3, {"human": 3}, 0)
        assert [each.applied for each in group.members].count(True) == 2

        session.tell([Answer(beside[0], "human", by="bea")])  # who has read it
        assert sorted(session.take_back_applied(id, "ann", "c2")) == [beside[1]]
        assert session.take_back_applied(id, "ann", "c2") == []
        assert session.standing(beside[0]).by == "bea" and session.standing(beside[1]) is None
    assert problems_in(tmp_path / "p") == []


def test_nothing_that_was_said_is_written_over(tmp_path: Path, questions: Task) -> None:
    with made(tmp_path / "p", questions) as session:
        id = free_id(session)
        said, skipped = (str((int(id) + shift) % 180) for shift in (60, 120))
        session.tell([Answer(id, "human"), Answer(said, "location"), Answer(skipped)])
        assert session.apply_to_near_duplicates(id, "human") == []
        # also where the other answer comes between the look at the group and the writing
        session._open_beside = lambda row: [int(said), int(skipped)]  # type: ignore[method-assign]
        session.apply_to_near_duplicates(id, "human", client="late")
        assert session.standing(said).label == "location" and session.standing(skipped).kind == "skip"
        assert [group.labels for group in session.near_duplicates("differ").groups] == [{"human": 1, "location": 1}]
    assert problems_in(tmp_path / "p") == []


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".xlsx"])
def test_exports_tell_what_was_applied_and_come_back(tmp_path: Path, questions: Task, suffix: str) -> None:
    with made(tmp_path / "p", questions) as session:
        id = free_id(session)
        session.tell([Answer(id, "human", by="ann")])
        session.apply_to_near_duplicates(id, "human", "ann")
        rows = human_rows(session)
        assert Counter(row[3] for row in rows) == {"near-duplicate": 2, "human": 1}
        assert Counter(record.source for record in labelled_records(session)) == {"near-duplicate": 2, "human": 1}
        write_table(tmp_path / f"all{suffix}", COLUMNS, rows)
        with made(tmp_path / "again", questions) as again:
            again.tell(read_answers(tmp_path / f"all{suffix}", again.pool).answers)
            assert human_rows(again) == rows


def test_the_estimate_leaves_applied_answers_out(
    tmp_path: Path, questions: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = []

    def watched(prepared: Any, labels: Any, streams: Any) -> None:
        known.append({*labels.of_row})

    monkeypatch.setattr(cross_validating, "cross_validate", watched)
    with made(tmp_path / "p", questions) as session:
        read = answer_all(session, questions)
        session.apply_to_near_duplicates(str(read[0]), truth(questions, str(read[0])), "ann")
        facts = session.advance()
        assert known == [{*read}] and facts is not None and facts.labels == len(read) + 2


def test_no_near_duplicate_of_an_audit_text_is_learnt(tmp_path: Path, questions: Task) -> None:
    with made(tmp_path / "p", questions, audit=12) as session:
        beside = {(row + shift) % 180 for row in session.audit_rows for shift in (60, 120)} - {*session.audit_rows}
        assert session.held_out_rows == beside | {*session.audit_rows}
        everything = [Answer(str(row), truth(questions, str(row)), by="ann") for row in sorted(beside)[:20]]
        session.tell(everything)
        for _ in range(2):
            answer_all(session, questions)
            learnt = session.training_labels().of_row
            assert learnt and not learnt.keys() & session.held_out_rows
            facts = session.advance()
            assert facts is not None and facts.labels == len(learnt)
            assert not session.has_news()
            asked = {question.row for question in session.store.questions(session.fitted)}
            assert not asked & beside
            _, trusted, _ = session.newest_choice()
            assert len(trusted) and not session.held_out_rows & {*trusted.rows.tolist()}
        audited = str(session.audit_rows[0])
        session.tell([Answer(audited, truth(questions, audited), by="ann")])
        assert session.open_near_duplicates([audited]) == {audited: 0}
        assert session.apply_to_near_duplicates(audited, truth(questions, audited), "ann") == []
        session.release_audit()
        assert session.training_labels().of_row.keys() & beside


def test_texts_that_are_added_join_their_groups(tmp_path: Path, questions: Task) -> None:
    with made(tmp_path / "p", questions, audit=12) as session:
        answer_all(session, questions)
        audited, learnt = session.audit_rows[0], next(iter(session.training_labels().of_row))
        session.add(pool_of([f"{session.pool.texts[row]} ..." for row in (audited, learnt)], ids=["n1", "n2"]))
        session.tell([Answer("n1", truth(questions, str(audited)))])
        assert session.near_duplicates().texts == 180  # they are compared before the next round
        session.advance()
        assert session.near_duplicates().texts == 182
        assert 180 in session.held_out_rows and 180 not in session.training_labels().of_row
        assert session.group_of is not None and session.group_of[181] == session.group_of[learnt]


def test_a_damaged_file_of_groups_is_made_again(tmp_path: Path, questions: Task) -> None:
    with made(tmp_path / "p", questions) as session:
        before = session.near_duplicates().total
        session.store.array_file("near-duplicates").write_bytes(b"nothing")
    with actune.open_session(tmp_path / "p") as session:
        assert session.near_duplicates().state == "waiting" and session.ask()
        assert session.find_groups() and not session.find_groups()
        assert session.near_duplicates().total == before == 60


def test_a_very_large_pool_has_groups_of_equal_texts(
    tmp_path: Path, questions: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [*questions.pool.texts[:30], *(f"{text.upper()} !" for text in questions.pool.texts[:30])]
    texts += [f"{text} and something else" for text in questions.pool.texts[:30]]
    monkeypatch.setattr(duplicates, "MOST_LETTERS", 100)
    with create_labelling(tmp_path / "p", pool_of(texts, classes=questions.pool.classes), **PLAN) as session:
        page = session.near_duplicates()
        assert not page.compared and page.total == 30 and {group.size for group in page.groups} == {2}


def test_groups_of_equal_texts_are_those_of_the_exact_join_at_one(questions: Task) -> None:
    texts = repeated(questions).texts
    assert np.array_equal(duplicates.equal_texts(texts), duplicates.near_duplicates(texts, 1.0))
    assert duplicates.similarity("a b c", ["a b c", "A, b! c?", "a b", "x y z"]) == [1.0, 1.0, 0.5, 0.0]


def test_a_kept_label_comes_again_only_where_something_changes(tmp_path: Path, questions: Task) -> None:
    with made(tmp_path / "p", questions, distinct=0) as session:
        asked = answer_all(session, questions)
        session.advance()
        for row in asked:  # another label than the one that was learnt
            said = session.suggestion(str(row))
            other = next(name for name in session.pool.classes if said and name != said.label)
            session.tell([Answer(str(row), other, by="ann")])
        first, *others = session.disagreements()
        session.keep_label(first.id, first.label, first.predicted, "ann", "k1")
        assert [each.id for each in session.disagreements()] == [each.id for each in others]
        with pytest.raises(DataError, match="does not predict"):
            session.keep_label(first.id, first.label, first.label, "ann")
        session.keep_label(first.id, first.label, first.predicted, "ann", "k2", keep=False)
        assert session.disagreements()[0] == first
        session.keep_label(first.id, first.label, first.predicted, "ann", "k3")
        third = next(name for name in session.pool.classes if name not in (first.label, first.predicted))
        session.tell([Answer(first.id, third, by="ann")])
        assert first.id in [each.id for each in session.disagreements()]
        with pytest.raises(DataError, match="does not stand"):
            session.keep_label(first.id, first.label, first.predicted, "ann")
        assert [mark.value is None for mark in session.store.mark_log() if mark.kind == "keep"] == [False, True, False]
    assert problems_in(tmp_path / "p") == []


def test_what_several_people_answer_is_neither_applied_nor_shown_to_them(tmp_path: Path, questions: Task) -> None:
    with made(tmp_path / "p", questions, overlap=0.5) as session:
        session.draw(30)
        asked = [int(each.id) for each in session.ask()]
        (one, *_), (alone, *_) = (
            [row for row in asked if (row in session.shared_rows()) is each] for each in (True, False)
        )
        session.tell([Answer(str(row), "human", by="ann") for row in (one, alone)])
        assert session.open_near_duplicates([str(one), str(alone)]) == {str(one): 0, str(alone): 2}
        assert session.apply_to_near_duplicates(str(one), "human", "ben") == []
        assert session.apply_to_near_duplicates(str(one), "entity", "ben") == []  # the same, whatever ann has said
        beside = (one + 60) % 180
        session.tell([Answer(str(beside), "entity", by="ann")])

        def seen(hidden: frozenset[int]) -> dict[str, int]:
            groups = session.near_duplicates(limit=100, hidden=hidden).groups
            return next(group.labels for group in groups if group.id == str(one % 60))

        assert seen(frozenset()) == {"human": 1, "entity": 1}
        assert seen(session.shared_rows()) == {"entity": 1}
        for which, hidden, there in (("differ", frozenset(), True), ("differ", session.shared_rows(), False)):
            groups = session.near_duplicates(which, limit=100, hidden=hidden).groups  # type: ignore[arg-type]
            assert any(group.id == str(one % 60) for group in groups) is there
