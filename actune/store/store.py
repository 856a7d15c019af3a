"""One folder per run: run.toml, the database or its address, texts, arrays, models. A committed round exists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from actune.core.files import LOCK, SCRATCH, locked, remove, storage_sentences, write_atomically
from actune.core.refusals import already_saved
from actune.errors import ActuneError, RunFolderError, StorageError
from actune.store.addresses import DATABASE as DATABASE
from actune.store.addresses import FILE as ADDRESS
from actune.store.addresses import known_place, new_place, public
from actune.store.files import ARRAYS, MODELS, NEWEST, RunFiles
from actune.store.sql import SQLEvents
from actune.store.texts import TEXTS

FILE = "run.toml"
UNFINISHED = "unfinished"  # a file that is there while a run is being made
OWN = {DATABASE, *(f"{DATABASE}-{end}" for end in ("wal", "shm", "journal")), ADDRESS}
OWN |= {TEXTS, ARRAYS, MODELS, NEWEST, UNFINISHED}


class Store(SQLEvents, RunFiles):
    """A run on the disk: the verbs of its database, and its files."""

    def __init__(self, folder: Path, create: bool = False, readonly: bool = False, address: str = "") -> None:
        place = new_place(folder, address) if create else known_place(folder, address)
        super().__init__(place, create, readonly)
        self.folder = folder

    @classmethod
    @contextmanager
    def creating(cls, folder: Path, address: str = "") -> Iterator[Self]:
        """A new run folder to fill. It is a run once it is sealed, so half a creation is never taken for one.

        What a killed creation left behind is cleared away; a creation that fails leaves nothing. An `address` is that
        of a PostgreSQL database, which keeps the events in place of a file in the folder.
        """
        check_free(folder)
        if address:
            public(address)  # before anything is made
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
                    _forget_abandoned(folder, address)
                    _clear(folder, but=(UNFINISHED, LOCK))
                    store = cls(folder, create=True, address=address)
                    yield store
                except BaseException:
                    sealed = (folder / FILE).exists()  # then it is a run, whatever failed afterwards
                    if store is not None:
                        if not sealed:
                            store.drop()
                        store.close()
                    if not sealed:
                        with suppress(OSError):
                            _clear(folder)
                            if made:
                                folder.rmdir()
                    raise

    @classmethod
    def open(cls, folder: Path, address: str = "") -> Self:
        """The store of a run; that of an earlier version is brought up to date, and leaves a copy of its database.

        An `address` reaches the same PostgreSQL database as another user, with a password, or by another name.
        """
        store = cls(folder, address=address)
        with suppress(OSError, StorageError):  # a folder that cannot be written can be read
            (folder / UNFINISHED).unlink(missing_ok=True)  # of a process that was killed just after it sealed the run
            store.point_to_newest(repair=True)
        return store

    @classmethod
    def reading(cls, folder: Path) -> Self:
        """The store of a run that is only looked at: nothing in the folder changes."""
        return cls(folder, readonly=True)

    def drop(self) -> None:
        """Takes back what a creation that failed has made outside of the folder."""
        with suppress(ActuneError):  # the first problem is the one to tell
            self._connections.drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def seal(self, configuration: str) -> None:
        """Writes run.toml: with it the folder is a run."""
        write_atomically(self.folder / FILE, configuration.encode())
        with already_saved(f"the run in {str(self.folder)!r}"):
            self._connections.seal()
            (self.folder / UNFINISHED).unlink(missing_ok=True)


def _forget_abandoned(folder: Path, address: str) -> None:
    """Takes back what a creation that was killed has made outside of the folder."""
    with suppress(ActuneError):  # its server may be gone, and somebody may have damaged the file
        if (folder / ADDRESS).is_file():
            store = Store(folder, address=address)
            store.drop()
            store.close()


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
