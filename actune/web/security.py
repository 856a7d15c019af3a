"""The guard at the door: only known hosts and origins, only people with a key, only bodies of a decent size."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from actune.core.refusals import told
from actune.errors import ActuneError
from actune.web.accounts import Accounts
from actune.web.keys import COOKIE_DAYS, Keys
from actune.web.people import LOCAL, Person
from actune.web.refusals import refusal

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

API = "/api/"
LOGIN = ("/login", "/logout")
NO_COOKIE = "open the page by the link that `actune label` prints, or log in"
NO_TOKEN = "this token does not open the project: `actune label --api-token` prints the one that does"
OPEN = ("/static/",)  # neither texts nor secrets are in there
LARGEST_BODY = 2**20  # bytes
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
OWN_HEADER = "x-actune"  # a page of another origin cannot send it without asking first, and is never allowed to
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with none at all, a browser sends the login form with the origin "null"
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
# pages before the door: they load what everybody may have, and no script but that which chooses the colours
FRAME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title} · actune</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml"><script src="/static/theme.js"></script>
<link rel="stylesheet" href="/static/base.css"></head>
<body class="login"><main class="login-main">{content}</main></body></html>"""
CLOSED = FRAME.format(
    title="Closed",
    content="<h1>This page needs a new link</h1><p>Each link that <code>actune label</code> prints works once. Run the "
    "same command again, and open the link that it prints.</p>",
)


@dataclass(frozen=True)
class Door:
    """What opens a project, and the addresses at which it answers: `hosts` are names with ports."""

    keys: Keys
    accounts: Accounts
    start: str
    hosts: frozenset[str]
    origins: frozenset[str]

    def is_secure(self, headers: Headers) -> bool:
        """Whether a request came by an encrypted address: then its cookie travels only so."""
        return f"https://{headers.get('host', '').lower()}" in self.origins


class Guard:
    """Wraps an app: what it does not let in never gets there."""

    def __init__(self, app: App, door: Door) -> None:
        self.app = app
        self.door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # there are no web sockets here

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            refused: App | None = self._refusal(scope)
        except (ActuneError, OSError) as error:  # the file of accounts is damaged: browsers keep their answers
            refused = refusal(503, "accounts", told(error) if isinstance(error, OSError) else str(error))
        try:
            await (refused or self.app)(scope, receive if refused else _limited(receive), send_guarded)
        except Exception as error:  # a sentence was sent already; what uvicorn prints may have texts in it
            frame = traceback.extract_tb(error.__traceback__)[-1]
            print(f"actune: {type(error).__name__} at {frame.filename}:{frame.lineno}", file=sys.stderr, flush=True)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, path = Headers(scope=scope), scope["path"]
        if (found := self._foreign(scope, headers)) is not None:
            return found
        if (length := headers.get("content-length")) and length.isdigit() and int(length) > LARGEST_BODY:
            return refusal(413, "too-large", f"a request may have {LARGEST_BODY:,} bytes, not {int(length):,}")
        if path == "/" and (link := parse_qs(scope["query_string"].decode("latin-1")).get("token")):
            return self._enter(link[0], headers)
        if path.startswith(OPEN):
            return None
        if (token := _bearer(headers)) is not None:
            scope["person"] = LOCAL if self.door.keys.is_token(token) else self.door.accounts.with_token(token)
            return refusal(401, "unknown", NO_TOKEN) if scope["person"] is None else None
        scope["person"] = self._person(headers)
        if scope["person"] is None:
            if path.startswith(API):
                return refusal(401, "unknown", NO_COOKIE)
            if path in LOGIN:
                return None
            return RedirectResponse("/login", 303) if self.door.accounts.all() else HTMLResponse(CLOSED, 401)
        if scope["method"] not in SAFE_METHODS and OWN_HEADER not in headers and path not in LOGIN:
            return refusal(403, "header", "a request that changes something needs the header X-Actune: 1")
        return None

    def _foreign(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuses names that lead here by somebody else's doing, and pages of other origins."""
        if headers.get("host", "").lower() not in self.door.hosts:
            return refusal(403, "host", "this server does not answer to this name: use the address that it printed")
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self.door.origins:
            return refusal(403, "origin", "this request comes from another page, and is not served")
        site = headers.get("sec-fetch-site", "none")
        if scope["path"].startswith(API) and site not in ("none", "same-origin"):
            return refusal(403, "origin", "this request comes from another page, and is not served")
        return None

    def _enter(self, link: str, headers: Headers) -> Response:
        """Takes a link's word for a cookie; who has a cookie already needs no other."""
        response = RedirectResponse("/", 303)
        if self._person(headers) is not None:
            return response
        if not self.door.keys.redeem(link, self.door.start):
            return HTMLResponse(CLOSED, 401)
        give_cookie(response, self.door, headers, LOCAL.name)
        return response

    def _person(self, headers: Headers) -> Person | None:
        """Whose cookie this is."""
        keys, cookies = self.door.keys, SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return None
        cookie = cookies[keys.cookie_name].value if keys.cookie_name in cookies else ""
        name = keys.name_in(cookie)
        if name == LOCAL.name:
            return LOCAL if keys.is_genuine(cookie) else None
        account = self.door.accounts.all().get(name)
        genuine = account is not None and keys.is_genuine(cookie, account.proof)
        return self.door.accounts.person(name) if genuine else None


def give_cookie(response: Response, door: Door, headers: Headers, name: str) -> None:
    """Lets the browser of a person in, for some weeks."""
    account = door.accounts.all().get(name)
    response.set_cookie(
        door.keys.cookie_name,
        door.keys.cookie(name, account.proof if account else ""),
        COOKIE_DAYS * 86_400,
        path="/",
        secure=door.is_secure(headers),
        httponly=True,
        samesite="strict",
    )


def _bearer(headers: Headers) -> str | None:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _limited(receive: Receive) -> Receive:
    """The same messages, until a body that did not say its length is too large."""
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > LARGEST_BODY:
            raise HTTPException(413, f"a request may have {LARGEST_BODY:,} bytes, and this one has more")
        return message

    return limited
