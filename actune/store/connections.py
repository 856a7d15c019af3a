"""Connections to one SQLite file for any number of threads and processes, with its errors as sentences."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from actune.core.files import replacing, storage_sentences
from actune.core.places import is_regular
from actune.core.refusals import SAFE
from actune.core.shapes import WrongShape
from actune.errors import Busy, RunFolderError, StorageError
from actune.store.database import Connection
from actune.store.kept import Kept

BESIDE = ("", "-wal", "-shm", "-journal")  # what the names of SQLite's own files end with
SMALL = 16 * 2**20  # bytes of a database that is checked whenever somebody is about to write into it
PATIENCE = 30  # seconds to wait for another process
WRITING = "BEGIN IMMEDIATE"
NOTHING = "nothing of this step counts"
COMMITTING = "while committing"
SHORT_READ = "SQLITE_IOERR_SHORT_READ"  # the file is shorter than its own pages say; a disk that fails says otherwise
UNSURE = "it is not certain whether this step counts, and `actune status` shows it"


class Connections(Kept[sqlite3.Connection]):
    """The SQLite file of a run as a `Database`."""

    def __init__(self, path: Path, create: bool = False, readonly: bool = False) -> None:
        super().__init__(path.parent)
        if not create and not path.exists() and not path.is_symlink():
            raise RunFolderError(
                f"{str(path.parent)!r} is incomplete: {path.name} is missing; restore it from a backup"
            )
        for file in (path.with_name(path.name + end) for end in BESIDE):
            if file.is_symlink() or (file.exists() and not is_regular(file)):
                raise RunFolderError(f"{str(file)!r} is a link or no regular file: replace it by the file itself")
        self.path = path
        self._sound = create  # a database of one's own making
        self.readonly = readonly or not (create or writable(path))
        self._patience: float = PATIENCE
        self._copy: TemporaryDirectory[str] | None = None
        self._place = _uri(path, "rwc" if create else "rw")
        with sentences(path):
            if not create and not writable(path):
                self._place = self._readable_place()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one state of the database, whatever is written meanwhile."""
        with sentences(self.path), self._connection() as connection, _transaction(connection, "BEGIN"):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection that nobody writes beside; what was done is on the disk on leaving, or undone after an error."""
        if self.readonly:
            raise StorageError(f"{str(self.path)!r} cannot be written: check the folder's permissions")
        # threads of one process wait for their own lock: SQLite lets waiting processes only try again and again
        with (
            sentences(self.path, NOTHING),
            self._connection() as connection,
            self._turn(),
            _transaction(connection, WRITING),
        ):
            if not self._sound and self.path.stat().st_size <= SMALL:
                check_pages(connection)
            self._sound = True
            yield connection

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Only one thread writes; those behind it wait no longer than for another process."""
        writer = self._writer
        if not writer.acquire(timeout=self._patience):
            raise busy(self.path)
        try:
            yield
        finally:
            writer.release()

    def wait_at_most(self, seconds: float) -> None:
        """How long a locked database is waited for from now on."""
        self._patience = seconds
        self._close_idle()

    def check(self) -> None:
        """One sentence for a damaged database, which must not be written to; it takes longer with its size."""
        with self.reading() as connection:
            check_pages(connection)
        self._sound = True

    @property
    def name(self) -> str:
        return str(self.path)

    def version(self, connection: Connection) -> int:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])

    def problems(self, most: int) -> list[str]:
        with self.reading() as connection:
            found = [str(problem) for (problem,) in connection.execute(f"PRAGMA integrity_check({most})").fetchall()]
        return [problem for problem in found if problem != "ok"]

    def compact(self) -> None:
        with self.alone() as connection:
            connection.execute("VACUUM")

    def back_up(self, target: Path) -> None:
        with self.reading() as source, replacing(target) as scratch:
            copy = sqlite3.connect(scratch)
            source.backup(copy)
            copy.close()

    def environment(self) -> Mapping[str, str]:
        return {}

    def seal(self) -> None:
        pass  # the file lies in the folder

    def drop(self) -> None:
        pass

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """A connection outside of any transaction, for what SQLite does not do inside one."""
        with sentences(self.path), self._connection() as connection, self._writer:
            yield connection

    @contextmanager
    def changing_copy(self) -> Iterator[sqlite3.Connection]:
        """Reads from a copy of the database from now on; gives a connection that may change the copy."""
        with sentences(self.path):
            if self._copy is None:
                self._copy = TemporaryDirectory(prefix="actune-")
                place = Path(self._copy.name) / self.path.name
                target = sqlite3.connect(place)
                with self._connection() as source:
                    source.backup(target)
                target.close()
                self._close_idle()
                self._place = _uri(place, "rw")
            with self._connection() as connection, _transaction(connection, "BEGIN"):
                yield connection

    def close(self) -> None:
        super().close()
        if self._copy is not None:
            self._copy.cleanup()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._place, uri=True, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = FULL")  # what was committed survives a power cut
        harden(connection)
        return connection

    def _readable_place(self) -> str:
        """How to open a database in a folder that cannot be written."""
        place = _uri(self.path, "ro")
        try:
            sqlite3.connect(place, uri=True).execute("SELECT count(*) FROM sqlite_master").close()
            return place
        except sqlite3.OperationalError:  # the files that WAL shares between processes cannot be made here
            log = self.path.with_name(f"{self.path.name}-wal")
            if not log.exists() or not log.stat().st_size:
                return f"{place}&immutable=1"
            with storage_sentences(self.path):
                self._copy = copy = TemporaryDirectory(prefix="actune-")
                for file in (self.path, log):
                    shutil.copy(file, copy.name)
            return _uri(Path(copy.name) / self.path.name, "rw")


