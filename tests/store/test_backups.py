"""Rolling copies of the database: when they are made, which are kept, and what `repair` takes from them."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import actune
from actune.core.places import PRIVATE_FILE
from actune.errors import RunFolderError, StorageError
from actune.session.repairing import repair
from actune.session.verifying import problems_in
from actune.store.backups import APART, DAYS, FOLDER, NEWEST, STAMP, back_up_at_times, backups_in, too_old
from actune.store.connections import sentences
from actune.store.records import Said
from actune.store.store import DATABASE, Store
from tests.cli.conftest import done, write
from tests.models.tiny import save_tiny


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with 12 answers, one round and a backup from before it."""
    texts = [[f"id-{row}", f"who wrote book number {row} ?"] for row in range(40)]
    file = write(tmp_path / "texts.csv", ["id", "text"], texts)
    words = ["--learner", "probe", "--initial", 6, "--batch", 4, "--model", save_tiny(tmp_path / "encoder")]
    done("start", file, "--labels", "a,b", *words, "--set", "steps=4", "--out", tmp_path / "p")
    rows = [[f"id-{row}", "ab"[row % 2]] for row in range(12)]
    done("tell", tmp_path / "p", write(tmp_path / "first.csv", ["id", "label"], rows))
    done("advance", tmp_path / "p")
    return tmp_path / "p"


def aged(backup: Path, by: timedelta) -> Path:
    """A backup as if it were older."""
    return backup.replace(backup.with_name((datetime.now(UTC) - by).strftime(STAMP)))


def test_a_round_leaves_one_private_copy_of_all_answers(project: Path) -> None:
    (backup,) = backups_in(project)
    assert backup.stat().st_mode & 0o777 == PRIVATE_FILE
    database = sqlite3.connect(backup)
    assert database.execute("SELECT count(*) FROM answers").fetchone() == (12,)
    database.close()
    with Store.open(project) as store:
        assert back_up_at_times(store) is None  # the last one is some seconds old
        aged(backup, APART + timedelta(seconds=5))
        assert back_up_at_times(store) == backups_in(project)[0]
    assert len(backups_in(project)) == 2
    assert problems_in(project) == []


def test_the_newest_copies_are_kept_and_the_last_one_of_each_day() -> None:
    start = datetime(2026, 3, 1, 23, 50, tzinfo=UTC)
    made = [Path((start + timedelta(hours=6 * number)).strftime(STAMP)) for number in range(60)]
    kept = [file for file in reversed(made) if file not in too_old(made[::-1])]
    assert kept[:NEWEST] == made[-1 : -NEWEST - 1 : -1]
    days = [file.name[4:12] for file in kept]
    assert len(set(days)) == DAYS
    assert all(file == max(each for each in made if each.name[4:12] == file.name[4:12]) for file in kept[NEWEST:])
    assert too_old(made[:NEWEST][::-1]) == []


def test_a_database_that_ends_too_early_is_a_damaged_one_wherever_it_ends(project: Path) -> None:
    whole = (project / DATABASE).read_bytes()
    for end in ("-wal", "-shm"):
        (project / DATABASE).with_name(DATABASE + end).unlink(missing_ok=True)
    for size in range(100, len(whole), 1_003):
        (project / DATABASE).write_bytes(whole[:size])
        assert problems_in(project), size
        with pytest.raises(RunFolderError, match="damaged"), Store.reading(project) as store:
            store.check_log()


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("SQLITE_IOERR_SHORT_READ", RunFolderError, "is damaged .*it ends too early"),
        ("SQLITE_IOERR_READ", StorageError, "the disk failed"),
    ],
)
def test_a_file_that_is_too_short_is_damaged_and_no_failing_disk(
    tmp_path: Path, name: str, kind: type[Exception], sentence: str
) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = name
    with pytest.raises(kind, match=sentence), sentences(tmp_path / DATABASE):
        raise error


def test_names_that_are_no_backups_are_left_alone(project: Path) -> None:
    for name in ("notes.txt", "run-1.db", "run-20269999T000000Z.db"):
        (project / FOLDER / name).write_text("kept")
    (project / FOLDER / "run-20990101T000000Z.db").symlink_to(project / DATABASE)
    with Store.open(project) as store:
        assert back_up_at_times(store) is not None  # a name with an impossible day counts as an old copy
    assert {"notes.txt", "run-1.db", "run-20990101T000000Z.db"} <= {file.name for file in (project / FOLDER).iterdir()}
    assert "run-20990101T000000Z.db" not in {file.name for file in backups_in(project)}


@pytest.mark.parametrize("loss", ["gone", "overwritten", "cut"])
def test_a_lost_database_comes_back_from_the_newest_sound_copy(project: Path, loss: str) -> None:
    with Store.open(project) as store:
        before = store.labels().of_row, store.class_changes(), store.text_count("pool")
        newest = aged(backups_in(project)[0], timedelta(hours=1))
        back_up_at_times(store)
    (project / FOLDER / datetime.now(UTC).strftime("run-%Y1231T235959Z.db")).write_bytes(b"no database")
    hollow = project / FOLDER / datetime.now(UTC).strftime("run-%Y1231T235958Z.db")
    hollow.write_bytes(b"")
    os.truncate(hollow, 2**42)  # a file of holes, larger than any disk
    database = project / DATABASE
    for end in ("-wal", "-shm"):
        database.with_name(database.name + end).unlink(missing_ok=True)
    if loss == "gone":
        database.unlink()
    elif loss == "overwritten":
        database.write_bytes(b"\0" * 5000)
    else:
        database.write_bytes(database.read_bytes()[:6000])
    found = repair(project)
    assert found.problems == (), found
    assert any("12 rows of the table answers came from the backup" in sentence for sentence in found.done)
    with Store.open(project) as store:
        store.check_log()
        assert (store.labels().of_row, store.class_changes(), store.text_count("pool")) == before
        assert store.round_count() == 1
    assert newest.is_file()
    done("predict", project, project.parent / "texts.csv", "--out", project.parent / "said.csv")
    with actune.open_session(project) as session:
        session.tell({question.id: "a" for question in session.ask()})
        assert session.advance() is not None


def test_answers_since_the_copy_are_kept_beside_its_rows(project: Path) -> None:
    """A damaged file still has newer rows: they and those of the copy make the whole log."""
    with Store.open(project) as store:
        store.tell([Said(row, "label", 0, by="anna") for row in range(20, 30)])
        labels = store.labels().of_row
    database = sqlite3.connect(project / DATABASE)
    database.execute("DELETE FROM answers WHERE number BETWEEN 3 AND 8")
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    with (project / DATABASE).open("r+b") as file:  # pages of a table that can be rebuilt
        place = _page_of(project / DATABASE, "counts")
        file.seek(place)
        file.write(b"\xff" * 60)
    found = repair(project)
    assert any("6 rows of the table answers came from the backup" in sentence for sentence in found.done), found
    with Store.open(project) as store:
        assert store.labels().of_row == labels
        assert len(store.answers()) == 22


def _page_of(file: Path, table: str) -> int:
    database = sqlite3.connect(file)
    (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    (size,) = database.execute("PRAGMA page_size").fetchone()
    database.close()
    return int((root - 1) * size)
