"""Texts for several people: who gets them, what counts after a retraction or a decision, and what the log says."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.core.facts import Metrics, QuestionRow, RoundFacts, Selection
from actune.core.pool import pool_of
from actune.store.records import Mark, Said
from actune.store.store import Store
from actune.store.verifying import problems_of, wrong_tables
from actune.store.words import Words, replay

pytestmark = pytest.mark.usefixtures("database")
CLASSES = ("x", "y", "z")
ROWS = 12


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Twelve questions; the even ones are for two people each."""
    return made(tmp_path)


def made(folder: Path, people: int = 2, rows: int = ROWS, shared: range = range(0, ROWS, 2)) -> Store:
    store = Store(folder, create=True)
    store.add_texts("pool", pool_of([f"text {row}" for row in range(rows)], classes=CLASSES))
    store.declare_classes(CLASSES, by="start")
    store.mark([Mark(row, "overlap", str(people), "actune") for row in shared])
    store.commit(selection=Selection(0, [QuestionRow(0, row, None, None) for row in range(rows)]))
    return store


def asked(store: Store, by: str, count: int | None = None, seconds: float = 60) -> list[int]:
    return [question.row for question in store.lease_questions(by, count, seconds)]


def label(store: Store, by: str, row: int, number: int, kind: Any = "label") -> None:
    store.tell([Said(row, kind, number if kind in ("label", "decide") else None, by)])


def follows_from_the_log(store: Store) -> bool:
    with store.connection() as connection:
        return not wrong_tables(connection)


def test_two_people_get_what_is_for_both_and_nobody_gets_it_twice(store: Store) -> None:
    assert asked(store, "ann") == list(range(ROWS))
    assert asked(store, "ben") == list(range(0, ROWS, 2))  # the others are held
    assert asked(store, "cleo") == []
    for row in range(ROWS):
        label(store, "ann", row, 0)
    assert store.open_questions() == [] and asked(store, "ann") == []  # a round waits for no second answer
    assert asked(store, "ben") == list(range(0, ROWS, 2))
    label(store, "ben", 0, 1)
    store.tell([Said(2, "skip", None, "ben")])
    assert asked(store, "ben") == [4, 6, 8, 10] and asked(store, "cleo") == []
    store.release([4, 6], "ben")
    assert asked(store, "cleo") == [4, 6]  # nobody has answered it second yet
    label(store, "cleo", 4, 1)
    assert asked(store, "ben") == [8, 10] and asked(store, "ann") == []


def test_a_lease_ends_and_its_place_is_free_again(store: Store) -> None:
    for row in range(ROWS):
        label(store, "ann", row, 0)
    assert asked(store, "ben", 2, seconds=-1) == [0, 2]
    assert asked(store, "cleo", 2) == [0, 2]
    assert asked(store, "ben", 2) == [4, 6]


def test_second_answers_come_between_new_questions(store: Store) -> None:
    for row in range(4):
        label(store, "ann", row, 0)
    assert asked(store, "ben", 5) == [4, 0, 5, 2, 6]


def test_of_three_people_two_second_answers_come_after_each_new_question(tmp_path: Path) -> None:
    store = made(tmp_path, people=3)
    for row in range(6):
        label(store, "ann", row, 0)
    assert asked(store, "ben", 6) == [6, 0, 2, 7, 4, 8]
    assert asked(store, "cleo") == [6, 0, 2, 8, 4, 9, 10, 11]
    for by in ("ben", "cleo"):
        label(store, by, 0, 1)
    assert 0 not in asked(store, "dora")


def test_second_answers_are_asked_for_in_later_rounds_too(store: Store) -> None:
    for row in range(ROWS):
        label(store, "ann", row, row % 2)
    facts = RoundFacts(0, ROWS, ROWS, (6, 6, 0), Metrics())
    store.commit(facts, Selection(1, []))
    assert [(q.round, q.row) for q in store.lease_questions("ben", 3, 60)] == [(1, 0), (1, 2), (1, 4)]


def test_who_takes_an_answer_back_may_give_it_again(store: Store) -> None:
    label(store, "ann", 0, 0)
    label(store, "ben", 0, 1)
    assert 0 not in asked(store, "ben")
    label(store, "ben", 0, 0, "retract")
    assert store.labels().of_row == {0: 0} and 0 in asked(store, "ben") and 0 not in asked(store, "ann")
    assert store.word_on(0).by == "ann" and follows_from_the_log(store)  # type: ignore[union-attr]
    label(store, "ben", 0, 0, "retract")  # there is nothing of his any more
    assert len(store.answers()) == 3


