"""A project in which several people answer some of the texts: which ones, what a round waits for, and agreement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import actune
from actune.core.dialogue import Answer
from actune.core.pool import Pool, pool_of
from actune.core.task import Task
from actune.errors import DataError, SettingError
from actune.session.labelling import create_labelling
from actune.session.overlapping import Agreement, PairAgreement
from actune.session.session import Session
from actune.session.setup import create
from actune.session.status import status
from actune.session.verifying import problems_in

FAST = {"steps": 8, "epochs": 2, "samples": 3}
CLASSES = ("a", "b", "c")
PLAIN = pool_of([f"text number {row}" for row in range(400)], classes=CLASSES)


def made(folder: Path, pool: Pool = PLAIN, **options: Any) -> Session:
    words = {"overlap": 0.25, "initial": 40, "batch": 10, "changes": FAST, "audit": 0, **options}
    return create_labelling(folder, pool, **words)


def shared(session: Session) -> set[int]:
    return {*session.shared_rows()}


def say(session: Session, by: str, label: str, *rows: int) -> None:
    session.tell([Answer(session.pool.ids[row], label, by=by) for row in rows])


def test_the_same_seed_draws_the_same_rows_whoever_asks_and_in_any_order(tmp_path: Path) -> None:
    one, other = (made(tmp_path / name, seed=3) for name in ("one", "other"))
    one.draw(200)
    for n in (7, 60, 200):
        other.ask(by="ben", n=5)
        other.draw(n)
    asked = [{question.row for question in session.store.questions()} for session in (one, other)]
    both = asked[0] & asked[1]
    assert len(both) > 150 and shared(one) & both == shared(other) & both
    assert all(0.15 < len(shared(each)) / len(rows) < 0.35 for each, rows in zip((one, other), asked, strict=True))
    another = made(tmp_path / "another", seed=4)
    another.draw(200)
    assert shared(another) & both != shared(one) & both


def test_texts_that_are_added_later_change_nothing(tmp_path: Path) -> None:
    session = made(tmp_path / "p", overlap=0.5)
    before = shared(session)
    session.add(pool_of([f"more {row}" for row in range(300)], ids=[f"more {row}" for row in range(300)]))
    session.draw(300)
    assert before <= shared(session) and max(shared(session)) >= 400


def test_without_overlap_nothing_is_drawn_and_everything_is_drawn_with_all_of_it(tmp_path: Path) -> None:
    none, all_of_it = made(tmp_path / "none", overlap=0.0), made(tmp_path / "all", overlap=1.0, audit=20)
    assert none.store.marked("overlap") == [] and none.people_agreement() is None
    assert shared(all_of_it) == {question.row for question in all_of_it.store.questions()}
    assert shared(all_of_it) & {*all_of_it.audit_rows}, "audit texts are drawn like all others"


@pytest.mark.parametrize(
    "options, words",
    [
        ({"overlap": 1.5}, "share from 0 to 1"),
        ({"overlap": -0.1}, "share from 0 to 1"),
        ({"answers_each": 1}, "at least 2 people"),
    ],
)
def test_what_cannot_be_is_said(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        made(tmp_path / "p", **options)


def test_a_project_that_is_started_at_the_terminal_may_have_it_too(tmp_path: Path) -> None:
    session = create(tmp_path / "p", PLAIN, overlap=1.0, first="random", initial=10, learner="probe")
    assert len(shared(session)) == 10
    again = actune.open_session(tmp_path / "p")
    assert again.config.request.overlap == 1.0 and shared(again) == shared(session)


def test_one_person_alone_is_never_held_up(tmp_path: Path, questions: Task) -> None:
    pool = questions.pool
    bare = pool_of(pool.texts[:150], ids=pool.ids[:150], classes=pool.classes)
    session = made(tmp_path / "p", bare, overlap=0.5, initial=30, method="random", learner="probe")
    for round in range(2):
        while asked := session.ask(by="ann", n=10):
            truth = (pool.classes[pool.labels[pool.row_of[question.id]]] for question in asked)
            session.tell([Answer(q.id, name, by="ann") for q, name in zip(asked, truth, strict=True)])
        assert session.store.open_questions() == []
        facts = session.advance()
        assert facts is not None and facts.round == round
    asked = session.ask(by="ann", n=100)
    assert [one.suggestion is None for one in asked] == [
        session.pool.row_of[one.id] in shared(session) for one in asked
    ]
    assert any(one.suggestion for one in asked) and not all(one.suggestion for one in asked)
    assert len(session.ask(by="ben", n=100)) > len(session.store.open_questions()) / 2, "second answers and new ones"
    found = session.people_agreement()
    assert found is not None and (found.texts, found.alpha, found.pairs) == (0, None, ()) and found.waiting > 4
    assert not problems_in(tmp_path / "p")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Ten texts for two people, who agree on seven of nine; one has the answer of one person alone."""
    session = made(tmp_path / "p", overlap=1.0)
    rows = sorted(shared(session))[:10]
    for place, row in enumerate(rows):
        say(session, "ann", "ab"[place % 2], row)
    for place, row in enumerate(rows[:9]):
        say(session, "ben", "ab"[place % 2] if place < 7 else "c", row)
    return session


