"""The run folder: made as a whole or not at all, read where it cannot be written, and its models kept by round."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from actune.core import files
from actune.core.facts import Metrics, QuestionRow, RoundFacts, Selection
from actune.core.pool import pool_of
from actune.errors import Busy, RunFolderError, StorageError
from actune.store.links import point, stands_for
from actune.store.records import Said
from actune.store.store import FILE, UNFINISHED, Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Store.creating(tmp_path / "run") as store:
        store.add_texts("pool", pool_of([f"text {row}" for row in range(10)]))
        store.commit(selection=Selection(0, [QuestionRow(0, row, None, None) for row in range(4)]))
        store.seal("format = 1\n")
    store.close()
    return tmp_path / "run"


def facts_of(round: int) -> RoundFacts:
    return RoundFacts(round, 0, 0, (), Metrics())


def test_a_creation_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Store.creating(tmp_path / "new"):
        raise ZeroDivisionError
    assert not (tmp_path / "new").exists()


def test_two_processes_cannot_make_one_run(tmp_path: Path) -> None:
    with (
        Store.creating(tmp_path / "new") as first,
        pytest.raises(Busy, match="another process is creating a run"),
        Store.creating(tmp_path / "new"),
    ):
        pass
    first.seal("format = 1\n")
    assert (tmp_path / "new" / FILE).read_text() == "format = 1\n"
    assert not (tmp_path / "new" / UNFINISHED).exists()


KILLED = """
import os, sqlite3, sys
from pathlib import Path
from actune.core.pool import pool_of
from actune.store.store import Store
with Store.creating(Path(sys.argv[1])) as store:
    store.add_texts("pool", pool_of(["b"], ids=["a"]))
    store.close()
    journal = sqlite3.connect(Path(sys.argv[1]) / "run.db", isolation_level=None)
    journal.execute("PRAGMA journal_mode = DELETE")
    journal.execute("PRAGMA cache_size = 1")
    journal.execute("BEGIN IMMEDIATE")
    journal.executemany("INSERT INTO facts VALUES (?, ?)", [(str(n), "x" * 1000) for n in range(100)])
    os.kill(os.getpid(), 9)
