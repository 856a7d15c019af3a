"""Errors as the page gets them: one sentence, one word for programs, and the right status."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from actune.core.printing import one_line, shortened
from actune.core.refusals import told
from actune.errors import ActuneError, Busy, DataError, ModelError, SettingError, StorageError

AGAIN = "2"  # seconds after which a client may try once more
WORDS = {400: "malformed", 401: "unknown", 403: "forbidden", 404: "missing", 405: "method", 413: "too-large"}


class Refused(Exception):
    """A request that is not served, and why."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.code = status, code


def refusal(status: int, code: str, sentence: str) -> JSONResponse:
    """The answer to a request that is not served."""
    headers = {"Retry-After": AGAIN} if status in (429, 503) else None
    return JSONResponse({"error": one_line(sentence), "code": code}, status, headers)


def tell_errors(app: FastAPI) -> None:
    """Turns every error of this app into a sentence."""
    handlers: dict[Any, Any] = {
        Refused: lambda request, error: refusal(error.status, error.code, str(error)),
        RequestValidationError: lambda request, error: refusal(422, "invalid", _first(error)),
        HTTPException: lambda request, error: refusal(
            error.status_code, WORDS.get(error.status_code, "refused"), str(error.detail)
        ),
        ActuneError: lambda request, error: refusal(*_of(error), str(error)),
        OSError: lambda request, error: refusal(503, "disk", told(error)),
        Exception: _unexpected,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _of(error: ActuneError) -> tuple[int, str]:
    if isinstance(error, StorageError):
        return 503, "disk"
    if isinstance(error, Busy):
        return 503, "busy"
    if isinstance(error, DataError):
        return 422, "data"
    return (422, "setting") if isinstance(error, (SettingError, ModelError)) else (409, "state")


def _first(error: RequestValidationError) -> str:
    """Where the first mistake is and what is expected there; the value itself may be a whole text."""
    found = error.errors()[0]
    place = shortened(".".join(str(part) for part in found["loc"]))
    return f"{place} cannot be used: {found['msg']}"


def _unexpected(request: Request, error: Exception) -> JSONResponse:
    """A mistake of this program, whose place the guard prints."""
    sentence = f"the server made a mistake ({type(error).__name__}); nothing that was saved is lost: try again"
    return refusal(500, "mistake", sentence)
