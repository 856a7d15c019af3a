"""Serves one project until somebody ends it."""

from __future__ import annotations

import ipaddress
import json
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from urllib.parse import SplitResult, urlsplit

import uvicorn

from actune.core.files import SCRATCH, locked, write_atomically
from actune.core.places import PRIVATE_FILE
from actune.errors import Busy, SettingError
from actune.session.session import Session
from actune.web.accounts import Accounts
from actune.web.app import build
from actune.web.desk import Desk
from actune.web.keys import Keys
from actune.web.security import Door
from actune.web.trainer import LOG, Trainer

LOCK, RUNNING = "server.lock", "running.json"
USUAL_PORT = 7383
PATIENCE = 3.0  # seconds that a request waits for a locked database, before the page is told to try again
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Server(uvicorn.Server):
    """One that ends cleanly on Ctrl-C, on a closed terminal and on a request to end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        def end(number: int, frame: FrameType | None) -> None:
            self.should_exit = True

        before = {number: signal.signal(number, end) for number in ENDING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@dataclass(frozen=True)
class Address:
    """Where to listen; without a port it is that of last time.

    `origins` are addresses by which browsers reach this server otherwise, such as that of a proxy with encryption.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    origins: tuple[str, ...] = ()


def serve(session: Session, address: Address, ready: Callable[[str, Keys], None], trains: bool = True) -> None:
    """Serves a project; `ready` is called with the link that opens it once everything is there."""
    folder = session.store.folder
    if not is_loopback(address.host) and not Accounts(folder).all():
        raise SettingError(
            f"{address.host} can be reached from other machines, and this project has no accounts: leave --host out, "
            f"or run `actune user add NAME {folder}` first"
        )
    keys = Keys(folder)
    try:
        with locked(keys.folder, "serving", name=LOCK):
            _serve(session, keys, address, ready, trains)
    except Busy:
        raise Busy(f"the page of this project is open already: {another_link(folder)}") from None


def another_link(folder: Path) -> str:
    """A new link to the server of a project that is running already."""
    keys = Keys(folder)
    try:
        found = json.loads((keys.folder / RUNNING).read_text(encoding="utf-8"))
        return f"{found['url']}/?token={keys.link(found['start'])}"
    except (OSError, ValueError, KeyError, TypeError):
        return "find its link in the terminal where it was started"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _serve(session: Session, keys: Keys, address: Address, ready: Callable[[str, Keys], None], trains: bool) -> None:
    session.store.wait_at_most(PATIENCE)
    for file in keys.folder.glob(f".*{SCRATCH}*"):  # of a server that was killed
        file.unlink(missing_ok=True)
    listening = bind(address, keys.folder / RUNNING)
    host = f"[{address.host}]" if ":" in address.host else address.host
    found = listening.getsockname()[1]
    url, start = f"http://{host}:{found}", secrets.token_urlsafe(12)
    trainer = Trainer(session.store.folder, keys.folder / LOG, not trains, session.store.environment())
    desk = Desk(keys.id, session, trainer)
    trainer.after = desk.after_answers
    app = build(desk, door_of(keys, start, address, found))
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, ws="none", timeout_graceful_shutdown=3
    )
    try:
        facts = {"url": url, "start": start, "pid": os.getpid(), "port": found}
        _write_private(keys.folder / RUNNING, json.dumps(facts))
        trainer.ask_for("prepare")
        ready(f"{url}/?token={keys.link(start)}", keys)
        Server(config).run(sockets=[listening])
    finally:
        trainer.close()
        listening.close()


def door_of(keys: Keys, start: str, address: Address, port: int) -> Door:
    """The guard's facts: every name by which this machine may be called, with the port."""
    names = {*LOOPBACK, f"[{address.host}]" if ":" in address.host else address.host}
    if not is_loopback(address.host):
        names |= own_names()
    hosts = {f"{name}:{port}".lower() for name in names}
    others = {origin.rstrip("/").lower() for origin in address.origins}
    for origin in others:
        parts = split(origin)
        if parts is None or parts.scheme not in ("http", "https") or not parts.netloc or parts.path:
            raise SettingError(f"--origin takes an address such as https://labels.example.org, not {origin!r}")
    hosts_of_others = {urlsplit(origin).netloc for origin in others}
    origins = others | {f"http://{host}" for host in hosts}
    accounts = Accounts(keys.folder.parent)
    accounts.all()  # so that a damaged file is told now, and not to somebody who logs in
    return Door(keys, accounts, start, frozenset(hosts | hosts_of_others), frozenset(origins))


def split(origin: str) -> SplitResult | None:
    """The parts of an address, where it is one."""
    try:
        return urlsplit(origin)
    except ValueError:
        return None


def own_names() -> set[str]:
    """The names and addresses of this machine."""
    name = socket.gethostname()
    found = {name, socket.getfqdn()}
    with suppress(OSError):
        for family, _, _, _, place in socket.getaddrinfo(name, None):
            found.add(f"[{place[0]}]" if family == socket.AF_INET6 else str(place[0]))
    return found


def bind(address: Address, running: Path) -> socket.socket:
    """A listening socket. Without a wish it has the port of last time, so that an open page finds its server again."""
    host, port = address.host, address.port
    wishes = [port] if port is not None else [_last_port(running), USUAL_PORT, 0]
    for wish in (wish for wish in wishes if wish is not None):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # asyncio sends small answers at once only where a socket says that it is TCP: otherwise each waits 40 ms
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, wish))
            listening.listen(128)
        except OSError as error:
            listening.close()
            why = error
        else:
            return listening
    raise SettingError(f"port {wishes[-1]} of {host} cannot be used ({why.strerror}): choose another with --port")


def _last_port(running: Path) -> int | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        port = json.loads(running.read_text(encoding="utf-8"))["port"]
        return port if isinstance(port, int) and 0 < port < 65_536 else None
    return None


def _write_private(file: Path, content: str) -> None:
    """The folder is closed to others, and the file too."""
    write_atomically(file, content.encode())
    file.chmod(PRIVATE_FILE)