def test_a_retired_class_is_no_answer(store: Store) -> None:
    label(store, "ann", 0, 0)
    label(store, "ben", 0, 0)
    store.retire_class("x", "ann")
    assert {0} <= {*asked(store, "ann")} and {0} <= {*asked(store, "ben")}
    label(store, "ann", 0, 1)
    assert 0 in asked(store, "ben")


def test_a_picked_text_is_asked_of_one_person(store: Store) -> None:
    label(store, "ann", 0, 0)
    store.mark([Mark(0, "queue", "1", "ann")])
    assert asked(store, "ben", 1) == [0] and 0 not in asked(store, "cleo")


@pytest.mark.parametrize("people", [2, 3])
def test_many_people_at_once_never_get_more_than_is_wanted(tmp_path: Path, people: int) -> None:
    rows, hands = 120, 6
    store = made(tmp_path, people, rows, range(0, rows, 3))
    given: list[tuple[str, int]] = []
    held: Counter[int] = Counter()
    most: Counter[int] = Counter()
    lock, told = threading.Lock(), Counter[int]()

    def work(by: str) -> None:
        while found := asked(store, by, 5):
            with lock:
                held.update(found)
                for row in found:
                    given.append((by, row))
                    most[row] = max(most[row], held[row] + told[row])
            store.tell([Said(row, "label", len(by) % 3, by) for row in found])
            with lock:
                held.subtract(found)
                told.update(found)

    threads = [threading.Thread(target=work, args=(f"{'hand' * (1 + n)}",)) for n in range(hands)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given) == len(set(given)), "somebody got a text twice"
    wanted = {row: people if row % 3 == 0 else 1 for row in range(rows)}
    assert Counter(row for _, row in given) == wanted
    assert all(most[row] <= wanted[row] for row in wanted)
    assert not problems_of(store)


# what counts


def test_a_decision_counts_above_what_others_say_later(store: Store) -> None:
    label(store, "ann", 0, 0)
    label(store, "ben", 0, 1)
    label(store, "olga", 0, 2, "decide")
    assert store.labels().of_row == {0: 2} and store.counts().of_class == {2: 1}
    for kind in ("label", "skip", "clear", "unskip", "retract"):
        store.tell([Said(0, kind, 0 if kind == "label" else None, "ben")])  # type: ignore[arg-type]
        assert store.labels().of_row == {0: 2} and follows_from_the_log(store)
    assert [word.by for word in store.words(0) if word.kind == "label"] == ["ann"]
    assert store.labels(until=2).of_row == {0: 1} and store.labels(until=3).of_row == {0: 2}


def test_the_decider_changes_a_decision_or_takes_it_back(store: Store) -> None:
    label(store, "ann", 0, 0)
    label(store, "olga", 0, 1)  # as one of the people
    label(store, "olga", 0, 2, "decide")
    label(store, "olga", 0, 0)
    assert store.labels().of_row == {0: 0} and store.word_on(0).kind == "decide"  # type: ignore[union-attr]
    assert {word.by: word.label for word in store.words(0)} == {"ann": 0, "olga": 1}  # what both said stays
    label(store, "ann", 0, 2)
    assert store.labels().of_row == {0: 0}
    label(store, "olga", 0, 0, "retract")
    assert store.labels().of_row == {0: 2} and follows_from_the_log(store)
    label(store, "ann", 0, 1)
    assert store.labels().of_row == {0: 1}


def test_another_decision_takes_the_place_of_the_first(store: Store) -> None:
    label(store, "olga", 0, 0, "decide")
    label(store, "otto", 0, 1, "decide")
    assert store.labels().of_row == {0: 1}
    assert store.tell([Said(0, "decide", 1, "olga")]).repeated == 1


def test_a_decision_may_leave_a_text_out(store: Store) -> None:
    label(store, "ann", 0, 0)
    store.tell([Said(0, "decide", None, "olga")])
    label(store, "ben", 0, 1)
    assert store.labels().of_row == {} and store.labels().skipped == {0} and store.counts().skipped == 1
    store.tell([Said(0, "unskip", None, "olga")])
    assert store.labels().of_row == {0: 1} and follows_from_the_log(store)


def test_a_decided_text_is_asked_no_more(store: Store) -> None:
    label(store, "ann", 0, 0)
    label(store, "olga", 0, 0, "decide")
    assert 0 not in asked(store, "ben")


