"""Run folders as commands see them: a new numbered one, and a person's project."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import count
from pathlib import Path

from actune.cli.failures import Stopped
from actune.core.files import storage_sentences
from actune.core.progress import Progress, silent
from actune.errors import RunFolderError
from actune.session.session import Session
from actune.session.setup import open_session
from actune.store.store import FILE


@contextmanager
def run_folder(out: Path | None) -> Iterator[Path]:
    """The folder of a simulated run, by default a new numbered one; Ctrl-C says how to go on."""
    with nullcontext(out) if out else numbered_folder(Path("runs")) as folder:
        try:
            yield folder
        except KeyboardInterrupt:
            if not (folder / FILE).exists():
                raise Stopped("stopped before anything was finished: the same command starts again") from None
            again = "the same command" if out else f"the same command with --out {folder}"
            raise Stopped(f"stopped; finished work is saved in {folder}, and {again} continues") from None


@contextmanager
def numbered_folder(parent: Path) -> Iterator[Path]:
    """A new folder 001, 002, ... of its own; it goes away again if no run came to be in it."""
    folder = _claim(parent)
    try:
        yield folder
    except BaseException:
        if not (folder / FILE).exists():
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                parent.rmdir()  # only where nothing else is in it
        raise


def open_project(folder: Path, progress: Progress = silent, method: str | None = None) -> Session:
    """The session of a project that people answer; a simulation has an oracle and a plan of its own."""
    session = open_session(folder, progress, method)
    if session.config.request.simulated:
        raise RunFolderError(
            f"{str(folder)!r} is a simulated run, not a project: continue it with `actune run ... --out {folder}`"
        )
    return session


def _claim(parent: Path) -> Path:
    with storage_sentences(parent):
        parent.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            with suppress(FileExistsError):  # another process may be as fast
                (folder := parent / f"{number:03d}").mkdir(mode=0o700)
                return folder
    raise AssertionError
