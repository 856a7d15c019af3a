"""What a labelling page needs of the store: client ids, ways to take answers back, marks, and changes of classes."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from actune.core.pool import pool_of
from actune.errors import DataError
from actune.store.records import Mark, Said
from actune.store.repairing import rebuild
from actune.store.store import Store
from actune.store.verifying import problems_of, wrong_tables

pytestmark = pytest.mark.usefixtures("database")
CLASSES = ("a", "b", "c")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path, create=True)
    store.add_texts("pool", pool_of([f"text {row}" for row in range(10)], classes=CLASSES))
    store.declare_classes(CLASSES, by="start")
    return store


def state(store: Store) -> object:
    """What counts, without the numbers of answers."""
    labels = store.labels()
    return labels.of_row, labels.skipped, store.counts(), {word.row: word.kind for word in store.latest()}


def follows_from_the_log(store: Store) -> bool:
    with store.connection() as connection:
        return not wrong_tables(connection)


def test_the_same_client_id_is_recorded_once(store: Store) -> None:
    first = store.tell([Said(0, "label", 0, "ann", client="one")])
    store.tell([Said(0, "label", 1, "ann", client="two")])
    again = store.tell([Said(0, "label", 0, "ann", client="one")])
    assert again.saved == first.saved and again.new == 0 and again.repeated == 1
    assert store.labels().of_row == {0: 1} and len(store.answers()) == 2
    assert store.tell([Said(0, "label", 0, "ben", client="one")]).changed == (0,)  # another person's ids are others


def test_a_client_id_is_known_although_its_answer_changed_nothing(store: Store) -> None:
    store.tell([Said(0, "label", 0, "ann")])
    store.tell([Said(0, "label", 0, "ann", client="one")])
    store.tell([Said(0, "label", 1, "ann", client="two")])
    store.tell([Said(0, "label", 0, "ann", client="one")])
    assert store.labels().of_row == {0: 1}


def test_twice_in_one_request_is_once(store: Store) -> None:
    store.tell([Said(0, "skip", None, "ann")])
    found = store.tell([Said(0, "label", 0, "ann", client="one")] * 2)
    assert found.saved[0] == found.saved[1] and found.saved[0].before == ("skip", None) and found.new == 1


def test_what_stood_before_is_told(store: Store) -> None:
    found = store.tell(
        [Said(0, "label", 2, "ann", client="1"), Said(0, "unsure", None, "ben", client="2"), Said(0, "label", 1, "ann")]
    )
    assert [saved.before for saved in found.saved] == [None, ("label", 2), ("unsure", None)]
    assert [saved.number for saved in found.saved] == [1, 2, 3]


def test_clear_takes_back_whatever_stands(store: Store) -> None:
    empty = state(store)
    for kind in ("label", "skip", "unsure"):
        store.tell([Said(0, kind, 0 if kind == "label" else None, "ann")])
        assert state(store) != empty
        store.tell([Said(0, "clear", None, "ben")])
        assert state(store) == empty
    assert store.tell([Said(0, "clear", None, "ben")]).repeated == 1
    assert follows_from_the_log(store)


def test_clear_then_a_label_is_the_label(store: Store) -> None:
    store.tell([Said(0, "label", 1, "ann")])
    labelled = state(store)
    store.tell([Said(0, "clear", None, "ann"), Said(0, "label", 1, "ann")])
    assert state(store) == labelled and follows_from_the_log(store)


def test_unsure_is_a_skip_that_unskip_ends(store: Store) -> None:
    assert store.tell([Said(3, "unsure", None, "ann")]).skipped == 1
    assert store.labels().skipped == {3} and store.counts().skipped == 1
    store.tell([Said(3, "unskip", None, "ann")])
    assert store.labels().skipped == frozenset() and store.counts().skipped == 0


def test_answers_about_different_texts_in_any_order_and_chunks_give_one_state(tmp_path: Path) -> None:
    answers = [
        Said(0, "label", 1, "ann", client="1"),
        Said(1, "unsure", None, "ann", client="2"),
        Said(2, "label", 0, "ben", client="1"),
        Said(3, "skip", None, "ben", client="2"),
    ]
    found = []
    for number, order in enumerate(permutations(answers)):
        if number % 5 == 0:
            store = Store(tmp_path / str(number), create=True) if (tmp_path / str(number)).mkdir() is None else None
            assert store is not None
            store.declare_classes(CLASSES, by="start")
            store.tell(order[:2])
            store.tell(order)  # what was told already comes again
            found.append(state(store))
    assert len(found) == 5 and all(each == found[0] for each in found)


CHANGES: dict[str, Callable[[Store], object]] = {
    "add": lambda store: store.add_class("d", "ann"),
    "rename": lambda store: store.rename_class("a", "z", "ann"),
    "merge": lambda store: store.merge_classes("a", "b", "ann"),
    "retire": lambda store: store.retire_class("b", "ann"),
    "split": lambda store: store.split_class("a", ["a1", "a2"], "ann"),
    "describe": lambda store: store.describe_class("a", "the first", "ann"),
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_undo_of_a_change_restores_labels_and_classes(store: Store, name: str) -> None:
    store.tell([Said(row, "label", row % 3, "ann") for row in range(6)] + [Said(0, "label", 1, "ben")])
    before = state(store), store.classes(), store.queued(), store.class_state().descriptions.get(0, "")
    CHANGES[name](store)
    assert follows_from_the_log(store)
    changed = state(store), store.classes(), store.queued(), store.class_state().descriptions.get(0, "")
    assert changed != before
    store.undo_classes("ben")
    assert (state(store), store.classes(), store.queued(), store.class_state().descriptions.get(0, "")) == before
    assert follows_from_the_log(store)
    with pytest.raises(DataError, match="no change of the classes"):
        store.undo_classes("ben")


def test_changes_are_undone_one_after_the_other(store: Store) -> None:
    store.tell([Said(row, "label", row % 3, "ann") for row in range(6)])
    states = [state(store)]
    changes = [
        CHANGES["merge"],
        lambda store: store.retire_class("b", "ann"),
        lambda store: store.restore_class("b", "ann"),
    ]
    for change in changes:
        change(store)
        states.append(state(store))
    assert states[1] == states[3] != states[2]
    for expected in reversed(states[:-1]):
        store.undo_classes("ann")
        assert state(store) == expected


def test_answers_between_a_merge_and_its_undo_keep_what_was_said(store: Store) -> None:
    store.tell([Said(0, "label", 0, "ann")])
    store.merge_classes("a", "b", "ann")
    store.tell([Said(1, "label", 0, "ben"), Said(2, "label", 1, "ben")])  # 0 is what an open page may still send
    assert store.labels().of_row == {0: 1, 1: 1, 2: 1}
    store.undo_classes("ann")
    assert store.labels().of_row == {0: 0, 1: 0, 2: 1}


def test_a_retired_class_takes_no_answers_and_its_name_stays_taken(store: Store) -> None:
    store.tell([Said(0, "label", 0, "ann")])
    store.retire_class("a", "ann")
    assert store.labels().of_row == {} and store.classes() == {1: "b", 2: "c"}
    with pytest.raises(DataError, match="'a' is retired"):
        store.tell([Said(1, "label", 1, "ann"), Said(2, "label", 0, "ann")])
    assert store.labels().of_row == {}  # nothing of a refused request counts
    with pytest.raises(DataError, match="a retired class 'a'"):
        store.add_class("a", "ann")
    store.restore_class("a", "ann")
    assert store.labels().of_row == {0: 0}


def test_the_same_class_change_of_a_client_is_made_once(store: Store) -> None:
    for _ in range(2):
        store.rename_class("a", "z", "ann", client="x") if "a" in store.classes().values() else None
        store._step("ann", "x", lambda writer: writer.add("never"))
    assert store.classes() == {0: "z", 1: "b", 2: "c"}


def test_a_split_queues_the_texts_of_the_old_class(store: Store) -> None:
    store.tell([Said(row, "label", row % 2, "ann") for row in range(6)])
    store.split_class("a", ["a1"], "ann")
    assert store.queued() == [0, 2, 4] and store.classes()[3] == "a1"
    assert [question.row for question in store.open_questions()] == [0, 2, 4]
    store.tell([Said(2, "label", 3, "ann"), Said(0, "label", 0, "ann")])  # the second one repeats what stands
    assert store.queued() == [4]


def test_marks_stand_until_they_are_taken_back(store: Store) -> None:
    assert store.mark([Mark(1, "note", "odd", "ann", "x"), Mark(1, "flag", "1", "ann")]) == 2
    assert store.mark([Mark(1, "note", "odd", "ann", "x"), Mark(1, "note", "other", "ann", "x")]) == 0
    store.mark([Mark(1, "note", "mine", "ben")])
    assert [(m.by, m.value) for m in store.marked("note")] == [("ann", "odd"), ("ben", "mine")]
    store.mark([Mark(1, "note", None, "ann")])
    assert [m.by for m in store.marked("note", [1])] == ["ben"] and store.marked_rows("flag") == {1}
    assert len(store.mark_log()) == 4 and follows_from_the_log(store)


def test_picked_texts_come_first_and_never_to_two_people(store: Store) -> None:
    from actune.core.facts import QuestionRow, Selection

    store.commit(selection=Selection(0, [QuestionRow(0, row, None, None) for row in (1, 2, 3)]))
    store.mark([Mark(row, "queue", "1", "ann") for row in (7, 3)])
    assert [question.row for question in store.open_questions()] == [7, 3, 1, 2]
    first = [question.row for question in store.lease_questions("ann", 2, 60)]
    second = [question.row for question in store.lease_questions("ben", 9, 60)]
    assert (first, second) == ([7, 3], [1, 2])
    store.mark([Mark(3, "queue", None, "ann")])
    assert [question.row for question in store.open_questions()] == [7, 1, 2, 3]


@pytest.mark.parametrize("table", ["marks", "answers", "class_changes"])
def test_a_change_behind_our_back_is_found(store: Store, table: str) -> None:
    store.tell([Said(0, "label", 0, "ann", client="one")])
    store.mark([Mark(1, "note", "odd", "ann")])
    store.add_class("d", "ann", client="two")
    assert not problems_of(store)
    with store.changing(store.folder / "copy") as connection:
        connection.execute(f"UPDATE {table} SET by = 'eve' WHERE number = (SELECT max(number) FROM {table})")
    assert any(f"the table {table}" in problem for problem in problems_of(store))


def test_derived_tables_are_rebuilt(store: Store) -> None:
    store.tell([Said(0, "label", 0, "ann", client="one")])
    store.mark([Mark(1, "note", "odd", "ann")])
    store.merge_classes("a", "b", "ann")
    store.mark([Mark(2, "queue", "1", "ann")])
    with store.changing(store.folder / "copy") as connection:
        connection.execute("UPDATE marked SET value = 'even'")
        connection.execute("UPDATE classes SET merged_into = NULL")
        connection.execute("DELETE FROM clients")
    assert len(problems_of(store)) == 2
    rebuild(store)
    assert not problems_of(store) and store.classes() == {1: "b", 2: "c"}
    assert store.tell([Said(0, "label", 2, "ann", client="one")]).repeated == 1 and store.queued() == [2]


def test_a_database_of_the_fourth_version_learns_what_stood_before(tmp_path: Path) -> None:
    old = shutil.copytree(Path(__file__).parent / "v4", tmp_path / "old")
    with Store.open(old) as store:
        stood: dict[int, int] = {}
        for answer in store.answers():
            assert answer.before == stood.get(answer.row)
            if answer.kind == "unskip":
                stood.pop(answer.row)
            elif answer.before is None or store.said([answer.before])[answer.before].label != answer.label:
                stood[answer.row] = answer.number
        assert not problems_of(store)


def test_damage_from_before_a_migration_is_still_told(tmp_path: Path) -> None:
    old = shutil.copytree(Path(__file__).parent / "v4", tmp_path / "old")
    with sqlite3.connect(old / "run.db") as connection:
        connection.execute("UPDATE answers SET label = 1 - label WHERE number = 2")
    with Store.open(old) as store:
        assert any("row 2 of the table answers" in problem for problem in problems_of(store))


def test_an_id_that_was_sent_with_something_else_is_refused_and_nothing_is_lost_without_a_word(store: Store) -> None:
    """A program that counts its answers from 0 would lose them when it is started again."""
    store.tell([Said(0, "label", 0, "ann", client="0")])
    store.mark([Mark(1, "note", "odd", "ann", "note")])
    for client in ("0", "note"):
        with pytest.raises(DataError, match="an id of its own"):
            store.tell([Said(2, "label", 1, "ann"), Said(1, "label", 1, "ann", client=client)])
    with pytest.raises(DataError, match="an id of its own"):
        store.tell([Said(1, "label", 1, "ann", client="1"), Said(2, "label", 1, "ann", client="1")])
    assert [answer.row for answer in store.answers()] == [0]
    assert store.tell([Said(1, "label", 1, "ann", client="1"), Said(1, "label", 1, "ann", client="1")]).repeated == 1
