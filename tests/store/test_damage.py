"""Run folders of others, and damaged ones of one's own: a sentence, no traceback, and nothing outside is touched."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import actune
from actune.errors import RunFolderError
from actune.session.labelled import human_rows
from actune.session.repairing import repair
from actune.session.verifying import problems_in, verify
from actune.store.records import Said
from actune.store.store import Store
from tests.cli.conftest import call, done, write
from tests.fuzz.folders import CLASSES, DAMAGES, damage, flipped, make_folder, sql
from tests.models.tiny import save_tiny

# every sixth kind, and all that once ended in a traceback or followed a path out of the folder
ALWAYS = "run.db with ids that are out of range"
KINDS = sorted(
    {ALWAYS, *sorted(DAMAGES)[::6], *(name for name in DAMAGES if "outside" in name or name.startswith("linked"))}
)
SHOWS = ("arrays with", "facts of a round: m")  # what the report, which takes longest, may stumble over
OUTSIDE = {"thesis.txt", "000/head.safetensors", ".x.0123456789abcdef.tmp", "pool-009.arrow"}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sound")
    return make_folder(place / "run", save_tiny(place / "encoder"))


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return shutil.copytree(sound, tmp_path / "run", symlinks=True)


def commands(folder: Path, report: bool) -> Iterator[list[object]]:
    place = folder.parent
    new = write(place / "new.csv", ["id", "text"], [["1", "who is the man"]])
    answers = write(place / "answers.csv", ["id", "label"], [["id-20", CLASSES[0]], ["id-21", CLASSES[1]]])
    yield ["verify", folder, "--json"]
    yield ["status", folder]
    yield ["ask", folder, "--to", place / "batch.csv"]
    yield ["export", folder, "--pseudo", "--to", place / "labels.csv"]
    yield ["predict", folder, new, "--out", place / "out.csv"]
    if report:
        yield ["report", folder, "--to", place / "page.html"]
    yield ["tell", folder, answers]
    yield ["advance", folder]
    yield ["verify", folder, "--quiet"]


def test_there_are_many_kinds() -> None:
    assert len(DAMAGES) > 250
    assert len(KINDS) >= 60


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_folder_is_a_sentence(folder: Path, kind: str) -> None:
    DAMAGES[kind](folder, Random(kind))
    for words in commands(folder, any(word in kind for word in SHOWS)):
        said = call(*words)  # which raises what is no exit code
        assert said.code in (0, 2), said
    if (outside := folder.with_name("outside")).exists():
        left = {path.relative_to(outside).as_posix(): path.read_text() for path in outside.rglob("*") if path.is_file()}
        assert left == dict.fromkeys(OUTSIDE, "years of work")


def test_a_random_damage_has_a_name(folder: Path) -> None:
    assert damage(folder, Random(0)) in DAMAGES


def test_a_sound_folder_has_no_problems(folder: Path) -> None:
    said = done("verify", folder, "--json")
    assert said.facts == {"folder": str(folder), "checked": 1, "problems": []}
    assert done("repair", folder, "--json").facts["done"] == []


def test_an_old_answer_that_changed_is_found_and_nothing_is_trained_on_it(folder: Path) -> None:
    sql("UPDATE answers SET label = (label + 1) % 3 WHERE number = 2", folder, Random(0))
    assert "row 2 of the table answers" in problems_in(folder)[0]
    with actune.open_session(folder) as session, pytest.raises(RunFolderError, match="row 2 of the table answers"):
        session.advance()


def test_the_log_of_a_store_is_a_chain(folder: Path) -> None:
    with Store.open(folder) as store:
        store.tell([Said(row, "label", 1, "ann", 3) for row in range(20, 25)])
        store.tell([Said(20, "skip", None, "ben")])
        store.rename_class("who", "whom", "ann")
        store.check_log()
    sql("DELETE FROM answers WHERE number = 12", folder, Random(0))
    with Store.open(folder) as store, pytest.raises(RunFolderError, match="row 13 of the table answers"):
        store.check_log()


def test_a_damaged_database_is_never_written_to(folder: Path) -> None:
    DAMAGES["run.db with broken pages"](folder, Random(1))
    before = (folder / "run.db").read_bytes()
    for words in (
        ["tell", folder, write(folder.with_name("a.csv"), ["id", "label"], [["id-20", "who"]])],
        ["advance", folder],
    ):
        assert call(*words).code == 2
    assert (folder / "run.db").read_bytes() == before


@pytest.mark.parametrize(
    "kind",
    [
        "run.db with words that are gone",
        "run.db with counts that are wrong",
        "run.db with no ids",
        "run.db with a class out of range",
        "run.db with a trigger",
        "run.db with a final fact that is a word",
        "flipped models/000/head.safetensors",
        "missing models",
        "missing arrays/select-001.safetensors",
        "flipped arrays/memory-001.safetensors",
        "truncated arrays/fit-000.safetensors",
    ],
)
def test_a_repaired_run_goes_on_as_if_nothing_had_been(sound: Path, folder: Path, kind: str) -> None:
    expected = shutil.copytree(sound, folder.with_name("expected"), symlinks=True)
    DAMAGES[kind](folder, Random(kind))
    assert problems_in(folder)
    found = repair(folder)
    assert found.done and not found.problems
    assert verify(folder).problems == ()
    asked = []
    for place in (folder, expected):
        with actune.open_session(place) as session:
            labels = human_rows(session)
            session.tell(dict.fromkeys((question.id for question in session.ask()), CLASSES[1]))
            session.advance()
            model = session.store.newest_model()
            assert model is not None
            head = (model / "head.safetensors").read_bytes()
            asked.append((labels, session.ask(), head, (place / "arrays/select-002.safetensors").read_bytes()))
    assert asked[0] == asked[1]


def test_what_can_be_read_of_a_broken_database_is_kept(folder: Path) -> None:
    with Store.open(folder) as store:
        store.tell([Said(row % 30, "label", row % 3, f"person {row}") for row in range(3000)])
        before = {answer.number: answer for answer in store.answers()}
    content = bytearray((folder / "run.db").read_bytes())
    connection = sqlite3.connect(folder / "run.db")
    pages = (
        [row[0] for row in connection.execute("SELECT pageno FROM dbstat WHERE name = 'answers' AND pagetype = 'leaf'")]
        if _has_dbstat(connection)
        else []
    )
    connection.close()
    start = 4096 * ((pages[len(pages) // 2] - 1) if pages else len(content) // 8192)
    content[start : start + 4096] = bytes(4096)
    (folder / "run.db").write_bytes(content)
    assert problems_in(folder)
    found = repair(folder)
    assert (folder / "run.db.damaged-1").read_bytes() == content
    with Store.open(folder) as store:
        after = store.answers()
        store.check_log()
    assert len(before) > len(after) > 0 and all(before[answer.number] == answer for answer in after)
    assert any("lost" in sentence for sentence in found.done), found


def _has_dbstat(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1 FROM dbstat LIMIT 1")
    except sqlite3.OperationalError:
        return False
    return True


def test_equal_arrays_are_equal_files_and_a_flipped_bit_is_found(folder: Path) -> None:
    import numpy as np

    with Store.open(folder) as store:
        for name in ("x", "y"):
            store.save_arrays(name, {"b": np.arange(9.0), "a": np.ones((2, 3), np.int16)})
        one, other = ((folder / "arrays" / f"{name}.safetensors").read_bytes() for name in ("x", "y"))
        assert one == other
        (folder / "arrays" / "x.safetensors").write_bytes(one[:-1] + bytes([one[-1] ^ 1]))
        with pytest.raises(RunFolderError, match="does not match its digest"):
            store.load_arrays("x")


def test_a_flipped_text_is_found(folder: Path) -> None:
    flipped("texts/pool-000.arrow", folder, Random(3))
    assert any("pool-000.arrow" in problem for problem in problems_in(folder))
    with pytest.raises(RunFolderError, match=r"pool-000\.arrow"), Store.open(folder) as store, store.advancing():
        pass
