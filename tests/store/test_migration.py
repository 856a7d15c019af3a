"""Run folders of earlier versions: brought up to date with a copy beside, or read as they are."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import actune
from actune.core.facts import Metrics, RoundFacts
from actune.core.pool import pool_of
from actune.errors import DataError
from actune.store import schema
from actune.store.records import ModelRow, Said
from actune.store.store import Store, newest_model_in
from tests.store.test_folder import AS_ANYBODY

HERE = Path(__file__).parent
OLD = HERE / "v1"  # made by actune 0.1.0 with tables of the first version
SECOND = HERE / "v2"  # the same, brought up to the second version by the code of that time
THIRD = HERE / "v3"  # the same again
FOURTH = HERE / "v4"  # and again
EXPECTED = json.loads((OLD / "expected.json").read_text())  # what the first version said about it
CELLS = HERE / "cells"  # of published grids, with the three forms that the facts of a round have had


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return shutil.copytree(OLD, tmp_path / "old")


def model(folder: Path, name: str, fitted: int, text: str = "") -> None:
    (folder / name).mkdir()
    (folder / name / "round").write_text(str(fitted))
    (folder / name / "probe.json").write_text(text or name)


def check(store: Store) -> None:
    labels = store.labels()
    assert [list(item) for item in labels.of_row.items()] == EXPECTED["labels"]
    assert (sorted(labels.skipped), labels.last_answer) == (EXPECTED["skipped"], EXPECTED["last_answer"])
    answers = [[a.number, a.row, a.kind, a.label, a.by, a.at] for a in store.answers()]
    assert answers == EXPECTED["answers"]
    ids = store.texts("pool").ids
    assert [ids[question.row] for question in store.open_questions()] == EXPECTED["open"]
    assert store.rounds() == [RoundFacts.from_json(facts) for facts in EXPECTED["rounds"]]
    seen = EXPECTED["rounds"][0]["answers_seen"]
    assert [answer.round for answer in store.answers()] == [int(a.number > seen) for a in store.answers()]
    assert store.counts().labelled == len(labels.of_row) and store.counts().skipped == len(labels.skipped)
    assert {word.by for row in labels.of_row for word in store.words(row)} == {"ann", "ben"}
    assert store.labels(until=seen).of_row != labels.of_row


def version(file: Path) -> int:
    connection = sqlite3.connect(file)
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    finally:
        connection.close()


@pytest.mark.parametrize("made_by", [1, 2, 3, 4])
def test_an_old_folder_is_brought_up_to_date_and_leaves_a_copy(tmp_path: Path, made_by: int) -> None:
    old = shutil.copytree(HERE / f"v{made_by}", tmp_path / "old")
    assert version(old / "run.db") == made_by
    store = Store.open(old)
    check(store)
    assert store.tell([Said(0, "label", 1, "cleo", 3.0)]).new == 1
    store.close()
    assert version(old / "run.db") == schema.VERSION and version(old / f"run.db.v{made_by}.bak") == made_by
    copy = sqlite3.connect(old / f"run.db.v{made_by}.bak")
    assert copy.execute("SELECT count(*) FROM answers").fetchone() == (len(EXPECTED["answers"]),)
    copy.close()
    again = Store.open(old)
    assert len(again.answers()) == len(EXPECTED["answers"]) + 1


@pytest.mark.parametrize("made_by", [1, 2, 3, 4])
def test_a_folder_that_is_only_looked_at_stays_as_it_was(tmp_path: Path, made_by: int) -> None:
    old = shutil.copytree(HERE / f"v{made_by}", tmp_path / "old")
    before = {path: path.read_bytes() for path in old.rglob("*") if path.is_file()}
    with Store.reading(old) as store:
        check(store)
        assert version(old / "run.db") == made_by
    assert {path: path.read_bytes() for path in old.rglob("*") if path.is_file()} == before


CHECK = """
import sys
from pathlib import Path
from actune.store.store import Store
from tests.store.test_migration import check
with Store.open(Path(sys.argv[1])) as store:
    check(store)
