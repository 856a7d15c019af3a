"""The contract of annotators."""

from __future__ import annotations

from collections.abc import Sequence

from actune.core.dialogue import Annotator, Question


def check_annotator(annotator: Annotator, questions: Sequence[Question], classes: Sequence[str]) -> None:
    """An annotator answers what it was asked, each question at most once, and says nothing before it is asked."""
    assert list(annotator.collect()) == [], "collect gave answers before any question was sent"
    annotator.send(questions)
    answers = list(annotator.collect())
    asked, answered = [question.id for question in questions], [answer.id for answer in answers]
    assert set(answered) <= set(asked), f"{sorted(set(answered) - set(asked))} was answered and never asked"
    assert len(set(answered)) == len(answered), "a question was answered twice"
    strange = {answer.label for answer in answers} - {None, *classes}
    assert not strange, f"{strange} is no class"
    again = [answer.id for answer in annotator.collect()]
    assert not set(again) & set(answered), "collect gave answers that it had given before"
    annotator.send([])  # a round may have no question
