"""Connections that are kept open between calls, each for one thread at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from actune.errors import RunFolderError

MOST_IDLE = 8  # connections that are kept open between calls


class Closing(Protocol):
    def close(self) -> None: ...


Kind = TypeVar("Kind", bound=Closing)

# a forked process must neither use nor close its parent's connections: they are kept here, untouched
_inherited: list[object] = []


class Kept(Generic[Kind]):
    """A thread has a connection to itself for as long as it needs one; a forked process opens its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._closed = False
        self._forget()

    def close(self) -> None:
        """Closes all connections; one that another thread is using follows when that thread is done."""
        self._closed = True
        self._close_idle()

    def _open(self) -> Kind:
        raise NotImplementedError

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connection(self) -> Iterator[Kind]:
        self._check()
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._open()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._keep(connection)

    def _check(self) -> None:
        """Before a connection is taken."""
        if os.getpid() != self._process:
            _inherited.append(self._idle)
            self._forget()
        if self._closed:
            raise RunFolderError(
                f"the session of {str(self.folder)!r} is closed: open it again with actune.open_session"
            )

    def _keep(self, connection: Kind) -> None:
        if self._closed or len(self._idle) >= MOST_IDLE:
            connection.close()
        else:
            self._idle.append(connection)

    def _forget(self) -> None:
        self._process = os.getpid()
        self._idle: list[Kind] = []  # append and pop are atomic
        self._writer = threading.Lock()
