"""Files and folders are there as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from actune.core import files
from actune.core.files import locked, replacing, replacing_folder, write_atomically
from actune.errors import Busy, StorageError


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / ("x" * 255)
    write_atomically(file, b"old")
    with pytest.raises(ZeroDivisionError), replacing(file) as scratch:
        scratch.write_bytes(b"half")
        raise ZeroDivisionError
    assert file.read_bytes() == b"old" and list(tmp_path.iterdir()) == [file]
    write_atomically(file, b"new")
    assert file.read_bytes() == b"new" and list(tmp_path.iterdir()) == [file]


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    for content, broken in (("old", False), ("half", True), ("new", False)):
        try:
            with replacing_folder(tmp_path / "a") as scratch:
                (scratch / "b").mkdir()
                (scratch / "b" / "c").write_text(content)
                if broken:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            assert broken
        assert (tmp_path / "a" / "b" / "c").read_text() == ("old" if broken else content)
        assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_planted_link_is_never_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "token_hex", lambda size: "guessed")
    (tmp_path / "victim").write_text("years of work")
    (tmp_path / ".file.guessed.tmp").symlink_to(tmp_path / "victim")
    with pytest.raises(StorageError):
        write_atomically(tmp_path / "file", b"content")
    assert (tmp_path / "victim").read_text() == "years of work"


class Windows:
    """The module `os` as it is there: a folder cannot be opened."""

    name = "nt"

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        if path.is_dir():
            raise PermissionError(13, "Permission denied")
        return os.open(path, flags, mode)


def test_windows_opens_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "os", Windows())
    write_atomically(tmp_path / "file", b"content")
    with replacing_folder(tmp_path / "folder") as scratch:
        (scratch / "file").write_bytes(b"content")
    assert (tmp_path / "file").read_bytes() == (tmp_path / "folder" / "file").read_bytes() == b"content"


def test_a_folder_is_held_once(tmp_path: Path) -> None:
    with locked(tmp_path, "baking"), pytest.raises(Busy, match="another process is eating"), locked(tmp_path, "eating"):
        pass
    with locked(tmp_path, "eating"):
        pass