"""


def test_an_old_folder_that_cannot_be_written_can_be_read(old: Path) -> None:
    for path in (*old.iterdir(), old):
        path.chmod(path.stat().st_mode & 0o555)
    try:
        subprocess.run([sys.executable, "-c", AS_ANYBODY, CHECK, str(old)], check=True, cwd=OLD.parents[2])
    finally:
        for path in (old, *old.iterdir()):
            path.chmod(path.stat().st_mode | 0o200)
    assert version(old / "run.db") == 1 and not (old / "run.db.v1.bak").exists()


def test_a_migration_that_fails_changes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*words: Any) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(schema, "write_words", fail)
        Store.open(old)
    assert version(old / "run.db") == 1
    check(Store.open(old))


def test_two_who_open_an_old_folder_at_once_migrate_it_once(old: Path) -> None:
    found: list[Store] = []
    threads = [threading.Thread(target=lambda: found.append(Store.open(old))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for store in found:
        check(store)
    assert version(old / "run.db.v1.bak") == 1


def set_final(folder: Path, fitted: int) -> None:
    with sqlite3.connect(folder / "run.db") as connection:
        connection.execute("INSERT INTO facts VALUES ('final', ?)", (json.dumps({"round": fitted}),))


def one(folder: Path) -> None:
    model(folder, "model", 1)


def killed_before_adoption(folder: Path) -> None:
    model(folder, "model", 0, "old")
    model(folder, "model.new", 1)


def killed_before_commit(folder: Path) -> None:
    model(folder, "model", 1)
    model(folder, "model.new", 2, "never was")


def finished(folder: Path) -> None:
    model(folder, "probe", 1)
    model(folder, "model", 1)
    set_final(folder, 1)


def advanced_after_the_end(folder: Path) -> None:
    model(folder, "probe", 1)
    model(folder, "model", 0, "old")
    set_final(folder, 0)


@pytest.mark.parametrize(
    ("make", "newest"),
    [
        (one, "model"),
        (killed_before_adoption, "model.new"),
        (killed_before_commit, "model"),
        (finished, "model"),
        (advanced_after_the_end, "model"),
    ],
)
def test_old_models_are_found(old: Path, make: Callable[[Path], None], newest: str) -> None:
    make(old)
    assert newest_model_in(old) == old / newest and version(old / "run.db") == 1
    store = Store.open(old)
    assert store.newest_model() == old / newest
    assert (old / newest / "probe.json").read_text() == ("old" if make is advanced_after_the_end else newest)
    with store.advancing(), store.new_model(1, "round") as (row, place):
        (place / "probe.json").write_text("new")
    store.commit(RoundFacts(1, 0, 0, (), Metrics()), model=row)
    assert row == ModelRow("models/001", 1, "round")
    is_final = make in (finished, advanced_after_the_end)  # which stays in use
    assert newest_model_in(old) == (old / newest if is_final else old / "models" / "001")
    Store.open(old).close()
    linked = (old / "model" / "probe.json").read_text()
    assert linked == ("old" if make is advanced_after_the_end else newest if is_final else "new")
    with store.advancing():
        left = {path.name for path in old.iterdir() if path.is_dir()} - {"arrays", "models"}
    # all that is left of the old names is the link
    assert left <= {"model"} and (old / "model" / "probe.json").read_text() == linked


def test_an_old_project_goes_on(old: Path) -> None:
    with actune.open_session(old) as session:
        assert [question.id for question in session.ask()] == EXPECTED["open"]
        session.tell(dict.fromkeys(EXPECTED["open"], session.pool.classes[0]))
        assert session.advance().round == 1
        assert len(session.predict(["who wrote it ?"])) == 1


@pytest.mark.parametrize("made_by", [OLD, SECOND, THIRD])
def test_texts_that_are_added_to_an_old_project_lie_behind_its_own(tmp_path: Path, made_by: Path) -> None:
    folder = shutil.copytree(made_by, tmp_path / "old")
    with actune.open_session(folder) as session:
        count, before = len(session.pool), session.pool
        with pytest.raises(
            DataError, match=rf"1 of the new ids are already in the pool \(the first is '{before.ids[7]}"
        ):
            session.add(pool_of(["a", "b"], ids=["new-0", before.ids[7]]))
        assert not list((folder / "texts").glob("*.arrow"))
        session.add(pool_of(["who ?", "what ?"], [None, before.classes[1]], ["new-0", "new-1"], before.classes))
        assert session.tell({"new-0": before.classes[0], before.ids[7]: before.classes[1]}).new == 2
    with actune.open_session(folder) as session:
        assert session.pool.after(count).texts == ["who ?", "what ?"] and session.pool.texts[:count] == before.texts
        assert session.labels().of_row.items() >= {count: 0, count + 1: 1, 7: 1}.items()
        assert session.store.texts("pool", first=count - 1).ids == [before.ids[count - 1], "new-0", "new-1"]


def test_cells_that_were_once_published_can_still_be_read() -> None:
    files = sorted(CELLS.glob("*/run.db"))
    assert len(files) == 3
    for file in files:
        before = hashlib.sha256(file.read_bytes()).hexdigest()
        with Store.reading(file.parent) as store:
            assert store.round_count() == len(store.rounds()) > 0
            assert len(store.labels().of_row) == store.rounds()[-1].labels
            assert store.fact("finished")
        assert hashlib.sha256(file.read_bytes()).hexdigest() == before
        assert {path.name for path in file.parent.iterdir()} <= {"run.db", "run.toml", "arrays", "advance.lock"}
