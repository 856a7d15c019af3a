"""Files and folders that are there as a whole or not at all, and locks between processes."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from actune.core.refusals import SCRATCH as SCRATCH
from actune.core.refusals import not_confirmed
from actune.core.refusals import storage_sentences as storage_sentences
from actune.errors import Busy, StorageError

LOCK = "advance.lock"
LONGEST = 40  # characters of the name that a scratch name keeps: file systems allow 255 bytes
KINDS = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def write_atomically(file: Path, content: bytes) -> None:
    """Writes the whole content or leaves the old file, even if the power fails."""
    with replacing(file) as scratch:
        scratch.write_bytes(content)


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """A new, empty file beside `file` to write into; at the end it is on the disk and takes the place of `file`.

    After an error the old file is left as it was. The scratch name is random, so that two processes never share one.
    What is there and is no regular file is refused: a link may lead anywhere, and a device is more than a name.
    """
    scratch = _scratch(file)
    with storage_sentences(file):
        check_regular(file)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
        os.close(os.open(scratch, flags, 0o666))
        try:
            yield scratch
            _sync(scratch)
            check_regular(file)
            scratch.replace(file)
        except BaseException:
            with suppress(OSError):
                remove(scratch)
            raise
    _confirm(file)


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder` to fill; at the end it is on the disk and takes the place of `folder`."""
    scratch = _scratch(folder)
    with storage_sentences(folder):
        check_own_folder(folder)
        scratch.mkdir()
        try:
            yield scratch
            sync_tree(scratch)
            check_own_folder(folder)
            remove(folder)  # a full folder cannot be replaced in one step
            scratch.replace(folder)
        except BaseException:
            with suppress(OSError):
                remove(scratch)
            raise
    _confirm(folder)


def check_regular(path: Path) -> None:
    """Refuses what may not be replaced by a file: all but regular files and names that are free."""
    _check_kind(path, stat.S_IFREG)


def check_own_folder(path: Path) -> None:
    """Refuses a link in the place of a folder that we write into and clear up: it may lead to somebody's documents."""
    _check_kind(path, stat.S_IFDIR)


def _check_kind(path: Path, kind: int) -> None:
    try:
        found = stat.S_IFMT(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return
    if found != kind:
        what = KINDS.get(found, "a file" if found == stat.S_IFREG else "a device")
        instead = "folder" if kind == stat.S_IFDIR else "file"
        raise StorageError(f"{str(path)!r} is {what} and is not replaced: remove it, or choose another {instead}")


def is_scratch(path: Path) -> bool:
    """Whether a name is that of a file or folder that somebody is writing, or was when the process was killed."""
    return path.name.startswith(".") and path.name.endswith(SCRATCH)


def remove_scratch(folder: Path, name: str = "*") -> None:
    """Removes what killed processes left of a file that nobody else is writing now; by default of all in the folder."""
    for path in folder.glob(f".{name}.*{SCRATCH}"):
        remove(path)


def remove(path: Path, try_only: bool = False) -> None:
    """Removes a file, a link, or a folder and all in it, where there is one; with `try_only` as far as that goes."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=try_only)
    else:
        path.unlink(missing_ok=True)


def sync_tree(folder: Path) -> None:
    """Brings all files of a folder to the disk, and the names of the files too."""
    for path in folder.rglob("*"):
        if path.is_dir():
            sync_folder(path)
        else:
            _sync(path)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Brings the names in a folder to the disk."""
    if os.name != "nt":  # Windows cannot open a folder, and keeps names safe by itself
        _sync(folder)


@contextmanager
def locked(folder: Path, doing: str, wait: bool = False, name: str = LOCK) -> Iterator[None]:
    """Holds a folder for one process; a killed process leaves no lock behind. Without `wait` a held folder is Busy."""
    from filelock import FileLock, Timeout

    with storage_sentences(folder / name):
        check_regular(folder / name)  # a file behind a link would be emptied
        try:
            lock = FileLock(folder / name).acquire(blocking=wait)
        except Timeout as error:
            raise Busy(
                f"another process is {doing} {str(folder)!r}: wait until it is finished, then try again"
            ) from error
    with lock:
        yield


def _scratch(path: Path) -> Path:
    return path.with_name(f".{path.name[:LONGEST]}.{token_hex(8)}{SCRATCH}")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)  # Windows syncs what is open for writing
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _confirm(path: Path) -> None:
    """Brings a name to the disk that is in its place already: what failed then is not that it was written."""
    try:
        sync_folder(path.parent)
    except OSError as error:
        raise not_confirmed(path, error) from error
