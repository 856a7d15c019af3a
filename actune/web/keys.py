"""Who may come in: links that work once, cookies that outlive a restart, and a token for programs."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from pathlib import Path
from threading import Lock

from actune.core.files import storage_sentences
from actune.core.places import PRIVATE_FILE, PRIVATE_FOLDER, inside, open_regular
from actune.errors import RunFolderError

FOLDER = "web"  # inside the project's folder
SECRET, TOKEN = "secret", "token"
COOKIE_DAYS = 30
SHORTEST, LONGEST = 32, 100  # bytes of a secret


class Keys:
    """What opens one project. All of it is derived from a secret file that only its owner can read."""

    def __init__(self, project: Path) -> None:
        self.folder = private_folder(project)
        self._secret = private_word(self.folder / SECRET).encode()
        self.token = private_word(self.folder / TOKEN)
        self.id = self._signature("id")[:12]  # anybody may know it
        self.cookie_name = f"actune-{self.id}"  # two projects share a browser
        self._used: set[str] = set()
        self._lock = Lock()

    def link(self, start: str) -> str:
        """A word that opens the page once, as long as the server that was started so is running."""
        nonce = secrets.token_urlsafe(16)
        return f"{nonce}.{self._signature('link', start, nonce)}"

    def redeem(self, link: str, start: str) -> bool:
        """Whether a link's word is one of this start and was never used."""
        nonce, _, signature = link.partition(".")
        if not self._is(signature, "link", start, nonce):
            return False
        with self._lock:
            fresh = nonce not in self._used
            self._used.add(nonce)
        return fresh

    def cookie(self, name: str, proof: str = "") -> str:
        """What the browser of a person keeps; `proof` changes when the person's password does."""
        until = int(time.time()) + COOKIE_DAYS * 86_400
        shown = urlsafe_b64encode(name.encode()).decode().rstrip("=")
        return f"{shown}.{until}.{self._signature('cookie', name, str(until), proof)}"

    @staticmethod
    def name_in(cookie: str) -> str:
        """Whom a cookie names, whether it is genuine or not."""
        shown = cookie.partition(".")[0]
        try:
            return urlsafe_b64decode(shown + "=" * (-len(shown) % 4)).decode()
        except ValueError:
            return ""

    def is_genuine(self, cookie: str, proof: str = "") -> bool:
        """Whether this server, or an earlier one of this project, gave out the cookie."""
        _, _, rest = cookie.partition(".")
        until, _, signature = rest.partition(".")
        if not until.isascii() or not until.isdigit() or len(until) > 12 or int(until) < time.time():
            return False
        return self._is(signature, "cookie", self.name_in(cookie), until, proof)

    def is_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def _is(self, signature: str, *words: str) -> bool:
        return hmac.compare_digest(signature.encode(), self._signature(*words).encode())

    def _signature(self, *words: str) -> str:
        said = "\0".join(words).encode("utf-8", "surrogateescape")
        return hmac.new(self._secret, said, hashlib.sha256).hexdigest()


def private_folder(project: Path) -> Path:
    """The folder of the page in a project; one that is a link may lead out of the project, and is refused."""
    folder = inside(project, FOLDER)
    with storage_sentences(folder):
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    return folder


def private_word(file: Path) -> str:
    """The random word in a file that only its owner can read; it is made when it is first needed."""
    with storage_sentences(file):
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
        try:
            handle = os.open(file, flags, PRIVATE_FILE)
        except FileExistsError:
            return _word_in(file)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as writing:
                word = secrets.token_urlsafe(32)
                writing.write(f"{word}\n")
        except BaseException:
            file.unlink()  # of a full disk: an empty file would be taken for a damaged one
            raise
        return word


def _word_in(file: Path) -> str:
    with open_regular(file, follow=False) as reading:
        word = reading.read(LONGEST)
    if len(word) < SHORTEST or not word.isascii():
        raise RunFolderError(f"{str(file)!r} is damaged: remove it, and everybody logs in anew")
    return word.decode().strip()
