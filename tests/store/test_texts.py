"""Texts in files: they count with their commit, ids find rows, and nothing disturbs whoever has mapped them."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import actune
from actune.core import strings
from actune.core.files import locked
from actune.core.pool import Pool, pool_of
from actune.errors import DataError, RunFolderError, StorageError
from actune.store import texts as module
from actune.store.records import Said
from actune.store.store import Store
from actune.store.texts import ADDING

ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with Store.creating(tmp_path / "run") as store:
        store.add_texts("pool", named("ab"))
        store.seal("format = 1\n")
    return store


def named(ids: str | list[str]) -> Pool:
    return pool_of([f"text of {id}" for id in ids], ids=list(ids))


def files(store: Store) -> list[str]:
    return sorted(path.name for path in (store.folder / "texts").glob("*.arrow"))


def test_texts_and_their_answers_come_together(store: Store) -> None:
    assert store.add_texts("pool", named("cd"), [Said(1, "label", 1, "file")]) == 2
    assert store.add_texts("test", pool_of(["x", "y"], ["no", "yes"])) == 0
    assert store.texts("pool").texts == [f"text of {id}" for id in "abcd"]
    assert store.texts("test", ("no", "yes")) == pool_of(["x", "y"], ["no", "yes"])
    for first in range(5):
        assert store.texts("pool", first=first).ids == list("abcd")[first:]
    assert store.labels().of_row == {3: 1} and store.text_count("pool") == 4
    assert files(store) == ["pool-000.arrow", "pool-001.arrow", "test-000.arrow"]


def test_ids_that_are_taken_are_refused_and_leave_nothing(store: Store) -> None:
    with pytest.raises(DataError, match=r"2 of the new ids are already in the pool \(the first is 'b'"):
        store.add_texts("pool", named("cba"), [Said(0, "label", 1, "file")])
    assert store.text_count("pool") == 2 and not store.answers() and files(store) == ["pool-000.arrow"]
    twice = named("xy")
    with pytest.raises(DataError, match="occur more than once"):
        store.add_texts("pool", twice.extended(twice))
    assert store.rows_of("pool", list("abcxy")) == [0, 1, None, None, None]


def test_a_full_disk_is_one_sentence_and_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: Path, *columns: object) -> None:
        file.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_columns", full)
    with pytest.raises(StorageError, match="the disk is full"):
        store.add_texts("pool", named("c"))
    assert files(store) == ["pool-000.arrow"] and store.text_count("pool") == 2


ids = st.one_of(st.integers(0, 12).map(str), st.sampled_from(["a", "007", "٣", "²", "-1", "1e3", "9" * 30, "x\0y"]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(ids, min_size=1, max_size=5, unique=True), max_size=5))
def test_an_id_finds_its_row(tmp_path_factory: pytest.TempPathFactory, batches: list[list[str]]) -> None:
    rows: dict[str, int] = {}
    with Store.creating(tmp_path_factory.mktemp("ids") / "run") as store:
        for batch in batches:
            if taken := [id for id in batch if id in rows]:
                with pytest.raises(DataError, match=f"{len(taken)} of the new ids are already in the pool"):
                    store.add_texts("pool", named(batch))
            else:
                store.add_texts("pool", named(batch))
                rows |= {id: len(rows) + place for place, id in enumerate(batch)}
        wanted = [*map(str, range(15)), *rows, "007", "٣", "²", "-1", "9" * 30, "", "\ud800", 3]
        assert store.rows_of("pool", wanted) == [rows.get(id) for id in wanted[:-1]] + [None]  # type: ignore[arg-type]
        assert store.rows_of("test", list(rows)) == [None] * len(rows)
        store.close()


def test_ids_that_are_row_numbers_take_no_room(store: Store) -> None:
    for first in (2, 5):
        store.add_texts("pool", named([str(row) for row in range(first, first + 3)]))
    with store._connections.reading() as connection:
        assert connection.execute("SELECT id FROM ids").fetchall() == [("a",), ("b",)]
    assert store.rows_of("pool", ["7", "2", "8", "b", "1"]) == [7, 2, None, 1, None]
    with pytest.raises(DataError, match="the first is '4'"):
        store.add_texts("pool", named(["x", "4"]))


KILLED = """
import os, signal, sys
from pathlib import Path
from actune.store.store import Store
from tests.store.test_texts import named
store = Store.open(Path(sys.argv[1]))
store.add_chunk = lambda *words: os.kill(os.getpid(), signal.SIGKILL)
store.add_texts("pool", named("cd"))
"""


@pytest.mark.parametrize("cleaner", ["add", "advance"])
def test_a_file_that_never_counted_is_removed(store: Store, cleaner: str) -> None:
    command = [sys.executable, "-c", KILLED, str(store.folder)]
    assert subprocess.run(command, cwd=ROOT).returncode == -signal.SIGKILL
    assert files(store) == ["pool-000.arrow", "pool-001.arrow"] and store.texts("pool").ids == ["a", "b"]
    if cleaner == "add":
        store.add_texts("test", named("t"))
    else:
        with store.advancing():
            pass
    assert "pool-001.arrow" not in files(store)
    assert store.add_texts("pool", named("xyz")) == 2
    assert store.texts("pool").ids == list("abxyz")


def test_a_file_that_another_process_is_about_to_add_is_left_alone(store: Store) -> None:
    (store.folder / "texts" / "pool-001.arrow").touch()
    with locked(store.folder / "texts", "adding texts to", name=ADDING), store.advancing():
        assert files(store) == ["pool-000.arrow", "pool-001.arrow"]
    with store.advancing():
        assert files(store) == ["pool-000.arrow"]


ADDER = """
import sys
from pathlib import Path
from actune.store.store import Store
from tests.store.test_texts import named
with Store.open(Path(sys.argv[1])) as store:
    for number in range(5):
        store.add_texts("pool", named([f"{sys.argv[2]} {number} {id}" for id in "abc"]))
