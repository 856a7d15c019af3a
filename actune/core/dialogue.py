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
    audit: bool = False  # it belongs to the audit sample, so nothing is suggested
    picked: bool = False  # somebody asked for this text

    def __repr__(self) -> str:
        return given_only(self, text=shortened(self.text))


@dataclass(frozen=True)
class Answer:
    """A label for a text; without a label it is a skip, or what exactly one of the four words says.

    `unsure` is a skip with that reason, `unskip` ends a skip, `clear` takes back whatever was said, so that the text is
    open again, and `retract` takes back what this person said. With a `client` id the same answer may be sent twice and
    counts once. A `decision` counts above what others say, also later; without a label it leaves the text out.
    """

    id: str
    label: str | None = None
    unskip: bool = False
    by: str = "person"
    seconds: float | None = None  # how long it took, where that is known
    clear: bool = False
    unsure: bool = False
    client: str | None = None
    retract: bool = False
    decision: bool = False
    applied: bool = False  # it was given to a near-duplicate of this text, which nobody has read

    def __repr__(self) -> str:
        return given_only(self)


class Annotator(Protocol):
    """A person, a simulated oracle or another tool: never blocks, answers in any number of pieces.

    One that may stop answering also has `finished`, an attribute or a method that is true when no answer is to come.
    """

    def send(self, questions: Sequence[Question]) -> None: ...

    def collect(self) -> list[Answer]: ...
