"""Questions and answers between people, who use ids and names, and the store, which has rows and numbers."""

from __future__ import annotations

from dataclasses import dataclass

from actune.core.dialogue import Answer, Question
from actune.core.facts import QuestionRow
from actune.core.pool import Pool
from actune.store.records import Kind, Recorded, Said


@dataclass(frozen=True)
class Told:
    """What became of some answers."""

    new: int
    repeated: int
    changed: tuple[str, ...]  # ids whose earlier answer was another one
    skipped: int


def question_of(question: QuestionRow, pool: Pool) -> Question:
    """A question as people see it."""
    suggestion = question.suggestion
    return Question(
        id=pool.ids[question.row],
        text=pool.texts[question.row],
        round=question.round,
        suggestion=None if suggestion is None else pool.classes[suggestion],
        confidence=question.confidence,
    )


def said_of(answer: Answer, row: int, pool: Pool) -> Said:
    """An answer as the store takes it."""
    number = None if answer.label is None else pool.class_number(answer.label)
    kind: Kind = "label" if number is not None else "unskip" if answer.unskip else "skip"
    return Said(row, kind, number, answer.by, answer.seconds)


def told_of(recorded: Recorded, pool: Pool) -> Told:
    """What became of answers, as people see it."""
    changed = tuple(pool.ids[row] for row in recorded.changed)
    return Told(recorded.new, recorded.repeated, changed, recorded.skipped)
