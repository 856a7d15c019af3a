"""One folder per run: run.toml, run.db, texts, arrays and models. A round exists when its row is committed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from actune.core.files import LOCK, SCRATCH, locked, remove, storage_sentences, write_atomically
from actune.core.refusals import already_saved
from actune.errors import RunFolderError, StorageError
from actune.store.files import ARRAYS, MODELS, NEWEST, RunFiles
from actune.store.sqlite import SQLiteEvents
from actune.store.texts import TEXTS

DATABASE = "run.db"
FILE = "run.toml"
UNFINISHED = "unfinished"  # a file that is there while a run is being made
OWN = {DATABASE, *(f"{DATABASE}-{end}" for end in ("wal", "shm", "journal")), TEXTS, ARRAYS, MODELS, NEWEST, UNFINISHED}


class Store(SQLiteEvents, RunFiles):
    """A run on the disk: the verbs of its database, and its files."""

    def __init__(self, folder: Path, create: bool = False, readonly: bool = False) -> None:
        super().__init__(folder / DATABASE, create, readonly)
        self.folder = folder

    @classmethod
    @contextmanager
    def creating(cls, folder: Path) -> Iterator[Self]:
        """A new run folder to fill. It is a run once it is sealed, so half a creation is never taken for one.

        What a killed creation left behind is cleared away; a creation that fails leaves nothing.
        """
        check_free(folder)
        with storage_sentences(folder):
            made = not folder.exists()
            try:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # texts and labels are the user's own business
            except FileNotFoundError:
                raise StorageError(f"cannot create the folder {str(folder)!r}: choose another folder") from None
            with locked(folder, "creating a run in"):
                check_free(folder)  # another process may have come first
                store = None
                try:
                    write_atomically(folder / UNFINISHED, b"this run is being made, or its making was interrupted\n")
                    _clear(folder, but=(UNFINISHED, LOCK))
                    store = cls(folder, create=True)
                    yield store
                except BaseException:
                    if store is not None:
                        store.close()
                    if not (folder / FILE).exists():  # what is sealed is a run, whatever failed afterwards
                        with suppress(OSError):
                            _clear(folder)
                            if made:
                                folder.rmdir()
                    raise

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The store of a run; that of an earlier version is brought up to date, and leaves a copy of its database."""
        store = cls(folder)
        with suppress(OSError, StorageError):  # a folder that cannot be written can be read
            (folder / UNFINISHED).unlink(missing_ok=True)  # of a process that was killed just after it sealed the run
            store.point_to_newest(repair=True)
        return store

    @classmethod
    def reading(cls, folder: Path) -> Self:
        """The store of a run that is only looked at: nothing in the folder changes."""
        return cls(folder, readonly=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def seal(self, configuration: str) -> None:
        """Writes run.toml: with it the folder is a run."""
        write_atomically(self.folder / FILE, configuration.encode())
        with already_saved(f"the run in {str(self.folder)!r}"):
            (self.folder / UNFINISHED).unlink(missing_ok=True)


def newest_model_in(folder: Path) -> Path:
    """The newest model of a run; a folder that is no run, or a run without a model, stands for itself."""
    if not (folder / FILE).is_file():
        return folder
    with Store.reading(folder) as store:
        return store.newest_model() or folder


def check_free(folder: Path) -> None:
    """Refuses a folder that a new run may not be made in."""
    with storage_sentences(folder):
        if (folder / FILE).exists():
            raise RunFolderError(f"{str(folder)!r} already contains a run: choose another folder")
        if not folder.exists():
            return
        own = OWN if (folder / UNFINISHED).is_file() else set()
        names = {path.name for path in folder.iterdir() if not _scratch(path)}
        if strange := sorted(names - own - {LOCK}):
            raise RunFolderError(
                f"{str(folder)!r} is not empty and not a run folder (it contains {strange[0]!r}): choose another folder"
            )


def _scratch(path: Path) -> bool:
    return path.name.startswith((f".{FILE}.", f".{UNFINISHED}.", f".{NEWEST}.")) and path.name.endswith(SCRATCH)


def _clear(folder: Path, but: tuple[str, ...] = ()) -> None:
    """Removes what a creation makes, and nothing else; the mark that it is unfinished goes last."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name == UNFINISHED):
        if path.name not in but and (path.name in {*OWN, LOCK} or _scratch(path)):
            remove(path)
