"""One text: what was said about it, and notes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from actune.store.words import ENDS
from actune.web import wire
from actune.web.desk import Desk
from actune.web.people import By, Person
from actune.web.refusals import Refused


def texts(desk: Desk) -> APIRouter:
    """Texts by their ids, which may have any letters in them."""
    router = APIRouter(tags=["texts"])
    session = desk.session

    def check(id: str) -> None:
        if not session.knows(id):
            raise Refused(404, "missing", "this project has no text with this id: check the id")

    @router.get("/texts/{id:path}/why", response_model=wire.Why)
    def why(id: str, person: By) -> Response:
        """Why this text was asked, and what the models of the last rounds have said about it."""
        check(id)
        found = reasons(desk, id)
        hidden = desk.hidden_from(person, (near["id"] for near in found["neighbors"]))
        found["neighbors"] = [{**near, "label": None} if near["id"] in hidden else near for near in found["neighbors"]]
        return JSONResponse(found)

    @router.get("/texts/{id:path}", response_model=wire.TextOut)
    def text(id: str, person: By) -> Response:
        """A text with all that people said about it."""
        check(id)
        return JSONResponse(facts_of(desk, id, person))

    @router.post("/remarks", response_model=wire.WithState)
    def remark(body: wire.RemarkIn, person: By) -> Response:
        """Notes something about a text, or flags it; an empty note and a false flag take that back."""
        session.remark(body.id, body.note, body.flag, by=person.name, client=body.client)
        return JSONResponse({"state": desk.state(person)})

    return router


def facts_of(desk: Desk, id: str, person: Person) -> dict[str, Any]:
    """What stands on a text; note and flag are those of the person who asks.

    Of a text that several people judge, each on her own, an annotator sees only what she said herself.
    """
    session = desk.session
    (row,) = session._rows([id])
    standing, words, remarks, suggestion = (
        session.standing(id),
        session.words(id),
        session.remarks([id]),
        session.suggestion(id),
    )
    own = next((remark for remark in remarks if remark.by == person.name), None)
    if id in desk.hidden_from(person, [id]):
        words, remarks = [word for word in words if word.by == person.name], [own] if own else []
        standing, suggestion = next((word for word in words if word.kind not in ENDS), None), None
    return {
        "id": id,
        "text": session.pool.texts[row],
        "audit": row in session.audit_rows,
        "picked": id in session.queued(),
        "answer": standing and word(standing),
        "words": [word(each) for each in words],
        "note": own.note if own else None,
        "flag": own.flag if own else False,
        "remarks": [{"note": each.note, "flag": each.flag, "by": each.by, "at": each.at} for each in remarks],
        "suggestion": suggestion and asdict(suggestion),
    }


def reasons(desk: Desk, id: str) -> dict[str, Any]:
    """What a session knows about the choice of a text, in the words of the interface."""
    found = desk.session.why(id)
    asked = found["asked"] or {}
    region = asked.get("region")
    return {
        "audit": found["audit"],
        "picked": id in desk.session.queued(),
        "round": asked["round"] - 1 if asked else None,
        "margin": asked.get("margin"),
        "entropy": asked.get("entropy"),
        "top": [{"label": each["label"], "probability": each["confidence"]} for each in asked.get("top", ())],
        "neighbors": asked.get("neighbours", []),
        "region": region and {"number": region["number"], "heat": region["heat"], "rank": region["rank"]},
        "memory": found["predictions"],
    }


def word(said: Any) -> dict[str, Any]:
    """A word that stands on a text."""
    return {name: value for name, value in asdict(said).items() if name != "number"}
