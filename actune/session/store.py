"""One folder per run: run.toml, run.db, arrays and models. A round exists when its row is committed."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from actune.errors import Busy, RunFolderError, StorageError
from actune.session.config import FILE, Config, load_config
from actune.session.database import Database

if TYPE_CHECKING:
    import numpy as np

DATABASE = "run.db"
LOCK = "advance.lock"


class Store:
    """The files of one run. Arrays and models are written before the commit that makes them count."""

    def __init__(self, folder: Path, config: Config, database: Database) -> None:
        self.folder = folder
        self.config = config
        self.database = database

    @classmethod
    @contextmanager
    def creating(cls, folder: Path, config: Config) -> Iterator[Store]:
        """A new run folder to fill. run.toml is written last, so half a creation is never taken for a run.

        What a killed creation left behind is cleared away; a creation that fails leaves nothing.
        """
        check_free(folder)
        with storage_sentences(folder):
            made = not folder.exists()
            try:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # texts and labels are the user's own business
            except FileNotFoundError:
                raise StorageError(f"{str(folder)!r} cannot be made: choose another folder") from None
            with locked(folder, "making a run in"):
                check_free(folder)  # another process may have come first
                store = None
                try:
                    for path in folder.iterdir():
                        if path.name != LOCK:
                            _remove(path)
                    store = cls(folder, config, Database(folder / DATABASE, create=True))
                    yield store
                    write_atomically(folder / FILE, config.dumps().encode())
                except BaseException:
                    if store is not None:
                        store.close()
                    _clear(folder, made)
                    raise

    @classmethod
    def open(cls, folder: Path) -> Store:
        config = load_config(folder)
        return cls(folder, config, Database(folder / DATABASE))

    def close(self) -> None:
        self.database.close()

    def reconfigure(self, config: Config) -> None:
        write_atomically(self.folder / FILE, config.dumps().encode())
        self.config = config

    # arrays

    def save_arrays(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        from safetensors.numpy import save

        with storage_sentences(self.folder):
            (self.folder / "arrays").mkdir(exist_ok=True)
            # metadata-free and contiguous, so that equal arrays are equal files
            write_atomically(self.folder / "arrays" / f"{name}.safetensors", save(_contiguous(arrays)))

    def has_arrays(self, name: str) -> bool:
        return (self.folder / "arrays" / f"{name}.safetensors").is_file()

    def load_arrays(self, name: str) -> dict[str, np.ndarray]:
        from safetensors.numpy import load_file

        file = self.folder / "arrays" / f"{name}.safetensors"
        if not file.is_file():
            raise RunFolderError(f"{str(self.folder)!r} is not a whole run: {file.name} is missing")
        return load_file(file)

    # models

    @contextmanager
    def new_model(self, name: str) -> Iterator[Path]:
        """A folder to write a model into; it takes its final name with `adopt_models`, after the commit."""
        from safetensors import SafetensorError

        with storage_sentences(self.folder):
            folder = self.folder / f"{name}.new"
            _remove(folder)
            folder.mkdir()
            try:
                yield folder
            except SafetensorError as error:  # what the system refused reaches us only as text
                raise StorageError(f"the model could not be written ({error}): free some space") from error

    def adopt_models(self, fitted: int) -> None:
        """Gives models of the last committed round their final names and drops those of a round that never was."""
        with storage_sentences(self.folder):
            for fresh in self.folder.glob("*.new"):
                mark = fresh / "round"
                if mark.is_file() and mark.read_text() == str(fitted):
                    _remove(fresh.with_suffix(""))
                    fresh.replace(fresh.with_suffix(""))
                else:
                    _remove(fresh)

    def model(self, name: str) -> Path | None:
        folder = self.folder / name
        return folder if folder.is_dir() else None

    @contextmanager
    def advancing(self) -> Iterator[None]:
        """At most one process advances a run; a killed one leaves no lock behind."""
        with storage_sentences(self.folder), locked(self.folder, "advancing"):
            yield


_OWN = {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", "arrays", LOCK, "report.html", f".{FILE}.tmp"}


def check_free(folder: Path) -> None:
    """Refuses a folder that a new run may not be made in."""
    with storage_sentences(folder):
        if (folder / FILE).exists():
            raise RunFolderError(f"{str(folder)!r} holds a run already: choose another folder")
        if folder.exists() and (strange := sorted({path.name for path in folder.iterdir()} - _OWN)):
            raise RunFolderError(f"{str(folder)!r} is neither empty nor a run: it holds {strange[0]!r}")


def write_atomically(file: Path, content: bytes) -> None:
    """The whole content or the old file, even if the power goes."""
    scratch = file.with_name(f".{file.name}.tmp")
    with storage_sentences(file):
        try:
            with scratch.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            scratch.replace(file)
        except OSError:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)
            raise
        handle = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def storage_sentences(path: Path) -> Iterator[None]:
    """The operating system's refusals as sentences for the user."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StorageError(
                f"the disk is full: {str(path)!r} could not be written, what was saved before is safe"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise StorageError(f"{str(path)!r} cannot be written: check the folder's permissions") from error
        if error.errno in (errno.ENOTDIR, errno.EEXIST):
            raise StorageError(f"{str(path)!r} cannot be a run folder: a file is in its way") from error
        raise


def _contiguous(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    import numpy as np

    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _clear(folder: Path, made: bool) -> None:
    with suppress(OSError):
        for path in folder.iterdir():
            _remove(path)
        if made:
            folder.rmdir()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path, doing: str) -> Iterator[None]:
    """At most one process holds a folder; a killed one leaves no lock behind."""
    with (folder / LOCK).open("a") as file:
        try:
            _lock(file.fileno())
        except OSError as error:
            raise Busy(f"another process is {doing} {str(folder)!r} right now") from error
        yield


def _lock(handle: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
