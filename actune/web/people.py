"""A person at the door, and what she may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Request

from actune.web.refusals import Refused

Role = Literal["annotator", "owner"]


@dataclass(frozen=True)
class Person:
    """Who asks. An annotator answers questions; an owner also changes classes, trains and exports."""

    name: str
    role: Role


LOCAL = Person("person", "owner")  # whoever starts the server, and has its link or its token


def person_of(request: Request) -> Person:
    """Whom the guard has let in."""
    person = request.scope.get("person")
    if not isinstance(person, Person):
        raise Refused(401, "unknown", "open the page by the link that `actune label` prints, or send a token")
    return person


def owner_of(request: Request) -> Person:
    """The same where only an owner may go on."""
    person = person_of(request)
    if person.role != "owner":
        raise Refused(403, "role", f"{person.name} is an annotator of this project: only an owner may do this")
    return person


By = Annotated[Person, Depends(person_of)]
Owner = Annotated[Person, Depends(owner_of)]
