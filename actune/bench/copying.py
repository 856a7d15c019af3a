"""Run folders of cells, copied from one results folder to another or sent as bytes: files only, and no links."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from actune.core.files import replacing_folder, storage_sentences
from actune.core.places import PRIVATE_FOLDER, files_below, inside, open_regular
from actune.store.files import NEWEST
from actune.store.store import FILE as RUN


def files_in(folder: Path) -> dict[str, bytes]:
    """A run folder as bytes by name, to be sent elsewhere; nothing where it is no run yet."""
    if not (folder / RUN).is_file():
        return {}
    return {name: _content(path) for name, path in _files_of(folder).items()}


def put_files(files: Mapping[str, bytes], folder: Path) -> None:
    """The run folder that these files are, in the place of what was there: all of it or nothing."""
    with _private(folder) as scratch:
        for name, content in files.items():
            _place(scratch, name).write_bytes(content)


def copy_cell(source: Path, folder: Path) -> None:
    """The run folder `source` in the place of `folder`: all of it or nothing."""
    files = _files_of(source)
    with _private(folder) as scratch:
        for name, path in files.items():
            with open_regular(path, follow=False) as old, _place(scratch, name).open("wb") as new:
                shutil.copyfileobj(old, new)


def _files_of(folder: Path) -> dict[str, Path]:
    """The files of a run folder by name, but for what killed processes left; a link or special file is refused."""
    found: dict[str, Path] = {}
    for path in files_below(folder, but=folder / NEWEST):
        name = path.relative_to(folder)
        if not any(part.startswith(".") for part in name.parts):
            found[name.as_posix()] = inside(folder, name.as_posix())
    return found


@contextmanager
def _private(folder: Path) -> Iterator[Path]:
    with storage_sentences(folder), replacing_folder(folder) as scratch:
        scratch.chmod(PRIVATE_FOLDER)
        yield scratch


def _place(folder: Path, name: str) -> Path:
    """Where a file of this name goes; the folders between are made."""
    path = inside(folder, name)
    for parent in reversed(path.relative_to(folder).parents[:-1]):
        (folder / parent).mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    return path


def _content(path: Path) -> bytes:
    with open_regular(path, follow=False) as handle:
        return handle.read()
