"""Questions out and answers in: what a person does all day."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from actune.core.dialogue import Answer, Question
from actune.web import wire
from actune.web.desk import Desk
from actune.web.people import By, Person
from actune.web.refusals import Refused

LARGE = 100_000  # texts of a pool that takes long to draw from, and longer to embed
MANY = 2_000  # answers among which a draw must look
AT_ONCE = 100  # so many are drawn then


def labelling(desk: Desk) -> APIRouter:
    """The state, questions and answers."""
    router = APIRouter(tags=["labelling"])
    session = desk.session

    @router.get("/state", response_model=wire.State)
    def state(request: Request, person: By) -> Response:
        """Where the project stands; the same state has the same ETag, and is not sent twice."""
        body = json.dumps(desk.state(person)).encode()
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    @router.get("/questions", response_model=wire.Questions)
    def questions(person: By, n: int = Query(10, ge=1, le=100)) -> Response:
        """Open questions, which nobody else gets for ten minutes."""
        found = session.ask(by=person.name, n=n)
        if len(found) < n and more(desk, n - len(found)):
            found = session.ask(by=person.name, n=n)
        exhausted = not found and not session.store.open_questions()
        if exhausted:
            desk.after_answers()
        alike = session.open_near_duplicates([question.id for question in found])
        return JSONResponse(
            {"questions": [shown(question, alike[question.id]) for question in found], "exhausted": exhausted}
        )

    @router.post("/answers", response_model=wire.Answered)
    def answers(body: wire.AnswersIn, person: By) -> Response:
        """Takes answers; when the reply comes, they are on the disk. Repeating a request changes nothing."""
        check_role(body.answers, person)
        check_leases(desk, body.answers, person)
        hidden = desk.hidden_from(person, (each.id for each in body.answers))
        told = session.tell([answer_of(answer, person, answer.id in hidden) for answer in body.answers])
        desk.after_answers()
        saved = [
            {
                "client": each.client,
                "number": each.number,
                "before": asdict(each.before) if each.before and each.id not in hidden else None,
            }
            for each in told.saved
        ]
        return JSONResponse({"saved": saved, "state": desk.state(person)})

    @router.post("/near-duplicates", response_model=wire.Applied)
    def apply(body: wire.ApplyIn, person: By) -> Response:
        """Gives this person's answer to the near-duplicates of its text that have none, or takes that back."""
        if body.kind == "apply":
            found = session.apply_to_near_duplicates(body.id, body.label, person.name, body.client)
            desk.after_answers()
        else:
            found = session.take_back_applied(body.id, person.name, body.client)
        return JSONResponse({"count": len(found), "state": desk.state(person)})

    @router.post("/queue", response_model=wire.WithState)
    def queue(body: wire.QueueIn, person: By) -> Response:
        """Lets these texts be asked about before all others."""
        session.queue(body.ids, person.name, body.client)
        return JSONResponse({"state": desk.state(person)})

    return router


def more(desk: Desk, n: int) -> int:
    """More questions for somebody who is faster than the trainer: nobody waits for a model."""
    counts, texts = desk.session.store.counts(), len(desk.session.pool)
    if (done := counts.labelled + counts.skipped) >= texts:
        return 0  # at once, also where a million texts have a label
    if texts > LARGE or done > MANY:
        n = max(n, AT_ONCE)
    return desk.session.draw(n) or desk.session.draw_unsure(n)


def answer_of(answer: wire.AnswerIn, person: Person, is_hidden: bool) -> Answer:
    """An answer as a session takes it; who gives it is known from the key, and never from the body.

    Where she does not see what others said, she clears only what she said herself.
    """
    if answer.kind != "decide" and (answer.kind == "label") is not (answer.label is not None):
        raise Refused(
            422,
            "invalid",
            "an answer of the kind label has a label, one of the kind decide may have one, and no other has",
        )
    return Answer(
        answer.id,
        answer.label,
        unskip=answer.kind == "unskip",
        by=person.name,
        seconds=answer.seconds,
        clear=answer.kind == "clear" and not is_hidden,
        unsure=answer.kind == "unsure",
        client=answer.client,
        retract=answer.kind == "retract" or (answer.kind == "clear" and is_hidden),
        decision=answer.kind == "decide",
    )


def check_role(answers: list[wire.AnswerIn], person: Person) -> None:
    """Only an owner decides where people disagree."""
    if person.role != "owner" and any(answer.kind == "decide" for answer in answers):
        raise Refused(403, "role", f"{person.name} is an annotator of this project: only an owner may decide")


def check_leases(desk: Desk, answers: list[wire.AnswerIn], person: Person) -> None:
    """Refuses an answer on a text that others are working on, unless it came before; a decision waits for nobody."""
    store = desk.session.store
    said = [answer for answer in answers if answer.kind != "decide"]
    fresh = [answer.id for answer in said if not store.knows_client(person.name, answer.client)]
    if held := desk.session.held_by_others(fresh, person.name):
        raise Refused(409, "lease", f"somebody else is working on the text {min(held)!r} now: go on with another one")


def shown(question: Question, near_duplicates: int = 0) -> dict[str, Any]:
    """A question as the page gets it; a text of the audit sample comes without a suggestion."""
    suggestion = None
    if question.suggestion is not None and not question.audit:
        suggestion = {"label": question.suggestion, "confidence": question.confidence}
    return {
        "id": question.id,
        "text": question.text,
        "round": question.round,
        "audit": question.audit,
        "picked": question.picked,
        "suggestion": suggestion,
        "near_duplicates": near_duplicates,
        "meta": {},
    }
