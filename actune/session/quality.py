"""What a project's answers say about its model where there is no test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actune.core.facts import QuestionRow, Share

ENOUGH = 100  # answered suggestions: older batches were suggested by weaker models


def agreement(questions: Sequence[QuestionRow], answers: Mapping[int, int]) -> Share | None:
    """How often the answer was what the model had suggested, in as many of the newest batches as it takes.

    A text that was asked about in two rounds counts once, with the newer suggestion.
    """
    found: dict[int, bool] = {}  # by row
    for round in sorted({question.round for question in questions}, reverse=True):
        for question in questions:
            if question.round == round and question.suggestion is not None and question.row in answers:
                found.setdefault(question.row, answers[question.row] == question.suggestion)
        if len(found) >= ENOUGH:
            break
    return Share.of(sum(found.values()), len(found)) if found else None
