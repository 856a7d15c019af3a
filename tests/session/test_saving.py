"""Models that are saved from a run of somebody else: nothing from outside, nothing for others to read, no paths."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest

import actune
from actune.core.task import Task
from actune.errors import DataError, RunFolderError, StorageError
from tests.models.tiny import save_tiny

SECRET = "secret-place"
QUICK = {"probe": {"epochs": 2, "steps": 5}, "finetune": {"epochs": 1, "steps": 2}}


def make(folder: Path, questions: Task, learner: str) -> actune.Session:
    """A run with one model, on an encoder and in a place that nobody else should hear of."""
    encoder = save_tiny(folder / SECRET / "my-encoder")
    session = actune.create(
        folder / SECRET / "run",
        questions.pool,
        learner=learner,
        model=str(encoder),
        batch=5,
        device="cpu",
        changes=QUICK[learner],
    )
    session.advance()
    return session


@pytest.fixture(scope="module", params=["probe", "finetune"])
def session(request: pytest.FixtureRequest, questions: Task, tmp_path_factory: pytest.TempPathFactory):
    with make(tmp_path_factory.mktemp("saving"), questions, request.param) as made:
        yield made


def test_a_saved_model_names_no_path(session: actune.Session, tmp_path: Path) -> None:
    saved = session.save(tmp_path / "saved")
    files = [file for file in saved.rglob("*") if file.is_file()]
    assert len(files) > 5
    leaks = [file.name for file in files if SECRET.encode() in file.read_bytes()]
    assert not leaks
    assert "encoder `my-encoder`" in (saved / "README.md").read_text()


def test_a_saved_model_is_for_this_user_alone(session: actune.Session, tmp_path: Path) -> None:
    saved = session.save(tmp_path / "deep" / "saved")
    assert stat.S_IMODE(saved.stat().st_mode) == 0o700
    assert actune.load(saved, device="cpu").predict(["who is the man"])


def test_links_and_special_files_in_a_run_are_not_copied(session: actune.Session, tmp_path: Path) -> None:
    model = session.store.newest_model()
    assert model is not None
    strange = model / "notes.txt"
    for make_strange in (lambda: strange.symlink_to("/etc/passwd"), lambda: os.mkfifo(strange)):
        make_strange()
        with pytest.raises(RunFolderError, match=r"is a link|is not a regular file"):
            session.save(tmp_path / "saved")
        strange.unlink()
        assert not list(tmp_path.iterdir())
    model.rename(model.with_name("elsewhere"))
    model.symlink_to("elsewhere")
    with pytest.raises(RunFolderError, match="is a link"):
        session.save(tmp_path / "saved")
    model.unlink()
    model.with_name("elsewhere").rename(model)
    assert not list(tmp_path.iterdir())


def test_what_is_there_is_never_replaced(session: actune.Session, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "fifo")
    for name in ("file", "folder", "link", "fifo"):
        with pytest.raises(DataError, match="already exists: choose another folder"):
            session.save(tmp_path / name)
    with pytest.raises(StorageError, match="choose another folder"):
        session.save(tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "mine" and (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("learner", ["probe", "finetune"])
def test_a_saved_estimator_names_no_path(learner: str, questions: Task, tmp_path: Path) -> None:
    encoder = save_tiny(tmp_path / SECRET / "my-encoder")
    texts, labels = list(questions.pool.texts[:20]), np.arange(20) % 2
    fitted = actune.TextClassifier(learner=learner, model=str(encoder), device="cpu", settings=QUICK[learner])
    saved = fitted.fit(texts, labels).save(tmp_path / "saved")
    assert stat.S_IMODE(saved.stat().st_mode) == 0o700
    assert not [file.name for file in saved.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
    again = actune.TextClassifier.load(saved, device="cpu")
    assert (again.predict(texts) == fitted.predict(texts)).all()