def test_a_decision_for_a_class_follows_its_merge_and_ends_with_it(store: Store) -> None:
    label(store, "ann", 0, 0)
    label(store, "olga", 0, 2, "decide")
    store.merge_classes("z", "y", "olga")
    assert store.labels().of_row == {0: 1}
    store.retire_class("y", "olga")
    assert store.labels().of_row == {0: 0} and follows_from_the_log(store)


def test_clear_takes_back_the_words_of_all(store: Store) -> None:
    label(store, "ann", 0, 0)
    label(store, "ben", 0, 0, "clear")
    label(store, "ben", 0, 1)
    label(store, "ben", 0, 0, "retract")
    assert store.labels().of_row == {}  # the word of ann was taken back before


def test_only_answers_that_change_what_counts_are_news(store: Store) -> None:
    label(store, "ann", 0, 0)
    label(store, "ben", 0, 0)
    assert store.answers_that_count(0) == 1
    label(store, "cleo", 0, 1)
    assert store.answers_that_count(0) == 2 and store.answers_that_count(1) == 1
    label(store, "olga", 0, 2, "decide")
    label(store, "ann", 0, 1)
    assert store.answers_that_count(3) == 1


kinds = st.sampled_from(["label", "skip", "unsure", "unskip", "clear", "retract", "decide"])
entries = st.lists(st.tuples(st.integers(0, 2), kinds, st.integers(0, 2), st.sampled_from("abo")), max_size=5)
changes = st.tuples(
    st.sampled_from(["merge", "retire", "restore", "undo"]), st.sampled_from("xyz"), st.sampled_from("xyz")
)


def said(entry: tuple[int, Any, int, str]) -> Said:
    row, kind, number, by = entry
    by = "o" if kind == "decide" else by
    return Said(row, kind, number if kind in ("label", "decide") else None, by)


@settings(max_examples=120, deadline=None)
@given(st.lists(st.one_of(entries, changes), max_size=8))
def test_tables_say_what_the_log_says(tmp_path_factory: pytest.TempPathFactory, steps: list[Any]) -> None:
    from actune.errors import DataError

    store = made(tmp_path_factory.mktemp("log"))
    for step in steps:
        try:
            if isinstance(step, list):
                store.tell([said(entry) for entry in step])
            elif step[0] == "merge":
                store.merge_classes(step[1], step[2], "o")
            elif step[0] == "undo":
                store.undo_classes("o")
            else:
                getattr(store, f"{step[0]}_class")(step[1], "o")
        except DataError:
            pass  # a class that is gone, or nothing to undo
        assert follows_from_the_log(store)
    labels = store.labels()
    assert labels == store.labels(until=labels.last_answer)
    store.close()


@given(st.lists(st.tuples(st.integers(0, 2), kinds, st.integers(0, 2), st.sampled_from("ab")), max_size=10))
def test_a_standing_decision_is_moved_by_its_decider_alone(said_before: list[Any]) -> None:
    words = Words()
    for number, entry in enumerate(said_before, 1):
        words.take(said(entry), number)
    words.take(Said(0, "decide", 1, "o"), 100)
    for number, (_, kind, label_number, by) in enumerate(said_before, 101):
        if kind != "decide":
            words.take(Said(0, kind, label_number if kind == "label" else None, by), number)
        assert words.latest[0].kind == "decide" and words.latest[0].label == 1


def test_a_log_with_every_kind_is_whole_after_a_replay(store: Store) -> None:
    for row, kind in enumerate(("label", "skip", "unsure", "decide")):
        label(store, "ann", row, 0, kind)
        label(store, "ann", row, 0, "retract")
    words = replay(store.answers(), store.class_changes())
    assert words.latest == {} and not problems_of(store)


def test_a_reader_of_the_history_gets_what_others_said_only_where_one_person_answers(store: Store) -> None:
    for by in ("ann", "ben"):
        for row in (0, 1, 2):
            label(store, by, row, 0 if by == "ann" else 1)

    def seen(reader: str | None, **words: Any) -> list[tuple[str, int]]:
        return [(answer.by, answer.row) for answer in store.history(reader=reader, **{"limit": 10, **words})]

    assert seen(None) == [("ben", 2), ("ben", 1), ("ben", 0), ("ann", 2), ("ann", 1), ("ann", 0)]
    assert seen("ann") == [("ben", 1), ("ann", 2), ("ann", 1), ("ann", 0)]
    assert seen("cleo", limit=1) == [("ben", 1)] and seen("cleo", by="ann", before=4) == [("ann", 1)]
