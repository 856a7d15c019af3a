"""How far the project is: answers, quality, what more answers would bring, and whether to stop."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from actune.core.curves import Forecast
from actune.session.overlapping import Agreement
from actune.session.progress import RoundPoint, interval_words
from actune.web import wire
from actune.web.desk import Desk
from actune.web.people import By, Person


def progress(desk: Desk) -> APIRouter:
    """One cheap read of all that is known."""
    router = APIRouter(tags=["progress"])

    @router.get("/progress", response_model=wire.Progress)
    def read(person: By) -> Response:
        """Answers by class and hour, the learning curve, the audit, a forecast, and advice on stopping."""
        session = desk.session
        found, rounds, quality = session.progress_facts(), session.rounds(), session.audit_quality()
        people = session.people_agreement()
        trusted = rounds[-1].pseudo_labels.classes if rounds else ()
        pseudo = dict(zip(session.pool.classes, trusted, strict=False))
        return JSONResponse(
            {
                "classes": [
                    {"name": name, "answers": answers, "pseudo": pseudo.get(name, 0)}
                    for name, answers in found.answers_by_class.items()
                ],
                "skipped": found.skipped,
                "hours": [{"at": f"{each.hour}:00:00Z", "answers": each.answers} for each in found.by_hour],
                "seconds_per_answer": found.seconds_per_answer,
                "curve": [point_of(each) for each in found.curve],
                "audit": quality and {**asdict(quality), "answered": quality.count},
                "agreement": people and agreement_for(people, person),
                "forecast": found.forecast and ahead(found.forecast),
                "stop": asdict(found.advice),
            }
        )

    return router


def agreement_for(found: Agreement, person: Person) -> dict[str, Any]:
    """How far people agree; only an owner sees who agrees with whom."""
    return {**asdict(found), "pairs": [asdict(pair) for pair in found.pairs if person.role == "owner"]}


def point_of(point: RoundPoint) -> dict[str, Any]:
    """One round on the learning curve."""
    return {
        "round": point.round,
        "labels": point.labels,
        "cross_validated": point.cross_validation and asdict(point.cross_validation),
        "audit": point.audit and asdict(point.audit),
    }


def ahead(forecast: Forecast) -> dict[str, Any]:
    """The forecast with its sentence."""
    if forecast.labels is None:
        start = "The curve does not show how many more answers bring one more point of accuracy"
    else:
        start = f"About {forecast.labels:,} more answers for one more point of accuracy"
    sentence = f"{start} ({interval_words(forecast)})."
    return {"answers": forecast.labels, "low": forecast.low, "high": forecast.high, "sentence": sentence}
