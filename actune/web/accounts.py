"""The people of a project that several may enter: names, roles, passwords as argon2 hashes, tokens as hashes."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock

from actune.core.checks import told
from actune.core.files import locked, storage_sentences, write_atomically
from actune.core.places import PRIVATE_FILE, open_regular
from actune.core.shapes import WrongShape, shaped
from actune.errors import RunFolderError, SettingError, nearest
from actune.web.keys import FOLDER, private_folder
from actune.web.people import LOCAL, Person, Role

FILE, LOCK = "accounts.json", "accounts.lock"
SHORTEST, LONGEST = 8, 1_000  # characters of a password
LONGEST_NAME = 100
TRIES, WINDOW = 5, 300.0  # failed logins of a name in so many seconds
MOST_NAMES = 10_000  # whose failures are remembered
RESERVED = {LOCAL.name, "start", "file", "oracle", "model"}  # who else is named in the log of answers


@dataclass(frozen=True)
class Account:
    """One person; without a password she only has a token."""

    role: Role
    password: str | None = None
    token: str | None = None

    @property
    def proof(self) -> str:
        """What a cookie is signed with: another password ends it."""
        return hashlib.sha256((self.password or "").encode()).hexdigest()


class Accounts:
    """The accounts of a project, as its file has them now: one that is added counts at once."""

    def __init__(self, project: Path) -> None:
        self.folder = project / FOLDER
        self._file = self.folder / FILE
        self._seen: tuple[int, int] | None = None
        self._accounts: dict[str, Account] = {}
        self._lock = Lock()

    def all(self) -> dict[str, Account]:
        """The accounts by name."""
        with self._lock:
            try:
                facts = self._file.stat()
            except FileNotFoundError:
                return {}
            if (stamp := (facts.st_mtime_ns, facts.st_ino)) != self._seen:
                self._accounts, self._seen = self._read(), stamp
            return self._accounts

    def person(self, name: str) -> Person | None:
        account = self.all().get(name)
        return None if account is None else Person(name, account.role)

    def with_token(self, token: str) -> Person | None:
        """Whose token this is."""
        digest = _digest(token)
        for name, account in self.all().items():
            if account.token is not None and hmac.compare_digest(account.token, digest):
                return Person(name, account.role)
        return None

    def add(self, name: str, role: Role, password: str | None) -> None:
        """A new person, or another role or password of one."""
        _check_name(name)
        hashed = None if password is None else _hashed(password)

        def put(accounts: dict[str, Account]) -> None:
            before = accounts.get(name, Account(role))
            accounts[name] = replace(before, role=role, password=hashed or before.password)

        self._change(put)

    def remove(self, name: str) -> None:
        """Takes a person's way in; her answers stay."""

        def drop(accounts: dict[str, Account]) -> None:
            del accounts[self._known(accounts, name)]

        self._change(drop)

    def new_token(self, name: str) -> str:
        """A token for a person's programs, in the place of an earlier one."""
        token = secrets.token_urlsafe(32)

        def put(accounts: dict[str, Account]) -> None:
            accounts[name] = replace(accounts[self._known(accounts, name)], token=_digest(token))

        self._change(put)
        return token

    @staticmethod
    def _known(accounts: dict[str, Account], name: str) -> str:
        if name not in accounts:
            raise SettingError(f"there is no account {told(name)}: {nearest(name, accounts)}")
        return name

    def _change(self, change: Callable[[dict[str, Account]], None]) -> None:
        with storage_sentences(self._file):
            private_folder(self.folder.parent)
            with locked(self.folder, "changing the accounts of", wait=True, name=LOCK):
                accounts = dict(self.all())
                change(accounts)
                content = {name: asdict(account) for name, account in accounts.items()}
                write_atomically(self._file, json.dumps(content, indent=1, ensure_ascii=False).encode())
                self._file.chmod(PRIVATE_FILE)

    def _read(self) -> dict[str, Account]:
        try:
            with open_regular(self._file, follow=False) as reading:
                found = json.loads(reading.read())
            return {name: shaped(Account, facts, name) for name, facts in found.items()}
        except (ValueError, AttributeError, WrongShape, RecursionError) as error:
            raise RunFolderError(f"{str(self._file)!r} cannot be read: restore it, or remove it") from error


class Logins:
    """Checks passwords, one at a time because a check takes memory, and lets nobody guess for long."""

    def __init__(self, accounts: Accounts, clock: Callable[[], float] = time.monotonic) -> None:
        from argon2 import PasswordHasher

        self._accounts = accounts
        self._clock = clock
        self._hasher = PasswordHasher()
        self._nobody = self._hasher.hash(secrets.token_urlsafe(16))  # an unknown name takes as long as a known one
        self._failures: dict[str, deque[float]] = {}
        self._lock = Lock()

    def wait(self, name: str) -> float:
        """Seconds until this name may try again."""
        failures = self._failures.get(name)
        if failures is None or len(failures) < TRIES:
            return 0.0
        return max(0.0, failures[0] + WINDOW - self._clock())

    def check(self, name: str, password: str) -> Person | None:
        """The person with this name and password. Every failure is counted, also of a name that nobody has."""
        from argon2.exceptions import Argon2Error, InvalidHashError

        with self._lock:
            if self.wait(name):
                return None
            account = self._accounts.all().get(name)
            known = account.password if account is not None else None
            try:
                self._hasher.verify(known or self._nobody, password)
            except (Argon2Error, InvalidHashError):
                self._count(name)
                return None
            if known is None:
                self._count(name)
                return None
            self._failures.pop(name, None)
        return self._accounts.person(name)

    def _count(self, name: str) -> None:
        if len(self._failures) >= MOST_NAMES:
            self._failures.pop(next(iter(self._failures)))
        self._failures.setdefault(name, deque(maxlen=TRIES)).append(self._clock())


def _check_name(name: str) -> None:
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise SettingError(f"the name of a person has 1 to {LONGEST_NAME} printable characters, not {told(name)}")
    if name in RESERVED:
        raise SettingError(f"the name {name!r} has a meaning in the log of answers: choose another name")


def _hashed(password: str) -> str:
    from argon2 import PasswordHasher

    if not SHORTEST <= len(password) <= LONGEST:
        raise SettingError(f"a password has {SHORTEST} to {LONGEST:,} characters, and this one has {len(password):,}")
    return PasswordHasher().hash(password)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
