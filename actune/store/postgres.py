"""The tables of a run in a schema of PostgreSQL, with the promises of SQLite: one writes at a time, in one order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from psycopg import errors
from psycopg.conninfo import make_conninfo

from actune.core.files import replacing
from actune.core.shapes import WrongShape
from actune.errors import Busy, DataError, RunFolderError, StorageError
from actune.store.addresses import FILE, Schema, parameters, public
from actune.store.connections import COMMITTING, NOTHING, UNSURE, Connections
from actune.store.database import Connection, Rows
from actune.store.dialect import translated, translated_tables
from actune.store.kept import Kept
from actune.store.schema import MADE, TABLES, VERSION, prepare

Raw: TypeAlias = psycopg.Connection[tuple[Any, ...]]
PATIENCE = 30.0  # seconds to wait for another writer, or for the server
ABANDONED = 60  # seconds after which the server ends a transaction whose client went away without a word
MADE_IN, UNSEALED = "actune: the run in ", "actune: a run that is being made in "  # comments of schemas
ENCODING = "UTF8"
# a password from the environment must not be given away to a server that somebody else's folder names
AUTHENTICATION = "!password,!md5"


class PostgreSQL(Kept[Raw]):
    """A `Database` in one schema, whose name is drawn at random, and whose comment names the run's folder."""

    def __init__(self, schema: Schema, create: bool = False, readonly: bool = False) -> None:
        super().__init__(schema.folder)
        self.schema, self.readonly = schema, readonly
        self.name = f"{public(schema.address)} (schema {schema.name})"
        self._patience = PATIENCE
        self._key = int.from_bytes(blake2b(schema.name.encode(), digest_size=8).digest(), "big", signed=True)
        try:
            self._create() if create else self._check_tables()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        if self.readonly:
            raise StorageError(f"{self.name} was opened for reading only")
        # the lock comes first and ends with the transaction: each statement sees all that earlier writers committed
        begin = (
            "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; "
            "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'; "
            f"SET LOCAL lock_timeout = {int(self._patience * 1000)}; "
            f"SET LOCAL idle_in_transaction_session_timeout = '{ABANDONED}s'; "
            f"SELECT pg_advisory_xact_lock({self._key})"
        )
        self._check()  # a forked process has a lock of its own
        writer = self._writer
        # one connection of this process waits for the others, and its threads wait for that one
        if not writer.acquire(timeout=self._patience):
            raise self._busy()
        try:
            with self._transaction(begin, NOTHING) as connection:
                yield connection
        finally:
            writer.release()

    def version(self, connection: Connection) -> int:
        found = connection.execute("SELECT number FROM version").fetchone()
        if not found or type(found[0]) is not int:
            raise WrongShape("it has no version")
        return found[0]

    def problems(self, most: int) -> list[str]:
        return []  # PostgreSQL looks after its files

    def check(self) -> None:
        pass

    def compact(self) -> None:
        pass  # autovacuum does it

    def back_up(self, target: Path) -> None:
        with self.reading() as source, replacing(target) as scratch:
            scratch.unlink()
            copy = Connections(scratch, create=True)
            try:
                prepare(copy, create=True)
                with copy.writing() as connection:
                    for table in sorted(set().union(*TABLES.values())):
                        _copy(source, connection, table)
                with copy.alone() as connection:
                    connection.execute("PRAGMA journal_mode = DELETE")
            finally:
                copy.close()

    def wait_at_most(self, seconds: float) -> None:
        self._patience = seconds
        self._close_idle()

    def environment(self) -> Mapping[str, str]:
        password = parameters(self.schema.address).get("password")
        return {} if password is None else {"PGPASSWORD": password}

    # a schema is made before its folder is a run, and must not stay behind where that comes to nothing

    def seal(self) -> None:
        """Says that the folder is a run, so that the schema is never taken for one that may go."""
        with self.writing() as connection:
            connection.execute(self._comment(MADE_IN))

    def drop(self) -> None:
        """Removes the schema of a run that was never finished being made."""
        with self.writing() as connection:
            query = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = ?"
            found = connection.execute(query, (self.schema.name,)).fetchone()
            if found and str(found[0]).startswith(UNSEALED):
                connection.execute(f"DROP SCHEMA {self.schema.name} CASCADE")

    def _create(self) -> None:
        with self.writing() as connection:
            (encoding,) = connection.execute("SHOW server_encoding").fetchone()
            if encoding != ENCODING:
                raise StorageError(
                    f"{public(self.schema.address)} keeps texts in {encoding}, which has not all characters: use a "
                    f"database with the encoding {ENCODING}"
                )
            connection.execute(f"CREATE SCHEMA {self.schema.name}")
            connection.execute(self._comment(UNSEALED))
            for statement in translated_tables(MADE).split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute("CREATE TABLE version (number BIGINT NOT NULL)")
            connection.execute("INSERT INTO version VALUES (?)", (VERSION,))

    def _comment(self, words: str) -> str:
        folder = str(self.folder.absolute()).replace("'", "''").replace("?", "_")
        return f"COMMENT ON SCHEMA {self.schema.name} IS '{words}{folder}'"

    def _check_tables(self) -> None:
        with self.reading() as connection:
            query = "SELECT table_name FROM information_schema.tables WHERE table_schema = ?"
            found = {name for (name,) in connection.execute(query, (self.schema.name,))}
            if not found:
                raise RunFolderError(
                    f"{public(self.schema.address)} has no schema {self.schema.name} that you may use: check the "
                    f"address in {str(self.folder / FILE)!r}, ask for access, or restore the schema with pg_restore"
                )
            if "version" in found and (known := self.version(connection)) > VERSION:
                raise RunFolderError(
                    f"{self.name} was written by a newer version of actune (tables {known}): upgrade actune"
                )
            if missing := sorted({"version"}.union(*TABLES.values()) - found):
                raise WrongShape(f"it has no table {missing[0]!r}")

    @contextmanager
    def _transaction(self, begin: str, state: str = "") -> Iterator[Connection]:
        with self._sentences(state):
            connection = self._begun(f"{begin}; SET LOCAL search_path TO {self.schema.name}")
            try:
                yield Speaking(connection)
                try:
                    connection.execute("COMMIT")
                except psycopg.OperationalError as error:
                    error.add_note(COMMITTING)
                    raise
            except BaseException as error:
                with suppress(psycopg.Error):
                    if not isinstance(error, Exception):
                        connection.close()  # in the middle of something
                    elif not connection.closed:
                        connection.execute("ROLLBACK")
                raise
            finally:
                if not connection.closed:
                    self._keep(connection)

    def _begun(self, begin: str) -> Raw:
        """A connection with a transaction; those that the server has ended meanwhile are passed over."""
        self._check()
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread took it
                break
            try:
                connection.execute(begin)
                return connection
            except psycopg.OperationalError:
                if not connection.closed:
                    connection.close()
                    raise
        connection = self._open()
        try:
            connection.execute(begin)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open(self) -> Raw:
        return psycopg.connect(
            make_conninfo(self.schema.address, require_auth=_authentication()),
            autocommit=True,
            connect_timeout=max(2, int(self._patience)),  # libpq takes 1 for 2
            client_encoding="utf8",
            application_name="actune",
        )

    @contextmanager
    def _sentences(self, state: str) -> Iterator[None]:
        """Turns errors of PostgreSQL into sentences; `state` says what is certain where the server goes away."""
        try:
            yield
        except (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure) as error:
            raise self._busy() from error
        except errors.DiskFull as error:
            raise StorageError(
                f"the disk of the server is full: nothing of this step was written to {self.name}"
            ) from error
        except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
            raise StorageError(f"{self.name} cannot be used ({_first(error)}): ask its owner for access") from error
        except psycopg.OperationalError as error:
            unsure = COMMITTING in getattr(error, "__notes__", ())
            said = f": {UNSURE if unsure else state}" if unsure or state else ""
            raise StorageError(
                f"{public(self.schema.address)} cannot be reached ({_first(error)}){said}; check that the server runs "
                "and the password is right, then try again"
            ) from error
        except psycopg.DataError as error:
            if error.sqlstate is None:  # psycopg's own: PostgreSQL has no such character
                raise DataError("a text has the character NUL, which PostgreSQL cannot keep: remove it") from error
            raise self._damaged(_first(error)) from error
        except psycopg.Error as error:
            raise self._damaged(_first(error)) from error
        except WrongShape as error:
            raise self._damaged(str(error)) from error

    def _busy(self) -> Busy:
        return Busy(f"{self.name} was locked by another process for too long: try again")

    def _damaged(self, problem: str) -> RunFolderError:
        todo = f"run `actune verify {self.folder}`, or restore the schema with pg_restore"
        return RunFolderError(f"{self.name} is damaged or not a run's database ({problem}): {todo}")


