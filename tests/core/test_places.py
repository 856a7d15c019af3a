"""Foreign names stay inside their folder, and only regular files are opened."""

from __future__ import annotations

import os

import pytest

from actune.core.places import exists, files_below, inside, is_plain_name, is_regular, open_regular
from actune.errors import DataError, RunFolderError

OUTSIDE = [
    "",
    ".",
    "..",
    "/etc/passwd",
    "../x",
    "a/../../x",
    "a/..",
    ".hidden",
    "a\\b",
    "c:x",
    "a\0b",
    "n" * 256,
    3,
    None,
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_that_lead_elsewhere_are_refused(tmp_path, name):
    assert not is_plain_name(name)
    with pytest.raises(RunFolderError, match="not a name inside this folder"):
        inside(tmp_path, name)


@pytest.mark.parametrize("name", ["a", "models/003", "texts/pool-000.arrow", "ü–日本.csv"])
def test_names_inside_are_paths_below_the_folder(tmp_path, name):
    assert inside(tmp_path, name) == tmp_path / name


def test_a_link_on_the_way_is_refused(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "models").symlink_to(tmp_path / "out")
    with pytest.raises(RunFolderError, match="is a link"):
        inside(tmp_path / "run", "models/003")


def test_a_folder_that_is_reached_through_a_link_of_the_user_is_fine(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert inside(tmp_path / "link", "a") == tmp_path / "link" / "a"


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, tmp_path / "missing"):
        assert not is_regular(path)
        with pytest.raises(DataError, match="there is no file" if path.name == "missing" else "cannot read"):
            open_regular(path, DataError)
    (tmp_path / "endless").symlink_to("/dev/zero")
    with pytest.raises(RunFolderError, match="not a regular file"):
        open_regular(tmp_path / "endless")


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_no_file_can_have_is_refused(tmp_path, name):
    with pytest.raises(DataError, match=r"there is no file .*, whose name no file can have"):
        open_regular(tmp_path / name, DataError)


def test_links_are_followed_only_where_they_may_be(tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with open_regular(tmp_path / "link") as file:
        assert file.read() == b"x"
    with pytest.raises(RunFolderError, match="it is a link"):
        open_regular(tmp_path / "link", follow=False)


def test_a_tree_with_a_link_or_a_fifo_is_refused(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(b"")
    assert files_below(tmp_path) == [tmp_path / "a" / "file"]
    os.mkfifo(tmp_path / "a" / "fifo")
    with pytest.raises(RunFolderError, match="not a regular file"):
        files_below(tmp_path)
    (tmp_path / "a" / "fifo").unlink()
    (tmp_path / "a" / "passwd").symlink_to("/etc/passwd")
    with pytest.raises(RunFolderError, match="is a link"):
        files_below(tmp_path)


def test_a_file_of_holes_is_refused_and_an_ordinary_one_with_a_hole_is_read(tmp_path):
    for name, content in (("nothing", b""), ("little", b"x" * 5000)):
        (tmp_path / name).write_bytes(content)
        os.truncate(tmp_path / name, 2**40)
        with pytest.raises(DataError, match="nearly none is stored"):
            open_regular(tmp_path / name, DataError)
    (tmp_path / "small").touch()
    os.truncate(tmp_path / "small", 2**20)
    (tmp_path / "half").write_bytes(bytes(4 * 2**20))
    os.truncate(tmp_path / "half", 2**28)
    for name in ("small", "half"):
        with open_regular(tmp_path / name) as file:
            assert file.tell() == 0 and len(file.read()) == (tmp_path / name).stat().st_size


def test_a_word_that_cannot_be_a_path_is_no_path(tmp_path):
    assert exists(tmp_path)
    for word in ("nothing", "x" * 300, "x/" * 3000, "a\0b"):
        assert not exists(tmp_path / word)
