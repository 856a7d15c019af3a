"""A session that lives on while others add texts, answer, advance, or own the folder that it lies in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import actune
from actune.core.dialogue import Answer
from actune.core.pool import Pool, pool_of
from actune.errors import RunFolderError
from actune.rounds import predicting
from actune.session.labelled import human_rows

pytestmark = pytest.mark.usefixtures("database")
FAST = {"steps": 40, "epochs": 4}
PLAN = {"learner": "probe", "batch": 10, "initial": 20, "changes": FAST}
ROOT = Path(__file__).parents[2]


def truth(task, ids):
    pool = task.pool
    return {id: pool.classes[pool.labels[pool.row_of[id]]] for id in ids}


@pytest.fixture
def project(tmp_path, questions):
    """A person's project on 300 questions without labels, its first batch answered."""
    bare = pool_of(questions.pool.texts, ids=questions.pool.ids, classes=questions.pool.classes)
    session = actune.create(tmp_path / "project", bare, method="actune", **PLAN)
    session.tell(truth(questions, [question.id for question in session.ask()]))
    return session


def more(classes) -> Pool:
    texts = ["what is the highest mountain of asia ?", "who painted guernica ?", "how many legs has a fly ?"]
    return pool_of(texts, ["location", None, "numeric"], ["new-1", "new-2", "new-3"], classes)


def test_a_session_goes_on_with_the_texts_that_it_has_added(project):
    project.advance()
    project.add(more(project.pool.classes))
    assert project.advance().labels == 22
    assert project.memory(2).shape == (303, 6)


def test_a_session_sees_what_another_one_has_added(project):
    project.advance()
    other = actune.open_session(project.store.folder)
    other.add(more(project.pool.classes))
    assert project.advance().labels == 22
    assert project.pool.ids == other.pool.ids and len(project.pool) == 303


def test_answers_to_texts_of_another_session_are_taken(project):
    other = actune.open_session(project.store.folder)
    other.add(more(project.pool.classes))
    assert project.tell({"new-2": "human"}).new == 1
    assert project.labels().of_row[301] == project.pool.classes.index("human")


def test_a_table_of_labels_has_the_texts_of_other_sessions(project):
    actune.open_session(project.store.folder).add(more(project.pool.classes))
    assert {"new-1", "new-3"} <= {row[0] for row in human_rows(project)}


def test_questions_about_texts_of_another_session_can_be_asked(project):
    project.advance()
    other = actune.open_session(project.store.folder)
    other.add(more(project.pool.classes))
    other.tell([Answer(id) for id in other.pool.ids[:300] if other.pool.row_of[id] not in other.labels().of_row])
    other.advance()
    assert [question.id for question in project.ask()] == [question.id for question in other.ask()] == ["new-2"]


def test_people_who_give_their_names_get_different_questions(project):
    project.advance()
    everything = [question.id for question in project.ask()]
    ann, ben = project.ask(by="ann", n=6), project.ask(by="ben")
    assert [question.id for question in [*ann, *ben]] == everything and (len(ann), len(ben)) == (6, 4)
    assert [question.id for question in project.ask(n=3)] == everything[:3]
    project.tell([Answer(ann[0].id, "human", by="ann", seconds=1.5)])
    assert project.store.answers()[-1].seconds == 1.5
    assert [question.id for question in project.ask(by="ann")] == everything[1:6]


def test_predict_loads_a_model_once_and_notices_a_newer_one(project, monkeypatch):
    project.advance()
    other = actune.open_session(project.store.folder)
    loads = []
    real = predicting.load_model
    monkeypatch.setattr(predicting, "load_model", lambda folder, *by: loads.append(folder.name) or real(folder, *by))
    first = [other.predict(["who painted guernica ?"]) for _ in range(3)]
    assert loads == ["000"] and first[0] == first[1] == first[2]
    project.tell([Answer(question.id, "numeric") for question in project.ask()])
    project.advance()
    second = other.predict(["who painted guernica ?"])
    assert loads == ["000", "001"]
    assert second == project.predict(["who painted guernica ?"]) != first[0]


