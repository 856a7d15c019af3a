"""The classes of the project: written down, changed with a preview, and every change taken back."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from actune.web import wire
from actune.web.desk import Desk
from actune.web.people import Owner
from actune.web.refusals import Refused


def classes(desk: Desk) -> APIRouter:
    """What an owner does with classes; the next round learns the new ones."""
    router = APIRouter(prefix="/classes", tags=["classes"])
    session = desk.session

    @router.post("", response_model=wire.WithState)
    def declare(body: wire.ClassesIn, person: Owner) -> Response:
        """The first classes of a project that began without any."""
        names = {each.name.strip(): (each.description or "").strip() for each in body.names}
        if len(names) < len(body.names):
            raise Refused(422, "data", "a class is named twice: name each class once")
        session.declare_classes(names, person.name, body.client)
        desk.trainer.ask_for("prepare")  # which waited with its first batch
        return JSONResponse({"state": desk.state(person)})

    @router.post("/preview", response_model=wire.PreviewOut)
    def preview(body: wire.PreviewIn, person: Owner) -> Response:
        """What a change would do to the answers; it is not made."""
        return JSONResponse(asdict(session.preview(body.change.model_dump())))

    @router.post("/changes", response_model=wire.Changed)
    def change(body: wire.ChangeIn, person: Owner) -> Response:
        """Changes the classes. Repeating a request changes nothing."""
        found = session.change_classes(body.change.model_dump(), person.name, body.client)
        return JSONResponse({"sentence": found.sentence, "state": desk.state(person)})

    @router.post("/undo", response_model=wire.Changed)
    def undo(body: wire.UndoIn, person: Owner) -> Response:
        """Takes back the newest change that was not taken back yet."""
        found = session.undo_classes(person.name, body.client)
        if found is None:
            raise Refused(409, "nothing", "there is no change of the classes to take back")
        return JSONResponse({"sentence": found.sentence, "state": desk.state(person)})

    return router
