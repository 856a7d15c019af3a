"""Files and folders that are there as a whole or not at all, locks between processes, and sentences for refusals."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from actune.errors import Busy, StorageError

LOCK = "advance.lock"
SCRATCH = ".tmp"  # how the name of an unfinished file or folder ends; it begins with a dot
LONGEST = 40  # characters of the name that a scratch name keeps: file systems allow 255 bytes


def write_atomically(file: Path, content: bytes) -> None:
    """Writes the whole content or leaves the old file, even if the power fails."""
    with storage_sentences(file), replacing(file) as scratch:
        scratch.write_bytes(content)


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """A new, empty file beside `file` to write into; at the end it is on the disk and takes the place of `file`.

    After an error the old file is left as it was. The scratch name is random, so that two processes never share one.
    """
    scratch = _scratch(file)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    os.close(os.open(scratch, flags, 0o666))
    try:
        yield scratch
        _sync(scratch)
        scratch.replace(file)
    except BaseException:
        with suppress(OSError):
            remove(scratch)
        raise
    sync_folder(file.parent)


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder` to fill; at the end it is on the disk and takes the place of `folder`."""
    scratch = _scratch(folder)
    scratch.mkdir()
    try:
        yield scratch
        sync_tree(scratch)
        remove(folder)  # a full folder cannot be replaced in one step
        scratch.replace(folder)
    except BaseException:
        with suppress(OSError):
            remove(scratch)
        raise
    sync_folder(folder.parent)


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
def storage_sentences(path: Path) -> Iterator[None]:
    """Turns the operating system's refusals into sentences for the user."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StorageError(
                f"the disk is full and {str(path)!r} could not be written; everything that was saved before is safe"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise StorageError(f"{str(path)!r} cannot be written: check the folder's permissions") from error
        if error.errno in (errno.ENOTDIR, errno.EEXIST):
            raise StorageError(
                f"{str(path)!r} cannot be a folder, because a file is in its place: choose another folder"
            ) from error
        raise


@contextmanager
def locked(folder: Path, doing: str, wait: bool = False, name: str = LOCK) -> Iterator[None]:
    """Holds a folder for one process; a killed process leaves no lock behind. Without `wait` a held folder is Busy."""
    from filelock import FileLock, Timeout

    if (folder / name).is_symlink():  # which would be followed, and its target emptied
        raise StorageError(f"{str(folder / name)!r} is a link: remove it")
    try:
        lock = FileLock(folder / name).acquire(blocking=wait)
    except Timeout as error:
        raise Busy(f"another process is {doing} {str(folder)!r}: wait until it is finished, then try again") from error
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
