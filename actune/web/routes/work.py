"""What an owner starts: a round, the fine-tuning at the end."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from actune.web import wire
from actune.web.desk import Desk
from actune.web.people import Owner


def work(desk: Desk) -> APIRouter:
    """Long work is only asked for here; the state tells how far it is."""
    router = APIRouter(tags=["training"])

    @router.post("/train", response_model=wire.Training, status_code=202)
    def train(body: wire.Nothing, person: Owner) -> Response:
        """Starts a round now."""
        desk.trainer.ask_for("advance")
        return JSONResponse(desk.trainer.state(), 202)

    @router.post("/finish", response_model=wire.Training, status_code=202)
    def finish(body: wire.Nothing, person: Owner) -> Response:
        """Fine-tunes the whole encoder on all answers."""
        desk.trainer.ask_for("finish")
        return JSONResponse(desk.trainer.state(), 202)

    @router.post("/audit/release", response_model=wire.WithState)
    def release(body: wire.Nothing, person: Owner) -> Response:
        """Lets the next round train on the audit sample, which measures nothing from then on."""
        desk.session.release_audit(person.name)
        return JSONResponse({"state": desk.state(person)})

    return router
