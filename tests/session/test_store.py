"""The run folder: nothing is half there, and what is wrong with it is one sentence."""

from __future__ import annotations

import sqlite3
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actune
from actune.core import toml
from actune.errors import RunFolderError, StorageError
from actune.session.config import differences, load_config
from actune.store.store import DATABASE, FILE

PLAN = {"method": "random", "learner": "probe", "initial": 12, "batch": 5, "rounds": 2, "simulated": True}


@pytest.fixture
def folder(tmp_path, questions):
    actune.create(tmp_path / "run", questions, changes={"epochs": 2}, **PLAN).close()
    return tmp_path / "run"


def test_the_configuration_survives_its_file(folder):
    config = load_config(folder)
    (folder / FILE).write_text(config.dumps())
    assert load_config(folder) == config


names = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
values = st.one_of(names, st.integers(-(2**62), 2**62), st.floats(allow_nan=False, allow_infinity=False), st.booleans())


@given(st.dictionaries(st.text("abcdefgh_", min_size=1), st.one_of(values, st.lists(names))))
def test_toml_is_read_back_as_written(table):
    assert tomllib.loads(toml.dumps({"table": table})) == {"table": table}


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(RunFolderError, match="there is no folder"):
        actune.open_session(tmp_path / "nowhere")
    with pytest.raises(RunFolderError, match=r"is not a run folder: it has no run\.toml"):
        actune.open_session(tmp_path)


def test_a_folder_from_before_a_setting_goes_on_without_it(folder):
    text = (folder / FILE).read_text().replace("no_fewer_steps = false", "no_fewer_steps = true")
    (folder / FILE).write_text(text)
    assert load_config(folder).training.no_fewer_steps
    (folder / FILE).write_text(text.replace("no_fewer_steps = true\n", "").replace("fast = true\n", ""))
    assert not load_config(folder).training.no_fewer_steps
    assert load_config(folder).training.fast  # there was nothing else


def test_a_folder_from_before_a_setting_was_renamed_keeps_its_value(folder):
    text = (folder / FILE).read_text()
    before = text.replace("no_fewer_steps = false", "as_long = true").replace(
        "confidence_penalty = 0.1", "spread = 0.3"
    )
    assert text.count("no_fewer_steps") == before.count("as_long") == before.count("spread") == 1
    (folder / FILE).write_text(before)
    config = load_config(folder)
    assert config.training.no_fewer_steps and config.settings.confidence_penalty == 0.3


def test_a_newer_version_is_left_alone(folder):
    text = (folder / FILE).read_text()
    (folder / FILE).write_text(text.replace("format = 1", "format = 2", 1))
    with pytest.raises(RunFolderError, match="newer version of actune"):
        actune.open_session(folder)
    (folder / FILE).write_text(text)
    with sqlite3.connect(folder / DATABASE) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(RunFolderError, match="newer version of actune"):
        actune.open_session(folder)


@pytest.mark.parametrize("damage", [b"", b"format = ", b"\xff\xfe", b"format = 1\n[request]\n"])
def test_a_damaged_configuration_is_one_sentence(folder, damage):
    (folder / FILE).write_bytes(damage)
    with pytest.raises(RunFolderError):
        actune.open_session(folder)


def test_a_damaged_database_is_one_sentence(folder):
    (folder / DATABASE).write_bytes(b"not a database, certainly not one of SQLite" * 100)
    with pytest.raises(RunFolderError, match="damaged or not a run's database"):
        actune.open_session(folder)


def test_strange_files_are_never_overwritten(tmp_path, questions):
    (tmp_path / "thesis.docx").write_text("years of work")
    with pytest.raises(RunFolderError, match=r"it contains 'thesis\.docx'"):
        actune.create(tmp_path, questions, **PLAN)
    assert (tmp_path / "thesis.docx").read_text() == "years of work"
    with pytest.raises(StorageError, match="a file is in its place"):
        actune.create(tmp_path / "thesis.docx" / "run", questions, **PLAN)


def test_differences_are_told_in_the_users_words(folder):
    request = load_config(folder).request
    assert differences(request, replace(request, rounds=5)) == []
    assert differences(request, replace(request, rounds=1)) == [
        "--rounds was 2 when this run was created, and is 1 now"
    ]
    other = replace(request, batch=6, changes={"epochs": 3})
    assert differences(request, other) == [
        "--batch was 5 when this run was created, and is 6 now",
        "--set epochs was 2 when this run was created, and is 3 now",
    ]
    read = replace(request, seed=1, keep_weak=True, reading={"text": "body", "classes": ["a", "b"]}, round_seconds=5.0)
    assert differences(request, read) == [
        "--seed was 0 when this run was created, and is 1 now",
        "--keep-weak was not set when this run was created, and is set now",
        "--labels was not set when this run was created, and is ['a', 'b'] now",
        "--text was not set when this run was created, and is body now",
    ]