def test_a_session_is_closed_at_the_end_of_its_block(project):
    with actune.open_session(project.store.folder) as session:
        assert session.ask() == []
    with pytest.raises(RunFolderError, match="is closed: open it again"):
        session.ask()


def test_a_round_that_counts_has_its_model_when_killed_after_the_commit(project, questions):
    """Between the commit and all that follows it."""
    project.advance()
    project.tell(truth(questions, [question.id for question in project.ask()]))
    program = (
        "import os, sys, actune; from actune.store.store import Store; s = actune.open_session(sys.argv[1])\n"
        "real = Store.commit\n"
        "def kill(*words, **more): real(*words, **more); os.kill(os.getpid(), 9)\n"
        "Store.commit = kill\ns.advance()"
    )
    assert subprocess.run([sys.executable, "-c", program, str(project.store.folder)], cwd=ROOT).returncode == -9
    assert project.fitted == 2
    (prediction,) = actune.open_session(project.store.folder).predict(["how many miles is it to the moon ?"])
    folder = project.store.folder
    assert "| 30 |" not in (folder / "model" / "README.md").read_text()
    assert "on 30 labelled texts" in (folder / "model" / "README.md").read_text()
    saved = project.save(folder.parent / "saved")
    assert (saved / "head.safetensors").read_bytes() == (folder / "models/001/head.safetensors").read_bytes()
    assert prediction == project.predict(["how many miles is it to the moon ?"])[0]


def test_files_of_the_user_are_no_leftovers(tmp_path, questions):
    (tmp_path / "arrays").mkdir()
    (tmp_path / "report.html").write_text("years of work")
    with pytest.raises(RunFolderError, match="is not empty and not a run folder"):
        actune.create(tmp_path, questions.pool, **PLAN)
    assert (tmp_path / "report.html").read_text() == "years of work" and (tmp_path / "arrays").is_dir()


AS_ANYBODY = """
import ctypes, os, sys
if os.geteuid() == 0:  # even root must obey permissions: without the right to override them, after an exec
    for capability in (1, 2):
        assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def test_a_project_that_cannot_be_written_can_be_used(project, tmp_path):
    project.advance()
    project.close()
    folder, texts = project.store.folder, tmp_path / "texts.csv"
    texts.write_text("text\nwho painted guernica ?\n")
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(path.stat().st_mode & 0o555)
    commands = [
        ["ask", folder, "--to", tmp_path / "batch.csv"],
        ["export", folder, "--pseudo", "--to", tmp_path / "labels.csv"],
        ["report", folder, "--to", tmp_path / "report.html"],
        ["predict", folder, texts, "--out", tmp_path / "labelled.csv"],
    ]
    try:
        for words in commands:
            command = [sys.executable, "-c", AS_ANYBODY, "-m", "actune", *map(str, words)]
            done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ)
            assert done.returncode == 0, done.stderr
        command = [sys.executable, "-c", AS_ANYBODY, "-m", "actune", "advance", "--force", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ)
        assert done.returncode == 2 and "check the folder's permissions" in done.stderr
    finally:
        for path in paths:
            path.chmod(path.stat().st_mode | 0o200)
    assert len((tmp_path / "batch.csv").read_text().splitlines()) == 11
    assert len((tmp_path / "labelled.csv").read_text().splitlines()) == 2


def test_a_start_from_a_project_takes_its_newest_model(project, questions, tmp_path):
    """Also where an earlier version kept a fine-tuned model of fewer answers beside it."""
    project.advance()
    folder = shutil.copytree(project.store.folder, tmp_path / "copy", symlinks=True)
    (folder / "model").unlink()
    (folder / "model").mkdir()
    (folder / "model" / "config.json").write_text('{"id2label": {"0": "old", "1": "model"}}')
    pool = pool_of(questions.pool.texts, ids=questions.pool.ids, classes=questions.pool.classes)
    started = actune.create(tmp_path / "started", pool, method="entropy", start_from=str(folder), **PLAN)
    started.advance()
    assert started.predict(["who ?"]) == project.predict(["who ?"])
