"""Files that a user names as output: `-` is standard output, a link means the file behind it, no device is written."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from actune.core.files import replacing
from actune.core.refusals import told
from actune.errors import StorageError

STANDARD_OUTPUT = Path("-")


def named_output(path: str | Path) -> Path:
    """The file that a name given by the user means, or a sentence; to be called before long work whose end is a file.

    Only files that lie in a folder of the user's own choice may be links. A file with a name that we chose in a folder
    which somebody else may have made is written as it is, and `replacing` refuses a link there.
    """
    path = Path(path)
    if path == STANDARD_OUTPUT:
        return path
    try:
        found = path.stat()
    except FileNotFoundError:
        path = path.parent / path.readlink() if path.is_symlink() else path
        if path.is_symlink():
            raise StorageError(f"{str(path)!r} is a link to a link that leads nowhere: choose another file") from None
    except NotADirectoryError:
        pass
    except OSError as error:
        raise StorageError(f"cannot write {str(path)!r}: {told(error, path)}") from error
    else:
        if stat.S_ISDIR(found.st_mode):
            raise StorageError(f"{str(path)!r} is a folder: give a file, such as {str(path / 'output')!r}")
        if not stat.S_ISREG(found.st_mode):
            raise StorageError(
                f"{str(path)!r} is a device or a pipe, not a file: give a file, or - for standard output"
            )
        path = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not path.parent.is_dir():
        raise StorageError(
            f"cannot write {path}, because there is no folder {path.parent}: create it or choose another folder"
        )
    return path


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """What is written here is the file as a whole, or it goes to standard output where the path is `-`."""
    if path == STANDARD_OUTPUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with replacing(path) as scratch, scratch.open("wb") as stream:
            yield stream


def write_output(path: Path, content: bytes) -> None:
    """A whole file, or standard output."""
    with writing(path) as stream:
        stream.write(content)