def test_agreement_as_it_is_worked_out_by_hand(session: Session) -> None:
    # Nine texts, 18 labels: ann says a 5 times and b 4 times, ben a 4, b 3 and c 2 times; a 9, b 7, c 2 in all.
    # alpha: each of the two texts that differ has (4 - 2) / 1 = 2; expected 18^2 - (81 + 49 + 4) = 190.
    # kappa: 7 / 9 agree; by chance (5 * 4 + 4 * 3) / 81 = 32 / 81.
    found = session.people_agreement()
    assert isinstance(found, Agreement) and found.alpha is not None
    assert found.alpha.value == pytest.approx(1 - 17 * 4 / 190)
    assert found.alpha.low < found.alpha.value <= found.alpha.high
    assert (found.texts, found.waiting, found.open) == (9, 1, 2)
    assert found.pairs == (PairAgreement(("ann", "ben"), 9, pytest.approx((7 / 9 - 32 / 81) / (1 - 32 / 81))),)
    assert status(session).as_json()["agreement"]["texts"] == 9


def test_labels_count_as_they_do_today(session: Session) -> None:
    session.change_classes(
        {"kind": "merge", "old": "c", "into": "a"}, by="olga"
    )  # of the two texts that differ one is a and one is b for ann
    assert session.people_agreement().open == 1  # type: ignore[union-attr]
    session.undo_classes(by="olga")
    session.change_classes({"kind": "retire", "name": "c"}, by="olga")
    found = session.people_agreement()
    assert found is not None and (found.texts, found.waiting, found.open) == (7, 3, 0)
    assert found.alpha is not None and found.alpha.value == 1


def test_a_skip_is_no_label(session: Session) -> None:
    total, conflicts = session.conflicts()
    session.tell([Answer(conflicts[0].id, by="ben")])
    assert total == 2 and session.conflicts()[0] == 1
    found = session.people_agreement()
    assert found is not None and (found.texts, found.waiting) == (8, 1)  # who skips has answered, too


def test_an_owner_decides_and_the_text_leaves_the_list(session: Session) -> None:
    total, (first, second) = session.conflicts()
    assert total == 2 and [(each.by, each.label) for each in first.answers] == [("ann", "b"), ("ben", "c")]
    session.remark(first.id, note="odd", by="ben")
    session.remark(first.id, note="of a third", by="cleo")
    _, (noted, _) = session.conflicts()
    assert [each.note for each in noted.answers] == [None, "odd"] and noted.notes == (("cleo", "of a third"),)
    assert session.conflicts(1) == (2, [noted])
    before = session.people_agreement()
    told = session.decide(first.id, "a", "olga", client="1")
    assert told.changed == (first.id,) and session.decide(first.id, "a", "olga", client="1").repeated == 1
    session.decide(second.id, None, "olga")
    assert session.conflicts() == (0, [])
    standing = session.standing(first.id)
    assert standing is not None and (standing.kind, standing.label, standing.by) == ("decide", "a", "olga")
    after = session.people_agreement()
    assert before is not None and after is not None and after.alpha == before.alpha, "who decides is no witness"
    session.tell([Answer(first.id, "c", by="ben"), Answer(second.id, retract=True, by="olga")])
    assert session.standing(first.id) == standing and session.conflicts()[0] == 1
    assert not problems_in(session.store.folder)
    with pytest.raises(DataError, match="give a label, or none"):
        session.tell([Answer(first.id, decision=True, clear=True)])


def test_only_what_changes_a_label_is_news(tmp_path: Path) -> None:
    session = made(tmp_path / "p", overlap=1.0)
    rows = sorted(shared(session))[:6]
    say(session, "ann", "a", *rows)
    assert session.news() == 6
    say(session, "ben", "a", *rows)
    assert session.news() == 6
    say(session, "ben", "b", rows[0])
    assert session.news() == 7


def test_who_holds_a_text_may_answer_and_others_only_while_there_is_room(tmp_path: Path) -> None:
    session = made(tmp_path / "p", overlap=1.0)
    id = session.ask(by="ann", n=1)[0].id
    assert session.held_by_others([id], "cleo") == set()  # one more may
    assert session.ask(by="ben", n=1)[0].id == id
    assert session.held_by_others([id], "ann") == session.held_by_others([id], "ben") == set()
    assert session.held_by_others([id], "cleo") == {id}
    session.tell([Answer(id, "a", by="ann")])
    assert session.held_by_others([id], "cleo") == {id}
    assert session.held_by_others([id], "ann") == set()  # she may change what she said
    bare = made(tmp_path / "bare", overlap=0.0)
    id = bare.ask(by="ann", n=1)[0].id
    assert bare.held_by_others([id], "ben") == {id} and bare.held_by_others([id], "ann") == set()