class Speaking:
    """A connection that understands the SQL of the verbs."""

    def __init__(self, connection: Raw) -> None:
        self._connection = connection

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Rows:
        return self._connection.execute(translated(query), tuple(values))

    def executemany(self, query: str, values: Iterable[Sequence[Any]], /) -> None:
        rows = [tuple(row) for row in values]
        if len(rows) == 1:
            self.execute(query, rows[0])
        elif rows:
            self._connection.cursor().executemany(translated(query), rows)


def _authentication() -> str | None:
    """How a server may ask who this is, unless the user has said it."""
    return None if "PGREQUIREAUTH" in os.environ else AUTHENTICATION


def _copy(source: Connection, target: Connection, table: str) -> None:
    """All rows of a table, by the names of its columns."""
    names = [name for _, name, *_ in target.execute(f"PRAGMA table_info({table})").fetchall()]
    target.execute(f"DELETE FROM {table}")
    columns, marks = ", ".join(names), ", ".join("?" * len(names))
    target.executemany(
        f"INSERT INTO {table} ({columns}) VALUES ({marks})", source.execute(f"SELECT {columns} FROM {table}")
    )


def _first(error: psycopg.Error) -> str:
    """The first line of what PostgreSQL says, which never has a password."""
    lines = str(error).strip().splitlines()
    return lines[0].strip().rstrip(".:") if lines else type(error).__name__