"""


def test_threads_and_processes_add_at_once_while_others_advance(store: Store) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", ADDER, str(store.folder), str(n)], cwd=ROOT) for n in range(2)]

    def add(name: int) -> None:
        for number in range(5):
            store.add_texts("pool", named([f"{name} {number} {id}" for id in "abc"]))

    threads = [threading.Thread(target=add, args=(name,)) for name in (2, 3)]
    for thread in threads:
        thread.start()
    while any(process.poll() is None for process in processes):
        with store.advancing():
            pass
    for thread in threads:
        thread.join()
    assert [process.returncode for process in processes] == [0, 0]
    pool = store.texts("pool")
    assert len(pool) == 62 == len(set(pool.ids)) and pool.texts == [f"text of {id}" for id in pool.ids]
    assert store.rows_of("pool", pool.ids) == list(range(62))


def test_a_run_may_be_moved_and_copied(store: Store, tmp_path: Path) -> None:
    store.close()
    copy = Path(shutil.copytree(store.folder, tmp_path / "copy"))
    moved = store.folder.rename(tmp_path / "moved")
    for folder in (copy, moved):
        with Store.open(folder) as opened:
            assert opened.texts("pool") == named("ab")


def test_what_is_mapped_outlives_appends_and_forgetting(store: Store) -> None:
    before = store.texts("pool")
    store.add_texts("pool", named("c"))
    assert before == named("ab")
    store.forget_texts()
    assert before == named("ab") and store.text_count("pool") == 0 and len(store.texts("pool")) == 0
    assert not (store.folder / "texts").exists() and store.rows_of("pool", ["a"]) == [None]
    assert store.add_texts("pool", named("z")) == 0 and store.texts("pool").ids == ["z"]


def test_a_lost_file_is_one_sentence(store: Store) -> None:
    (store.folder / "texts" / "pool-000.arrow").unlink()
    with pytest.raises(RunFolderError, match=r"pool-000\.arrow' is missing or incomplete"):
        store.texts("pool")


def test_ask_and_tell_look_at_no_other_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of([f"text {row}" for row in range(40)], ids=[f"id {row}" for row in range(40)], classes=("x", "y"))
    plan = {"method": "random", "learner": "probe", "first": "random", "device": "cpu", "initial": 5, "batch": 5}
    actune.create(tmp_path / "project", pool, **plan).close()

    def refuse(whole: object, *words: object) -> None:
        raise AssertionError("all texts or all ids are read")

    blocks = strings.Strings.blocks
    monkeypatch.setattr(strings.Strings, "blocks", lambda some: blocks(some) if len(some) < 40 else refuse(some))
    monkeypatch.setattr(strings.Strings, "rows_of", refuse)
    monkeypatch.setattr(strings.Rows, "_order", property(refuse))
    with actune.open_session(tmp_path / "project") as session:
        questions = session.ask()
        assert [question.text for question in questions] == [f"text {question.id[3:]}" for question in questions]
        assert session.tell({questions[0].id: "x"}).new == 1
        session.add(pool_of(["one more"], ids=["new"], classes=("x", "y")))
        assert session.tell({"new": "y"}).new == 1 and session.pool.texts[40] == "one more"
