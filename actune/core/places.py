"""Names and files that came from somebody else: only names inside their folder, only regular files, no links."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path, PurePosixPath, PureWindowsPath

from actune.errors import ActuneError, RunFolderError

LONGEST_NAME = 255  # bytes of one name on usual file systems
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
HOLES_FROM, STORED_SHARE = 2**28, 100  # bytes of a file that is looked at for holes, and one in so many must be stored
# a FIFO must not block before it is refused, and Windows lacks both
_CAREFUL = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def is_plain_name(name: object) -> bool:
    """Whether this is the name of one file or folder, and no path, no parent and no hidden file."""
    return (
        isinstance(name, str)
        and bool(name)
        and not name.startswith(".")
        and not any(sign in name for sign in ("/", "\\", ":", "\0"))
        and len(os.fsencode(name)) <= LONGEST_NAME
        and name.isprintable()
    )


def inside(folder: Path, name: object) -> Path:
    """The path below a folder that a foreign name such as `models/003` means; one that leads outside is refused."""
    parts = (PurePosixPath(name).parts if isinstance(name, str) else ()) or ("",)
    if not all(map(is_plain_name, parts)):
        raise RunFolderError(f"{str(folder)!r} names the file {str(name)!r}, which is not a name inside this folder")
    path = folder.joinpath(*parts)
    for part in (path, *path.parents):
        if part == folder:
            break
        if part.is_symlink():
            raise RunFolderError(f"{str(part)!r} is a link, which may lead out of the folder: replace it by a copy")
    return path


def base_name(path: str) -> str:
    """The last part of an absolute path, of this system or another; all other words stay as they are."""
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute() or path.startswith("~"):
        return PureWindowsPath(path).name or path  # it knows both signs between folders
    return path


def is_regular(path: Path) -> bool:
    """Whether this is a regular file, also behind a link: no folder, device, FIFO or socket."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """Whether there is anything at a path; not where the system refuses even to look, as for a name that is too long.

    Only what may not be looked at for lack of permission is an error, a PermissionError.
    """
    try:
        return path.exists()
    except PermissionError:
        raise
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether this is a folder, also behind a link."""
    return exists(path) and path.is_dir()


def is_same(path: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, also by links."""
    return exists(path) and exists(other) and path.samefile(other)


def open_regular(path: Path, refusal: type[ActuneError] = RunFolderError, follow: bool = True) -> BufferedReader:
    """A regular file to read. What would hang or never end is refused, and so is a link unless we may `follow` it."""
    flags = os.O_RDONLY | _CAREFUL | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    try:
        handle = os.open(path, flags)
    except FileNotFoundError as error:
        raise refusal(f"there is no file {str(path)!r}: check the path") from error
    except OSError as error:
        link = not follow and path.is_symlink()
        why = "it is a link" if link else error.strerror or type(error).__name__
        raise refusal(f"cannot read {str(path)!r}: {why}") from error
    except ValueError as error:  # a NUL, or half a character
        raise refusal(f"there is no file {str(path)!r}, whose name no file can have: check the path") from error
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        raise refusal(f"cannot read {str(path)!r}: it is not a regular file")
    if _is_hollow(handle, found.st_size):
        os.close(handle)
        raise refusal(
            f"cannot read {str(path)!r}: of its {found.st_size:,} bytes nearly none is stored, the others are holes: "
            "remove it, or replace it by a whole file"
        )
    return os.fdopen(handle, "rb")


def _is_hollow(handle: int, size: int) -> bool:
    """Whether a large file consists of holes: a few bytes in an archive can become terabytes of zeros to read or copy.

    Where a file system knows no holes, the whole file is stored.
    """
    if size < HOLES_FROM or not hasattr(os, "SEEK_DATA"):
        return False
    stored = end = 0
    try:
        while stored * STORED_SHARE < size:
            start = os.lseek(handle, end, os.SEEK_DATA)
            end = os.lseek(handle, start, os.SEEK_HOLE)
            stored += end - start
        return False
    except OSError as error:
        return error.errno == errno.ENXIO  # there are no more data; with any other error nobody can tell
    finally:
        os.lseek(handle, 0, os.SEEK_SET)


def files_below(folder: Path, but: Path | None = None) -> list[Path]:
    """All files below a folder of somebody else, sorted; a link or a special file anywhere in it is refused.

    One link, `but`, is left out: it is of no use elsewhere.
    """
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and path == but:
            continue
        if path.is_symlink():
            raise RunFolderError(f"{str(path)!r} is a link, which may lead out of the folder: replace it by a copy")
        if path.is_dir():
            continue
        if not is_regular(path):
            raise RunFolderError(f"{str(path)!r} is not a regular file: remove it")
        found.append(path)
    return found
