"""Texts with what people said on them and what a model guessed: the form that files of other labelling tools share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LABEL = "label"  # the question that our own files ask
# what the column `source` of an export says; `APPLIED` is an answer that somebody let count for a near-duplicate
HUMAN, PSEUDO, APPLIED = "human", "pseudo", "near-duplicate"


@dataclass(frozen=True)
class Given:
    """What one person said on a text; without a label it is a skip."""

    label: str | tuple[str, ...] | None  # several only in files of others
    by: str | None = None
    at: str | None = None  # in UTC, as ISO 8601
    round: int | None = None  # the first round that was trained on it
    seconds: float | None = None
    question: str = LABEL
    decided: bool = False  # by somebody who decides where people disagree


@dataclass(frozen=True)
class Guess:
    """What a model says about a text."""

    label: str
    score: float | None = None
    model: str | None = None


@dataclass(frozen=True)
class Record:
    """One text; of what people gave, the last counts."""

    id: str | None
    fields: Mapping[str, object]
    given: tuple[Given, ...] = ()
    guess: Guess | None = None
    source: str | None = None  # where its label is from: one of the three words above
    note: str | None = None

    def last(self, question: str) -> Given | None:
        """What counts as the answer to one question; a skip is one to all of them."""
        said = [given for given in self.given if given.label is None or given.question == question]
        return said[-1] if said else None

    def of_each_person(self, question: str) -> list[Given]:
        """The last word of each person on one question, in their order, and her decision beside it."""
        said: dict[tuple[str | None, bool], Given] = {}
        for given in self.given:
            if given.label is None or given.question == question:
                said.pop((given.by, given.decided), None)
                said[given.by, given.decided] = given
        return list(said.values())


def as_texts(values: object) -> str | tuple[str, ...] | None:
    """One answer as a word, several as words, and nothing as None; a number stands for its digits."""
    if isinstance(values, (list, tuple)):
        found = tuple(str(value) for value in values)
        return found[0] if len(found) == 1 else found or None
    return None if values is None or values == "" else str(values)


def number(value: object) -> float | None:
    """A number as it is, None for all else."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def word(value: object) -> str | None:
    """A word or the digits of a number, None for all else."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None
