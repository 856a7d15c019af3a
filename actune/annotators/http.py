"""People on a labelling page as an annotator: questions go to a running server, and their answers come back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener
from uuid import uuid4

from actune.core.checks import told
from actune.core.dialogue import Answer, Question
from actune.errors import DataError, SettingError

AT_ONCE = 1_000  # questions or answers in one request
PATIENCE = 30.0  # seconds to wait for an answer of the server
LARGEST = 10**8  # bytes of one


class HTTP:
    """Sends questions to a server that `actune label` started, whose project has texts with the same ids.

    The questions are asked there before all others, and `collect` gives what people have said on them. A server that is
    away for a while has just no answers yet.
    """

    def __init__(self, url: str, token: str) -> None:
        if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https"):
            raise SettingError(
                f"url must be the address of a labelling page, such as http://127.0.0.1:7383, not {url!r}"
            )
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise SettingError(f"token must be what `actune label --api-token` prints, not {told(token)}")
        parts = urlsplit(url)
        self.url = f"{parts.scheme}://{parts.netloc}"
        self._token = token
        self._opener = build_opener(_NoRedirects, ProxyHandler({}))
        self._waiting: set[str] = set()
        self._words: dict[str, Answer | None] = {}  # what stands on each text by the newest answer that was seen
        self._seen = 0  # the number of that answer

    def __repr__(self) -> str:
        return f"HTTP({self.url!r})"

    def send(self, questions: Sequence[Question]) -> None:
        ids = [question.id for question in questions]
        for start in range(0, len(ids), AT_ONCE):
            self._ask("/queue", {"ids": ids[start : start + AT_ONCE], "client": uuid4().hex})
        self._waiting |= set(ids)

    def collect(self) -> list[Answer]:
        if not self._waiting:
            return []
        try:
            self._read_news()
        except OSError:
            return []
        found = [answer for id in sorted(self._waiting) if (answer := self._words.get(id)) is not None]
        self._waiting -= {answer.id for answer in found}
        return found

    def _read_news(self) -> None:
        """Takes in the answers since last time, newest first: the first on a text is the one that counts."""
        newest, before, known = self._seen, None, set[str]()
        words: dict[str, Answer | None] = {}
        while True:
            page = self._ask("/history", limit=AT_ONCE, before=before)["rows"]
            for row in page:
                if row["number"] > self._seen and row["id"] not in known:
                    known.add(row["id"])
                    words[row["id"]] = answer_of(row)
                newest = max(newest, row["number"])
            if len(page) < AT_ONCE or page[-1]["number"] <= self._seen:
                break
            before = page[-1]["number"]
        self._words |= words
        self._seen = newest

    def _ask(self, path: str, body: Any = None, **words: Any) -> Any:
        query = urlencode({name: value for name, value in words.items() if value is not None})
        request = Request(
            f"{self.url}/api/v1{path}" + (f"?{query}" if query else ""),
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", "X-Actune": "1"},
        )
        try:
            with self._opener.open(request, timeout=PATIENCE) as response:
                return json.loads(response.read(LARGEST))
        except HTTPError as error:
            if error.code >= 500 or error.code == 429:
                raise ConnectionError(f"{self.url} answered with the status {error.code}") from error
            raise DataError(f"{self.url} refused: {_sentence(error)}") from None
        except (HTTPException, ValueError, RecursionError) as error:
            raise ConnectionError(f"{self.url} broke off ({type(error).__name__})") from error
        except ConnectionError:
            raise
        except OSError as error:
            raise ConnectionError(f"{self.url} cannot be reached ({error}): start it with `actune label`") from error


class _NoRedirects(HTTPRedirectHandler):
    """The token is for this server alone."""

    def redirect_request(self, *words: Any, **more: Any) -> None:
        return None


def answer_of(row: dict[str, Any]) -> Answer | None:
    """A row of the history as an answer; a label that was taken back is none."""
    if row["kind"] == "label" or (row["kind"] == "decide" and row["label"] is not None):
        return Answer(row["id"], row["label"], by=row["by"], seconds=row["seconds"])
    return (
        Answer(row["id"], by=row["by"], seconds=row["seconds"]) if row["kind"] in ("skip", "unsure", "decide") else None
    )


def _sentence(error: HTTPError) -> str:
    try:
        return str(json.loads(error.read(LARGEST))["error"])
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        return f"status {error.code}"
