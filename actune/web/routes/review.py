"""Looking back: the log of answers, where the model disagrees, and what it trusts."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from actune.core.dialogue import Answer
from actune.session.duplicates import Which
from actune.session.insight import MapPoint
from actune.web import wire
from actune.web.desk import Desk
from actune.web.people import By, Owner
from actune.web.refusals import Refused

LAST = 10**9  # a number that no answer, text or region has: more do not fit into every database
Some = Annotated[str | None, Query(max_length=wire.LONGEST_NAME)]


def review(desk: Desk) -> APIRouter:
    """What has been said, and by whom."""
    router = APIRouter(tags=["review"])
    session = desk.session

    @router.get("/history", response_model=wire.History)
    def history(
        person: By,
        limit: int = Query(50, ge=1, le=1_000),
        before: int | None = Query(None, ge=0, le=LAST),
        search: Some = None,
        label: Some = None,
        by: Some = None,
    ) -> Response:
        """The answers, newest first; `before` is the number of the last one of the page before."""
        reader = None if person.role == "owner" else person.name
        found = session.history(by or None, limit + 1, before, search or None, label or None, reader)
        hidden = desk.hidden_from(person, (row.id for row in found))
        remarks = {(each.id, each.by): each for each in session.remarks(list({row.id for row in found[:limit]}))}
        rows = []
        for row in found[:limit]:
            own = remarks.get((row.id, person.name))
            before_it = None if row.id in hidden else row.before and asdict(row.before)
            mine = {"note": own.note if own else None, "flag": own.flag if own else False}
            rows.append({**asdict(row), "before": before_it, **mine})
        return JSONResponse({"rows": rows, "more": len(found) > limit})

    @router.get("/review/disagreements", response_model=wire.Disagreements)
    def disagreements(person: By, limit: int = Query(50, ge=1, le=1_000)) -> Response:
        """Labelled texts on which the model says something else, the surest first."""
        found = session.disagreements(limit, desk.rows_hidden_from(person))
        return JSONResponse({"rows": [asdict(each) for each in found]})

    @router.get("/review/adjudication", response_model=wire.Conflicts)
    def adjudication(person: Owner, limit: int = Query(50, ge=1, le=1_000)) -> Response:
        """Texts that people gave different classes, until an owner decides by an answer of the kind `decide`."""
        total, found = session.conflicts(limit)
        rows = [{**asdict(each), "notes": [{"by": by, "note": note} for by, note in each.notes]} for each in found]
        return JSONResponse({"rows": rows, "total": total, "planned": len(session.shared_rows())})

    @router.post("/review/disagreements", response_model=wire.WithState)
    def keep(body: wire.KeepIn, person: By) -> Response:
        """Confirms a label against the model, so that it is not listed again while both stay; or takes that back."""
        if not session.store.knows_client(person.name, body.client):
            session.keep_label(body.id, body.label, body.predicted, person.name, body.client, body.keep)
        return JSONResponse({"state": desk.state(person)})

    @router.get("/review/near-duplicates", response_model=wire.NearDuplicates)
    def near_duplicates(
        person: By,
        which: Which = "all",
        offset: int = Query(0, ge=0, le=LAST),
        limit: int = Query(20, ge=1, le=100),
    ) -> Response:
        """Groups of texts that are nearly the same, the largest first."""
        found = session.near_duplicates(which, offset, limit, desk.rows_hidden_from(person))
        return JSONResponse(asdict(found))

    @router.get("/review/pseudo-labels", response_model=wire.PseudoLabels)
    def pseudo_labels(
        person: By,
        label: Some = None,
        min_confidence: float | None = Query(None, ge=0, le=1),
        region: int | None = Query(None, ge=0, le=LAST),
        offset: int = Query(0, ge=0, le=LAST),
        limit: int = Query(50, ge=1, le=1_000),
    ) -> Response:
        """The pseudo-labels of the newest round that still count."""
        found = session.pseudo_labels(label or None, min_confidence, region, offset, limit)
        rows = [asdict(each) for each in found.rows]
        regions = [asdict(each) for each in found.regions]
        return JSONResponse({"rows": rows, "total": found.total, "round": model_round(desk), "regions": regions})

    @router.post("/review/pseudo-labels", response_model=wire.WithState)
    def judge(body: wire.VerdictIn, person: By) -> Response:
        """Accepts pseudo-labels, which makes them this person's answers, or keeps them out for good."""
        if body.verdict == "reject":
            session.reject_pseudo(body.ids, person.name, body.client)
            return JSONResponse({"state": desk.state(person)})
        labels = session.pseudo_labels_on(body.ids)
        said = []
        for number, id in enumerate(body.ids):
            client = f"{body.client}.{number}"
            if session.store.knows_client(person.name, client):
                continue  # the request is repeated
            if id not in labels:
                raise Refused(409, "gone", f"the text {id!r} has no pseudo-label any more: look at the list again")
            said.append(Answer(id, labels[id], by=person.name, client=client))
        session.tell(said)
        desk.after_answers()
        return JSONResponse({"state": desk.state(person)})

    @router.get("/map", response_model=wire.Map)
    def pool_map(person: By) -> Response:
        """A sample of the pool in two dimensions, one entry of each list for a text."""
        found = session.map_points()
        if found is None:
            raise Refused(404, "missing", "there is no map yet: it is drawn when the first model has read the texts")
        points, sizes = found.points, Counter(point.region for point in found.points)
        hidden = desk.hidden_from(person, (point.id for point in points if point.label))
        return JSONResponse(
            {
                "round": found.round,
                "ids": [point.id for point in points],
                "x": [round(point.x, 4) for point in points],
                "y": [round(point.y, 4) for point in points],
                "predicted": [point.predicted for point in points],
                "confidence": [None if point.confidence is None else round(point.confidence, 4) for point in points],
                "label": [None if point.id in hidden else point.label for point in points],
                "state": [state_of(point) for point in points],
                "region": [point.region for point in points],
                "regions": [
                    {"number": number, "heat": heat, "size": sizes[number]} for number, heat in enumerate(found.heat)
                ],
            }
        )

    return router


def state_of(point: MapPoint) -> str:
    """What becomes of a text on the map."""
    return "labelled" if point.label else "asked" if point.asked else "free"


def model_round(desk: Desk) -> int | None:
    """The newest finished round."""
    return desk.session.fitted - 1 if desk.session.fitted else None
