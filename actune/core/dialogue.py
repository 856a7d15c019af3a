"""What passes between a session and whoever answers: questions out, answers in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from actune.core.printing import given_only, shortened


@dataclass(frozen=True)
class Question:
    """One text to label, with what the model would say."""

    id: str
    text: str
    round: int
    suggestion: str | None = None
    confidence: float | None = None

    def __repr__(self) -> str:
        return given_only(self, text=shortened(self.text))


@dataclass(frozen=True)
class Answer:
    """A label for a text; without a label it is a skip, or with `unskip` the end of one."""

    id: str
    label: str | None = None
    unskip: bool = False
    by: str = "person"
    seconds: float | None = None  # how long it took, where that is known

    def __repr__(self) -> str:
        return given_only(self)


class Annotator(Protocol):
    """A person, a simulated oracle or another tool: never blocks, answers in any number of pieces.

    One that may stop answering also has `finished`, an attribute or a method that is true when no answer is to come.
    """

    def send(self, questions: Sequence[Question]) -> None: ...

    def collect(self) -> list[Answer]: ...
