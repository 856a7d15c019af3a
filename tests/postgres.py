"""A real PostgreSQL server in a temporary folder, from the binaries that the package pgserver carries."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

WAIT = 120  # seconds for a server on a busy machine
PASSWORD = "a secret@of ann"


class Server:
    """One that can be killed and started again. It listens on a socket in its folder and on no network."""

    def __init__(self, folder: Path, synchronous: bool) -> None:
        from pgserver._commands import POSTGRES_BIN_PATH

        self.folder, self.data, self.programs = folder, folder / "data", POSTGRES_BIN_PATH
        self.user = _unprivileged(folder, POSTGRES_BIN_PATH)
        self.url = f"postgresql://postgres@/postgres?host={folder}"
        words = ["--auth=trust", "--encoding=UTF8", "--username=postgres", "--no-sync"]
        command = [self.programs / "initdb", *words, "-D", self.data]
        subprocess.run(command, check=True, capture_output=True, user=self.user, cwd=folder)
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write(f"listen_addresses = ''\nunix_socket_directories = '{folder}'\nmax_connections = 200\n")
            settings.write(f"fsync = {'on' if synchronous else 'off'}\n")
        self.start()

    def start(self) -> None:
        end = time.monotonic() + WAIT
        while True:
            with (self.folder / "log").open("a") as log:
                command = [self.programs / "postgres", "-D", self.data]
                self.process = subprocess.Popen(command, stderr=log, stdout=log, user=self.user, cwd=self.folder)
            if self._is_ready(end):
                return
            self.process.wait()  # children of a killed server may still have its memory
            assert time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.1)

    def kill(self) -> None:
        """As when the machine loses its power, but that the files are as the system has them."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(WAIT)

    def execute(self, statement: str) -> list[tuple]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def schemas(self) -> list[str]:
        query = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'actune%' ORDER BY 1"
        return [name for (name,) in self.execute(query)]

    def _is_ready(self, end: float) -> bool:
        while self.process.poll() is None and time.monotonic() < end:
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
                return True
            except psycopg.OperationalError:
                time.sleep(0.05)
        return False


@contextmanager
def server(synchronous: bool = False) -> Iterator[Server]:
    """A server until the block ends. One that is not `synchronous` waits for no disk, which only a power cut shows."""
    folder = Path(tempfile.mkdtemp(prefix="actune-pg-"))  # of a short name: a socket's path has at most 107 bytes
    found = None
    try:
        found = Server(folder, synchronous)
        yield found
    finally:
        if found is not None and found.process.poll() is None:
            found.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder: Path, programs: Path) -> str | None:
    """PostgreSQL refuses to run as root: then it runs as a user that pgserver makes."""
    if os.geteuid():
        return None
    from pgserver.utils import ensure_folder_permissions, ensure_prefix_permissions, ensure_user_exists

    ensure_user_exists("pgserver")
    ensure_prefix_permissions(programs)
    readable = stat.S_IRGRP | stat.S_IROTH
    ensure_folder_permissions(programs, readable | stat.S_IXGRP | stat.S_IXOTH)
    for name in ("lib", "share"):
        ensure_folder_permissions(programs.parent / name, readable)
    shutil.chown(folder, "pgserver")
    folder.chmod(0o755)
    return "pgserver"
