"""A name in a folder that stands for another folder beside it: a link, or a copy where links are not allowed."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from secrets import token_hex

from actune.core.files import SCRATCH, remove, replacing_folder, sync_folder
from actune.core.places import is_regular

FAILURES = {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS}  # of the disk, and not of links
LONGEST = 1000  # bytes of a name
SOURCE = "copied-from"  # a file in a copy that names what it is a copy of


def point(name: Path, target: Path) -> None:
    """Lets `name` stand for `target`, a folder below the folder that `name` lies in."""
    place = target.relative_to(name.parent).as_posix()
    if stands_for(name) == place:
        return
    link = name.with_name(f".{name.name}.{token_hex(8)}{SCRATCH}")
    try:
        link.symlink_to(place, target_is_directory=True)
    except OSError as error:
        if error.errno in FAILURES:
            raise
        # Windows allows links to few users, and some file systems to none
        if name.is_symlink():
            remove(name)
        with replacing_folder(name) as scratch:
            shutil.copytree(target, scratch, dirs_exist_ok=True)
            (scratch / SOURCE).write_text(place, encoding="utf-8")
        return
    if name.exists() and not name.is_symlink():
        remove(name)  # a model of an earlier version, or a copy of a link
    link.replace(name)
    sync_folder(name.parent)


def stands_for(name: Path) -> str | None:
    """What `name` stands for now."""
    if name.is_symlink():
        return name.readlink().as_posix()
    source = name / SOURCE
    return source.read_bytes()[:LONGEST].decode("utf-8", "replace") if is_regular(source) else None
