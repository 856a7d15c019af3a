"""Every error of the system is one sentence that says what is certain about the disk."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from actune.core import files
from actune.core.files import replacing_folder, write_atomically
from actune.core.refusals import already_saved, storage_sentences, told
from actune.errors import StorageError


@pytest.mark.parametrize("number", sorted(errno.errorcode))
def test_every_number_has_a_sentence(number: int) -> None:
    error = OSError(number, os.strerror(number), "runs/001/arrays/fit-002.safetensors")
    with pytest.raises(StorageError) as caught, storage_sentences(Path("runs/001")):
        raise error
    sentence = str(caught.value)
    assert "fit-002.safetensors" in sentence and "\n" not in sentence and ": " in sentence


def test_a_scratch_file_is_told_by_the_name_that_the_user_knows() -> None:
    error = OSError(errno.EIO, "Input/output error", "/x/.page.html.0123.tmp")
    assert told(error, Path("page.html")) == (
        "the disk failed at 'page.html' (Input/output error); everything that was saved before is safe: check the "
        "disk, then try again"
    )


def test_what_a_library_says_about_something_else_is_left_alone() -> None:
    with pytest.raises(OSError, match="no such model"), storage_sentences(Path("x")):
        raise OSError("no such model on the hub")


def test_a_model_that_was_not_written_is_told_apart_from_one_that_cannot_be_read() -> None:
    from safetensors import SafetensorError

    with (
        pytest.raises(StorageError, match=r"failed at 'model' \(Input/output error\)"),
        storage_sentences(Path("model")),
    ):
        raise SafetensorError("Error while serializing: I/O error: Input/output error (os error 5)")
    with pytest.raises(StorageError, match="the disk is full"), storage_sentences(Path("model")):
        raise Exception("No space left on device (os error 28)")  # as tokenizers do
    with pytest.raises(ZeroDivisionError), storage_sentences(Path("model")):
        raise ZeroDivisionError("(os error 28)")
    with pytest.raises(SafetensorError, match="header"), storage_sentences(Path("model")):
        raise SafetensorError("Error while deserializing header: header too large")


def test_what_was_renamed_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(folder: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(files, "sync_folder", lambda folder: fails(folder) if folder == tmp_path else None)
    with pytest.raises(StorageError, match=r"'.*page' was written, but the disk did not confirm it \(Input/output"):
        write_atomically(tmp_path / "page", b"new")
    assert (tmp_path / "page").read_bytes() == b"new"
    with (
        pytest.raises(StorageError, match="was written, but the disk did not confirm it"),
        replacing_folder(tmp_path / "folder") as scratch,
    ):
        (scratch / "file").write_bytes(b"new")
    assert (tmp_path / "folder" / "file").read_bytes() == b"new"


def test_what_follows_a_commit_does_not_take_it_back() -> None:
    for error in (OSError(errno.EIO, "Input/output error", "model"), StorageError("the disk failed at 'model'")):
        expected = r"round 3 is saved and counts, but .* the disk failed at 'model'"
        with pytest.raises(StorageError, match=expected), already_saved("round 3"):
            raise error
