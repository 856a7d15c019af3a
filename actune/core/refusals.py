"""What the system refuses, as sentences: which file, what failed, and what is certain about the state on the disk."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actune.errors import StorageError

SCRATCH = ".tmp"  # how the name of an unfinished file or folder ends; it begins with a dot
SAFE = "everything that was saved before is safe"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_NUMBER = re.compile(r"\(os error (\d+)\)")  # of libraries in Rust, which tell what the system refused only as text


@contextmanager
def storage_sentences(path: Path) -> Iterator[None]:
    """Turns what the operating system refuses into sentences, for whatever ends in a commit or a rename."""
    try:
        yield
    except Exception as error:  # of libraries that have errors of their own for the disk
        refused = _refused(error)
        if refused is None:
            raise
        raise StorageError(told(refused, path)) from error


@contextmanager
def already_saved(what: str) -> Iterator[None]:
    """For what follows a commit: that it fails must not be told as if the step had failed."""
    try:
        yield
    except (OSError, StorageError) as error:
        why = told(error) if isinstance(error, OSError) else str(error)
        raise StorageError(f"{what} is saved and counts, but what follows it failed: {why}") from error


def not_confirmed(path: Path, error: OSError) -> StorageError:
    """A file has its new content, but a power cut may still undo that."""
    why = error.strerror or error
    return StorageError(f"{str(path)!r} was written, but the disk did not confirm it ({why}): check the disk")


def told(error: OSError, path: Path | None = None) -> str:
    """One sentence for an error of the system; `path` is what was being written, where the error names no file."""
    place = repr(os.fsdecode(_named(error) or path or "a file"))
    why = error.strerror or (str(error).strip().splitlines() or [type(error).__name__])[0]
    if error.errno in FULL:
        return f"the disk is full and {place} could not be written; {SAFE}: free some space, then try again"
    if error.errno in FORBIDDEN:
        return f"{place} cannot be written or read ({why}): check the folder's permissions"
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return f"{place} cannot be a folder, because a file is in its place: choose another folder"
    if error.errno == errno.EISDIR:
        return f"{place} is a folder: give a file"
    if error.errno == errno.ENAMETOOLONG:
        longest = max(re.split(r"[/\\]", place), key=len)
        return f"the name {longest[:20]!r}... is too long for the file system: choose a shorter one"
    if error.errno == errno.ELOOP:
        return f"{place} cannot be opened, because it is a link or its links lead in a circle: choose another file"
    if error.errno == errno.ENOENT:
        return f"there is no file or folder {place}: check the path"
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"{place} cannot be opened, because too many files are open ({why}): close other programs"
    if error.errno is None:
        return f"cannot go on: {why}"
    return f"the disk failed at {place} ({why}); {SAFE}: check the disk, then try again"


def _refused(error: Exception) -> OSError | None:
    """What the system refused, if this is about it: safetensors, while it writes, and tokenizers say so in words."""
    if isinstance(error, OSError):
        return None if error.errno is None else error  # some libraries raise one about something else than the disk
    writing = type(error).__name__ == "SafetensorError" and "while serializing" in str(error)
    if not writing and type(error) is not Exception:
        return None
    if number := _NUMBER.search(str(error)):
        return OSError(int(number[1]), os.strerror(int(number[1])))
    return OSError(errno.EIO, os.strerror(errno.EIO)) if writing else None


def _named(error: OSError) -> str | bytes | None:
    """The file that an error names, unless it is one that the user has never heard of."""
    name = error.filename
    if not isinstance(name, (str, bytes, os.PathLike)) or os.fsdecode(name).endswith(SCRATCH):
        return None
    return os.fspath(name)