"""


def test_a_creation_that_was_killed_while_sqlite_held_its_journal_is_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert subprocess.run([sys.executable, "-c", KILLED, str(folder)]).returncode == -9
    assert {"run.db", "run.db-journal", "texts", UNFINISHED} <= {path.name for path in folder.iterdir()}
    with Store.creating(folder) as store:
        assert store.text_count("pool") == 0
        store.seal("format = 1\n")
    assert sorted(path.name for path in folder.iterdir() if "run.db-" not in path.name) == [
        "advance.lock",
        "run.db",
        "run.toml",
    ]


@pytest.mark.parametrize("name", ["report.html", "arrays", "run.db", "models", "texts"])
def test_what_lies_in_a_folder_that_is_no_run_is_never_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.txt").write_text("years of work")
    with (
        pytest.raises(RunFolderError, match=rf"is not empty and not a run folder \(it contains '{name}'\)"),
        Store.creating(tmp_path),
    ):
        pass
    assert (tmp_path / name / "thesis.txt").read_text() == "years of work"


def test_a_strange_file_beside_an_unfinished_run_is_never_removed(tmp_path: Path) -> None:
    (tmp_path / UNFINISHED).touch()
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(RunFolderError, match=r"it contains 'thesis\.txt'"), Store.creating(tmp_path):
        pass
    assert (tmp_path / "thesis.txt").exists()


def test_arrays_come_back_bit_by_bit(folder: Path) -> None:
    store = Store.open(folder)
    arrays = {"a": np.arange(6).reshape(2, 3).T, "b": np.float16([[0.1]]), "c": np.empty(0, np.int64)}
    store.save_arrays("x", arrays)
    for name, array in store.load_arrays("x").items():
        assert array.dtype == arrays[name].dtype and np.array_equal(array, arrays[name])
    assert store.array_names() == ["x"]
    store.drop_arrays("x")
    assert not store.has_arrays("x")
    with pytest.raises(RunFolderError, match=r"x\.safetensors is missing"):
        store.load_arrays("x")


def write_model(store: Store, round: int, kind: str = "round", text: str = "") -> object:
    with store.new_model(round, kind) as (model, place):  # type: ignore[arg-type]
        (place / "weights").write_text(text or f"{kind} {round}")
    return model


def newest(store: Store) -> str:
    """The newest model, as the store says and as the link says."""
    found = store.newest_model()
    assert found is not None
    assert (found / "weights").read_text() == (store.folder / "model" / "weights").read_text()
    return (found / "weights").read_text()


def test_a_model_counts_with_its_round_and_never_before(folder: Path) -> None:
    store = Store.open(folder)
    with store.advancing():
        store.commit(facts_of(0), model=write_model(store, 0))  # type: ignore[arg-type]
        store.point_to_newest()
    assert newest(store) == "round 0"
    with store.advancing():
        write_model(store, 1)  # killed here: the round was never committed
    assert newest(store) == "round 0"
    with store.advancing():
        assert [path.name for path in (folder / "models").iterdir()] == ["000"]
        store.commit(facts_of(1), model=write_model(store, 1))  # type: ignore[arg-type]
    # killed here: the link is old until somebody opens the run
    assert (folder / "model" / "weights").read_text() == "round 0"
    assert newest(Store.open(folder)) == "round 1"
    assert sorted(path.name for path in (folder / "models").iterdir()) == ["000", "001"]  # somebody may be reading
    with store.advancing():
        assert [path.name for path in (folder / "models").iterdir()] == ["001"]


def test_half_written_files_go_with_the_next_advance_and_reports_of_others_stay(folder: Path) -> None:
    store = Store.open(folder)
    store.save_arrays("x", {"a": np.zeros(1)})
    for name in ("arrays/.x.safetensors.12.tmp", ".model.12.tmp", ".report.html.12.tmp"):
        (folder / name).touch()
    with store.advancing():
        assert [path.name for path in folder.rglob("*.tmp")] == [".report.html.12.tmp"]


def test_a_final_model_stays_in_use_when_another_round_is_finished(folder: Path) -> None:
    store = Store.open(folder)
    for text in ("first", "second"):  # with more answers it may be made again
        store.commit(None if text == "second" else facts_of(0), model=write_model(store, 0))  # type: ignore[arg-type]
        store.commit(model=write_model(store, 1, "final", text), facts={"final": {"round": 1}})  # type: ignore[arg-type]
        store.point_to_newest()
        assert newest(store) == text
    store.commit(facts_of(1), model=write_model(store, 1))  # type: ignore[arg-type]
    store.point_to_newest()
    assert newest(store) == "second"
    with store.advancing():
        assert sorted(path.name for path in (folder / "models").iterdir()) == ["001", "001-final-2"]


def test_models_of_all_rounds_stay_where_that_is_wanted(folder: Path) -> None:
    store = Store.open(folder)
    for round in range(3):
        store.commit(facts_of(round), model=write_model(store, round), keep_models=True)  # type: ignore[arg-type]
    with store.advancing():
        assert sorted(path.name for path in (folder / "models").iterdir()) == ["000", "001", "002"]
    assert newest(store) == "round 2"


def test_a_run_that_the_disk_did_not_confirm_is_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """run.toml is in its place: to clear the rest away would leave a folder that needs a hand."""
    place = tmp_path / "new"
    sync = files.sync_folder

    def fails(folder: Path) -> None:
        if (folder / "run.toml").exists():
            raise OSError(errno.EIO, "Input/output error")
        sync(folder)

    monkeypatch.setattr(files, "sync_folder", fails)
    refusal = r"run\.toml' was written, but the disk did not confirm it"
    with pytest.raises(StorageError, match=refusal), Store.creating(place) as store:
        store.seal("configuration")
    monkeypatch.undo()
    Store.open(place).close()


def test_a_model_that_cannot_be_written_is_one_sentence(folder: Path) -> None:
    from safetensors import SafetensorError

    with pytest.raises(StorageError, match="free some space"), Store.open(folder).new_model(0, "round"):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")


def test_where_links_are_not_allowed_the_newest_model_is_a_copy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*words: object, **more: object) -> None:
        raise OSError("a required privilege is not held by the client")

    store = Store.open(folder)
    monkeypatch.setattr(Path, "symlink_to", refuse)
    for round in range(2):
        store.commit(facts_of(round), model=write_model(store, round))  # type: ignore[arg-type]
        store.point_to_newest()
        assert newest(store) == f"round {round}"
        assert not (folder / "model").is_symlink()
    monkeypatch.undo()
    assert stands_for(folder / "model") == "models/001"
    (folder / "models" / "001").rename(folder / "models" / "002")
    point(folder / "model", folder / "models" / "002")
    assert (folder / "model").is_symlink()


AS_ANYBODY = """
import ctypes, os, sys
if os.geteuid() == 0:  # even root must obey permissions: without the right to override them, after an exec
    for capability in (1, 2):
        assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0
os.execv(sys.executable, [sys.executable, "-c", sys.argv[1], *sys.argv[2:]])
"""
READ = """
import sys
from pathlib import Path
from actune.errors import StorageError
from actune.store.store import Store
store = Store.open(Path(sys.argv[1]))
print(store.texts("pool").texts[3], sorted(store.labels().of_row.items()), [q.row for q in store.open_questions()])
try:
    store.set_fact("a", 1)
except StorageError as error:
    print(error)
store.close()
"""


@pytest.mark.parametrize("state", ["closed", "in use", "killed"])
def test_a_run_that_cannot_be_written_can_be_read(folder: Path, tmp_path: Path, state: str) -> None:
    store = Store.open(folder)
    store.tell([Said(2, "label", 1, "a")])
    if state == "killed":  # the answer is in the log beside the database only, and the index of the log is lost
        left = tmp_path / "left"
        left.mkdir()
        for name in ("run.db", "run.db-wal", "run.toml"):
            (left / name).write_bytes((folder / name).read_bytes())
        shutil.copytree(folder / "texts", left / "texts")
        folder = left
    elif state == "closed":
        store.close()
    before = {path.name: path.stat().st_size for path in folder.iterdir()}
    for path in (*folder.iterdir(), folder):
        path.chmod(path.stat().st_mode & 0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", AS_ANYBODY, READ, str(folder)], capture_output=True, text=True, check=True
        )
    finally:
        for path in (folder, *folder.iterdir()):
            path.chmod(path.stat().st_mode | 0o200)
    first, second = done.stdout.splitlines()
    assert first == "text 3 [(2, 1)] [0, 1, 3]"
    assert second.endswith("run.db' cannot be written: check the folder's permissions")
    assert {path.name: path.stat().st_size for path in folder.iterdir()} == before
