"""The page on which a person of a shared project gives name and password."""

from __future__ import annotations

from asyncio import Lock
from html import escape
from math import ceil
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from actune.web.accounts import LONGEST, LONGEST_NAME, Logins
from actune.web.security import FRAME, Door, give_cookie

FORM = """<h1>{project}</h1>
<form method="post" action="/login" class="login-form">
<p role="alert">{problem}</p>
<p><label for="name">Name</label><br><input id="name" name="name" autocomplete="username" required autofocus></p>
<p><label for="password">Password</label><br>
<input id="password" name="password" type="password" autocomplete="current-password" required></p>
<p><button type="submit">Log in</button></p></form>"""


def login(door: Door) -> APIRouter:
    """The form, and what becomes of it."""
    router = APIRouter(include_in_schema=False)
    logins = Logins(door.accounts)
    checking = Lock()  # many who wait for their turn in threads would keep those who label out of them
    project = escape(door.keys.folder.parent.name)

    def form(problem: str = "", status: int = 200) -> HTMLResponse:
        content = FORM.format(project=project, problem=escape(problem))
        return HTMLResponse(FRAME.format(title="Log in", content=content), status)

    @router.get("/login")
    def show() -> Response:
        return form()

    @router.post("/login")
    async def enter(request: Request) -> Response:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=10)
        name, password = (fields.get(field, [""])[0] for field in ("name", "password"))
        if len(name) > LONGEST_NAME or len(password) > LONGEST:
            return form("This name or password is too long.", 401)
        if seconds := logins.wait(name):
            found = form(f"Too many failed attempts: try again in {ceil(seconds / 60)} min.", 429)
            found.headers["Retry-After"] = str(ceil(seconds))
            return found
        async with checking:
            person = await run_in_threadpool(logins.check, name, password)
        if person is None:
            return form("This name and password do not belong together.", 401)
        response = RedirectResponse("/", 303)
        give_cookie(response, door, request.headers, person.name)
        return response

    @router.post("/logout")
    def leave() -> Response:
        response = RedirectResponse("/login", 303)
        response.delete_cookie(door.keys.cookie_name, path="/")
        return response

    return router
