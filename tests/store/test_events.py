"""What stands after some answers: decided in the same transaction, equal to the log read again, whoever writes."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.core.facts import Metrics, QuestionRow, RoundFacts, Selection
from actune.errors import DataError, RunFolderError, StorageError
from actune.store import sql
from actune.store.addresses import Schema, new_place
from actune.store.records import Said, Word
from actune.store.sql import SQLEvents
from actune.store.words import Words, labels_of, replay
from tests.conftest import DATABASES

Place = Path | Schema
ON_SQLITE = pytest.mark.parametrize("place", ["sqlite"], indirect=True)


def place_in(database: str, folder: Path, request: pytest.FixtureRequest) -> Place:
    return folder / "run.db" if database == "sqlite" else new_place(folder, request.getfixturevalue("postgres").url)


@pytest.fixture(params=DATABASES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return place_in(request.param, tmp_path, request)


@pytest.fixture
def events(place: Place) -> Iterator[SQLEvents]:
    events = SQLEvents(place, create=True)
    yield events
    events.close()


def derived(events: SQLEvents) -> tuple[object, ...]:
    """What the tables say that follow from the log."""
    words = {(word.row, word.by): word for row in range(4) for word in events.words(row)}
    return {word.row: word for word in events.latest()}, words, events.counts().of_class, events.counts().skipped


def replayed(events: SQLEvents) -> tuple[object, ...]:
    """The same, from the log alone."""
    words = replay(events.answers(), events.class_changes())
    labels = labels_of(words.latest.values(), 0)
    counts = {number: count for number, count in enumerate(labels.counts(9)) if count}
    return words.latest, words.of_person, counts, len(labels.skipped)


words = st.tuples(
    st.integers(0, 3), st.sampled_from(["label", "skip", "unskip"]), st.integers(0, 2), st.sampled_from("ab")
)
merges = st.tuples(st.just("merge"), st.sampled_from("xyz"), st.sampled_from("xyz"))
steps = st.lists(st.one_of(st.lists(words, max_size=4), merges), max_size=8)


def said(word: tuple[int, str, int, str]) -> Said:
    row, kind, label, by = word
    return Said(row, kind, label if kind == "label" else None, by)  # type: ignore[arg-type]


@pytest.mark.parametrize("database", DATABASES)
@settings(max_examples=80, deadline=None)
@given(steps=steps)
def test_tables_say_what_the_log_says(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database: str, steps: list[object]
) -> None:
    events = SQLEvents(place_in(database, tmp_path_factory.mktemp("log"), request), create=True)
    events.declare_classes(["x", "y", "z"], "start")
    for step in steps:
        if isinstance(step, tuple):
            known = set(events.classes().values())
            if step[1] != step[2] and {step[1], step[2]} <= known:
                events.merge_classes(step[1], step[2], "a")
        else:
            events.tell([said(word) for word in step])  # type: ignore[attr-defined]
        assert derived(events) == replayed(events)
    labels = events.labels()
    assert labels == events.labels(until=labels.last_answer)
    assert labels.last_answer == len(events.answers())
    events.close()


@given(st.lists(words, max_size=12))
def test_the_last_word_on_a_row_counts(entries: list[tuple[int, str, int, str]]) -> None:
    """By the words alone: an unskip ends a skip and does nothing to a label."""
    words = Words()
    for number, entry in enumerate(entries, 1):
        words.take(said(entry), number)
    for row in range(4):
        standing: object = None
        for entry in entries:
            if entry[0] == row and entry[1] == "unskip":
                standing = None if standing == "skip" else standing
            elif entry[0] == row:
                standing = entry[2] if entry[1] == "label" else "skip"
        found = words.latest.get(row)
        assert standing == (None if found is None else found.label if found.kind == "label" else "skip")


def test_what_was_told_is_new_repeated_changed_or_skipped(events: SQLEvents) -> None:
    told = events.tell([Said(0, "label", 1, "a"), Said(1, "skip", None, "a"), Said(0, "label", 1, "a")])
    assert (told.new, told.repeated, told.changed, told.skipped) == (1, 1, (), 1)
    told = events.tell([Said(0, "label", 2, "b"), Said(1, "label", 0, "b"), Said(2, "unskip", None, "b")])
    assert (told.new, told.repeated, told.changed, told.skipped) == (1, 1, (0,), 0)
    assert [answer.number for answer in events.answers()] == [1, 2, 3, 4]


def test_the_last_word_of_every_person_is_kept(events: SQLEvents) -> None:
    for label, by in ((1, "a"), (2, "b"), (2, "c"), (1, "a")):
        events.tell([Said(7, "label", label, by)])
    assert events.words(7) == [
        Word(7, 2, "label", 2, "b"),
        Word(7, 3, "label", 2, "c"),  # repeats b, and is remembered
        Word(7, 4, "label", 1, "a"),
    ]
    assert events.latest() == [Word(7, 4, "label", 1, "a")]
    assert events.tell([Said(7, "label", 1, "a")]).repeated == 1
    assert len(events.answers()) == 4


def test_who_repeats_a_word_does_not_take_it_over(events: SQLEvents) -> None:
    events.tell([Said(0, "label", 1, "a")])
    assert events.tell([Said(0, "label", 1, "b")]).repeated == 1
    assert events.latest() == [Word(0, 1, "label", 1, "a")]
    assert [word.by for word in events.words(0)] == ["a", "b"]


def test_answers_say_who_when_how_long_and_in_which_round(events: SQLEvents) -> None:
    events.tell([Said(0, "label", 1, "a", 2.5)])
    events.commit(RoundFacts(0, 1, 1, (1,), Metrics()))
    events.tell([Said(1, "skip", None, "b")])
    first, second = events.answers()
    assert (first.by, first.seconds, first.round, second.seconds, second.round) == ("a", 2.5, 0, None, 1)
    assert first.at <= second.at and first.at.endswith("Z")


def test_two_people_are_never_both_the_first(events: SQLEvents, place: Place) -> None:
    """Decided from what stands in the transaction, not from what was read before it."""
    other = SQLEvents(place)
    gate, told = threading.Barrier(2), []

    def tell(store: SQLEvents, by: str) -> None:
        for row in range(100):
            gate.wait()
            told.append(store.tell([Said(row, "label", 0, by)]))

    threads = [threading.Thread(target=tell, args=(store, by)) for store, by in ((events, "a"), (other, "b"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(each.new for each in told) == 100 and sum(each.repeated for each in told) == 100


def test_answers_are_one_transaction(events: SQLEvents) -> None:
    with pytest.raises(RunFolderError):
        events.tell([Said(1, "label", 0, "a"), Said(2, None, 0, "a")])  # type: ignore[arg-type]
    assert events.answers() == [] and events.latest() == [] and events.counts().labelled == 0


@ON_SQLITE
def test_a_full_disk_is_one_sentence_and_loses_nothing(events: SQLEvents) -> None:
    events.tell([Said(1, "label", 0, "a")])
    with events._connections.alone() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError, match="disk is full"):
        events.tell([Said(row, "label", 0, "a" * 1000) for row in range(100)])
    assert [answer.row for answer in events.answers()] == [1]


def test_open_questions_are_those_of_the_next_round_without_a_word(events: SQLEvents) -> None:
    def ask(round: int, rows: list[int]) -> Selection:
        return Selection(round, [QuestionRow(round, row, 0, 0.5) for row in rows])

    events.commit(selection=ask(0, [5, 3, 1]))
    events.tell([Said(3, "label", 0, "a")])
    assert [question.row for question in events.open_questions()] == [5, 1]
    events.commit(RoundFacts(0, 1, 1, (1,), Metrics()), ask(1, [9, 1]))
    assert events.open_questions() == [QuestionRow(1, 9, 0, 0.5), QuestionRow(1, 1, 0, 0.5)]
    assert [question.row for question in events.questions(0)] == [5, 3, 1]
    assert (events.round_count(), events.selection_count(), len(events.questions())) == (1, 2, 5)
    events.tell([Said(9, "skip", None, "a"), Said(1, "skip", None, "a")])
    events.tell([Said(1, "unskip", None, "b")])
    assert [question.row for question in events.open_questions()] == [1]


def test_a_leased_question_is_nobody_elses_until_it_is_answered_released_or_late(
    events: SQLEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(sql.time, "time", lambda: now[0])
    questions = [QuestionRow(0, row, None, None) for row in range(6)]
    events.commit(selection=Selection(0, questions))

    def lease(by: str, count: int | None = 2) -> list[int]:
        return [question.row for question in events.lease_questions(by, count, 60.0)]

    assert (lease("a"), lease("b"), lease("a")) == ([0, 1], [2, 3], [0, 1])
    assert lease("c", None) == [4, 5] and lease("d") == []
    assert [question.row for question in events.open_questions()] == [0, 1, 2, 3, 4, 5]
    events.tell([Said(0, "label", 0, "a"), Said(2, "label", 0, "a")])
    assert [lease.row for lease in events.leases() if lease.by == "a"] == [1]
    events.release([1, 4], "a")  # 4 is c's
    assert lease("d") == [1]
    assert [(lease.row, lease.by) for lease in events.leases()] == [(1, "d"), (2, "b"), (3, "b"), (4, "c"), (5, "c")]
    assert events.lease([0, 1, 9], "e", 60.0) == [0, 9]  # any rows, whether they are asked about or not
    events.release([0, 9], "e")
    now[0] += 59
    assert lease("e") == []
    now[0] += 2
    assert events.leases() == [] and lease("e") == [1, 3]


def test_no_two_threads_lease_one_question(events: SQLEvents) -> None:
    events.commit(selection=Selection(0, [QuestionRow(0, row, None, None) for row in range(200)]))
    got: list[int] = []

    def work(by: str) -> None:
        while found := events.lease_questions(by, 3, 60.0):
            got.extend(question.row for question in found)
            events.tell([Said(question.row, "label", 0, by) for question in found])

    threads = [threading.Thread(target=work, args=(f"person {number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == list(range(200))


def test_classes_are_added_renamed_and_merged(events: SQLEvents) -> None:
    events.declare_classes(["praise", "complaint"], "start")
    events.declare_classes(["other"], "again")  # known already
    assert events.add_class("question", "a") == 2
    events.tell([Said(0, "label", 0, "a"), Said(1, "label", 2, "a"), Said(2, "label", 1, "b")])
    events.rename_class("question", "request", "a")
    assert events.classes() == {0: "praise", 1: "complaint", 2: "request"}
    events.merge_classes("request", "complaint", "b")
    assert events.classes() == {0: "praise", 1: "complaint"}
    assert events.labels().of_row == {0: 0, 1: 1, 2: 1} and events.counts().of_class == {0: 1, 1: 2}
    assert events.answers()[1].label == 2  # the log stays as it was
    told = events.tell([Said(1, "label", 2, "a"), Said(3, "label", 2, "c")])  # whoever has not heard of it yet
    assert (told.repeated, told.new) == (1, 1) and events.labels().of_row[3] == 1
    events.merge_classes("complaint", "praise", "b")
    assert set(events.labels().of_row.values()) == {0}
    assert events.add_class("request", "b") == 3  # a name is free again, a number never
    assert [change.kind for change in events.class_changes()] == [*["add"] * 3, "rename", "merge", "merge", "add"]
    assert derived(events) == replayed(events)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda events: events.add_class("praise", "a"), "there is already a class 'praise'"),
        (lambda events: events.add_class(" ", "a"), "a class needs a name"),
        (lambda events: events.rename_class("prase", "x", "a"), "did you mean 'praise'"),
        (lambda events: events.rename_class("praise", "complaint", "a"), "there is already a class 'complaint'"),
        (lambda events: events.merge_classes("praise", "praise", "a"), "cannot be merged into itself"),
        (lambda events: events.merge_classes("praise", "x", "a"), "unknown label 'x'"),
    ],
)
def test_impossible_changes_of_classes_change_nothing(events: SQLEvents, change, sentence: str) -> None:
    events.declare_classes(["praise", "complaint"], "start")
    before = events.class_changes()
    with pytest.raises(DataError, match=sentence):
        change(events)
    assert events.class_changes() == before and list(events.classes().values()) == ["praise", "complaint"]


def test_a_forked_process_opens_its_own_connection(events: SQLEvents) -> None:
    events.tell([Said(0, "label", 0, "parent")])
    inherited = set(map(id, events._connections._idle))
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            events.tell([Said(1, "label", 0, "child")])
            own = set(map(id, events._connections._idle))
            os.write(writer, b"own" if own and not own & inherited else b"shared")
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    assert os.read(reader, 10) == b"own"
    events.tell([Said(2, "label", 0, "parent")])
    assert [answer.by for answer in events.answers()] == ["parent", "child", "parent"]


def test_a_closed_store_says_so(events: SQLEvents) -> None:
    events.close()
    with pytest.raises(RunFolderError, match="is closed: open it again"):
        events.answers()


def test_a_reader_sees_one_state(events: SQLEvents) -> None:
    with events._connections.reading() as connection:
        before = connection.execute("SELECT count(*) FROM answers").fetchone()
        events.tell([Said(0, "label", 0, "a")])
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == before == (0,)
    assert len(events.answers()) == 1


@pytest.mark.parametrize("content", [b"", b"not a database, certainly not one of SQLite" * 100])
def test_what_is_no_database_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.db").write_bytes(content)
    with pytest.raises(RunFolderError, match="damaged or not a run's database"):
        SQLEvents(tmp_path / "run.db")
    assert (tmp_path / "run.db").read_bytes() == content
    with pytest.raises(RunFolderError, match=r"other\.db is missing"):
        SQLEvents(tmp_path / "other.db")


@ON_SQLITE
def test_a_newer_version_is_left_alone(events: SQLEvents, tmp_path: Path) -> None:
    events.close()
    with sqlite3.connect(tmp_path / "run.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    for readonly in (False, True):
        with pytest.raises(RunFolderError, match="newer version of actune: upgrade actune"):
            SQLEvents(tmp_path / "run.db", readonly=readonly)


@pytest.mark.parametrize("database", DATABASES)
def test_thousands_of_classes_are_declared_at_once(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database: str
) -> None:
    """Each class is an event of its own, and the table of classes is written once and not ten thousand times."""
    events = SQLEvents(place_in(database, tmp_path_factory.mktemp("log"), request), create=True)
    names = [f"class {number}" for number in range(10_000)]
    events.declare_classes(names, "start")
    assert list(events.classes().values()) == names
    assert events.class_change_count() == len(names)
    with pytest.raises(DataError, match="already a class 'class 7'"):
        events.add_class("class 7", "a")
    events.close()


@pytest.mark.parametrize("database", DATABASES)
def test_a_class_that_is_declared_twice_is_refused_and_none_is_kept(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database: str
) -> None:
    events = SQLEvents(place_in(database, tmp_path_factory.mktemp("log"), request), create=True)
    with pytest.raises(DataError, match="already a class 'b'"):
        events.declare_classes(["a", "b", "b"], "start")
    assert events.classes() == {} and events.class_change_count() == 0
    events.close()
