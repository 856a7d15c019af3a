"""What the verbs need of a database. They speak SQLite's SQL, which postgres.py translates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol


class Rows(Protocol):
    """What a query found, each row a tuple."""

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """One transaction's way to the tables; values stand for the question marks of a query."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Rows: ...

    def executemany(self, query: str, values: Iterable[Sequence[Any]], /) -> object: ...


class Database(Protocol):
    """The tables of one run, for any number of threads and processes."""

    @property
    def name(self) -> str:
        """What sentences call it."""
        ...

    def reading(self) -> AbstractContextManager[Connection]:
        """Sees one state of the tables, whatever is written meanwhile."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """Nobody writes beside; what was done is on the disk on leaving, or undone after an error."""
        ...

    def version(self, connection: Connection) -> int:
        """Which version of actune's tables these are."""
        ...

    def problems(self, most: int) -> list[str]:
        """What the database finds wrong with its own files, at most so many problems."""
        ...

    def check(self) -> None:
        """One sentence for a damaged database, which must not be written to."""
        ...

    def compact(self) -> None:
        """Gives the room of deleted rows back."""
        ...

    def back_up(self, target: Path) -> None:
        """Writes a copy of the run's tables as they are now, as a file of SQLite."""
        ...

    def wait_at_most(self, seconds: float) -> None:
        """How long another writer is waited for from now on."""
        ...

    def environment(self) -> Mapping[str, str]:
        """What another process of this user needs to open the same database."""
        ...

    def seal(self) -> None:
        """Says that the folder is a run now."""
        ...

    def drop(self) -> None:
        """Takes back what a creation that failed has made outside of the folder."""
        ...

    def close(self) -> None: ...
