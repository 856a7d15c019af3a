"""The application: the page's files, and the programming interface behind it."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles

from actune import __version__
from actune.web.desk import Desk
from actune.web.login import login
from actune.web.refusals import tell_errors
from actune.web.routes.classes import classes
from actune.web.routes.files import files
from actune.web.routes.labelling import labelling
from actune.web.routes.progress import progress
from actune.web.routes.review import review
from actune.web.routes.texts import texts
from actune.web.routes.work import work
from actune.web.security import App, Door, Guard

STATIC = Path(__file__).parent / "static"
API = "/api/v1"


def build(desk: Desk, door: Door) -> App:
    """The application behind its guard."""
    app = FastAPI(title="actune", version=__version__, openapi_url=f"{API}/openapi.json", docs_url=None, redoc_url=None)
    for topic in (labelling, review, texts, classes, progress, work, files):
        app.include_router(topic(desk), prefix=API)
    app.include_router(login(door))
    tell_errors(app)

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html; charset=utf-8")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return Guard(app, door)