def writable(path: Path) -> bool:
    """Whether a database can be changed: SQLite also makes files beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _uri(path: Path, mode: str) -> str:
    return f"{path.absolute().as_uri()}?mode={mode}"


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        try:
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if begin == WRITING:
                error.add_note(COMMITTING)
            raise
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def harden(connection: sqlite3.Connection) -> None:
    """The file may be somebody else's: nothing that its schema says is run, and broken pages are noticed."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    if (set_config := getattr(connection, "setconfig", None)) is not None:  # since Python 3.12
        set_config(getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE"), True)  # noqa: B009


def check_pages(connection: sqlite3.Connection) -> None:
    """What SQLite finds wrong with its file without comparing indexes with tables."""
    found = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != ("ok",):
        raise WrongShape(str(found[0]).replace("\n", " "))


@contextmanager
def sentences(path: Path, state: str = SAFE) -> Iterator[None]:
    """Turns SQLite's errors into sentences for the user; `state` says what is certain where the disk fails."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        problem = str(error)
        if "locked" in problem or "busy" in problem:
            raise busy(path) from error
        if "full" in problem:
            raise StorageError(f"the disk is full: nothing of this step was written to {str(path)!r}") from error
        name = getattr(error, "sqlite_errorname", problem)
        if name == SHORT_READ:
            raise damaged(path, "it ends too early") from error
        if "disk I/O" in problem:
            # what was not written whole is never read, but what was written and not confirmed may be
            unsure = COMMITTING in getattr(error, "__notes__", ()) and name != "SQLITE_IOERR_WRITE"
            raise StorageError(
                f"the disk failed at {str(path)!r} ({name}): {UNSURE if unsure else state}; "
                "check that the disk has room and no errors"
            ) from error
        if "readonly" in problem or "unable to open" in problem:
            raise StorageError(f"{str(path)!r} cannot be written: check the folder's permissions") from error
        raise damaged(path, problem) from error
    except WrongShape as error:
        raise damaged(path, str(error)) from error
    except UnicodeDecodeError as error:  # in SQLite's own message about a broken name
        raise damaged(path, "its text is broken") from error


def busy(path: Path) -> Busy:
    """Others write for longer than anybody wants to wait."""
    return Busy(f"{str(path)!r} was locked by another process for too long: try again")


def damaged(path: Path, problem: str) -> RunFolderError:
    """A database that says what no run says, and what to do."""
    todo = f"run `actune verify {path.parent}`, or restore a backup"
    return RunFolderError(f"{str(path)!r} is damaged or not a run's database ({problem}): {todo}")
