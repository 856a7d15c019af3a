"""Digests of files and folders, by which damage is found."""

from __future__ import annotations

from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, cast

from actune.core.places import files_below, open_regular

UNCOUNTED = {"README.md"}  # a person may write more about a model


def digest_of_file(file: Path) -> str:
    with open_regular(file, follow=False) as stream:
        return file_digest(cast(Any, stream), "sha256").hexdigest()


def digest_of_folder(folder: Path) -> str:
    """Of the names and contents of all files that decide what a model says."""
    found = sha256()
    for file in files_below(folder):
        if (name := file.relative_to(folder).as_posix()) not in UNCOUNTED:
            found.update(f"{name}\n{digest_of_file(file)}\n".encode("utf-8", "surrogateescape"))
    return found.hexdigest()
