"""What a user names as output: files, links to files, standard output, and nothing else."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from actune.core.files import locked, replacing_folder, write_atomically
from actune.core.outputs import STANDARD_OUTPUT, named_output, write_output
from actune.errors import StorageError


def special(folder: Path, kind: str) -> Path:
    """A node of our own that is no regular file."""
    path = folder / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            here = Path.cwd()
            os.chdir(folder)  # the name of a socket has few letters
            bound.bind(kind)
            os.chdir(here)
    elif kind == "folder":
        path.mkdir()
    else:
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # as /dev/null is one
        except PermissionError:
            pytest.skip("this user makes no devices")
    return path


@pytest.mark.parametrize("kind", ["device", "pipe", "socket", "folder"])
@pytest.mark.parametrize("behind_a_link", [False, True])
def test_only_regular_files_are_replaced(tmp_path: Path, kind: str, behind_a_link: bool) -> None:
    path = named = special(tmp_path, kind)
    if behind_a_link:
        named = tmp_path / "link"
        named.symlink_to(path)
    before = path.lstat()
    with pytest.raises(StorageError, match="is a folder" if kind == "folder" else "a device or a pipe"):
        named_output(named)
    with pytest.raises(StorageError, match="is not replaced"):
        write_atomically(named, b"page")
    assert stat.S_IFMT(path.lstat().st_mode) == stat.S_IFMT(before.st_mode) and path.lstat().st_ino == before.st_ino
    assert not list(tmp_path.glob(".*.tmp"))


def test_a_link_of_the_user_means_the_file_behind_it(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name, content in (("old.html", b"old"), ("new.html", None)):
        target, link = tmp_path / "elsewhere" / name, tmp_path / name
        link.symlink_to(Path("elsewhere") / name)
        if content:
            target.write_bytes(content)
        write_output(named_output(link), b"page")
        assert link.is_symlink() and not target.is_symlink() and target.read_bytes() == b"page"


def test_links_in_a_circle_and_links_to_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "c").symlink_to(tmp_path / "none" / "file")
    with pytest.raises(StorageError, match="lead in a circle"):
        named_output(tmp_path / "a")
    with pytest.raises(StorageError, match="there is no folder"):
        named_output(tmp_path / "c")
    with pytest.raises(StorageError, match="too long"):
        named_output(tmp_path / ("x" * 300))


def test_a_link_that_the_user_did_not_name_is_refused(tmp_path: Path) -> None:
    """In a folder of somebody else `report.html` may lead anywhere."""
    (tmp_path / "victim").write_text("years of work")
    (tmp_path / "report.html").symlink_to(tmp_path / "victim")
    (tmp_path / "lock").symlink_to(tmp_path / "victim")
    (tmp_path / "documents").mkdir()
    (tmp_path / "cell").symlink_to(tmp_path / "documents")
    with pytest.raises(StorageError, match="is a link and is not replaced"):
        write_output(tmp_path / "report.html", b"page")
    with pytest.raises(StorageError, match="is a link"), locked(tmp_path, "eating", name="lock"):
        pass
    with pytest.raises(StorageError, match="is a link"), replacing_folder(tmp_path / "cell"):
        pass
    assert (tmp_path / "victim").read_text() == "years of work" and (tmp_path / "cell").is_symlink()


def test_a_dash_is_standard_output(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert named_output("-") == STANDARD_OUTPUT
    assert named_output(tmp_path / "-") == tmp_path / "-"
    write_output(STANDARD_OUTPUT, b"page")
    assert capfdbinary.readouterr().out == b"page"
