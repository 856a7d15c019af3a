"""A dozen real texts of a run: where the model is sure and wrong, where people disagree with it, what it asks next."""

from __future__ import annotations

from dataclasses import dataclass, replace

from actune.core.facts import QuestionRow
from actune.report.classes import OnTest
from actune.report.svg import short_line
from actune.session.session import Session

A_DOZEN = 12
LONGEST = 240  # characters of a text that are shown


@dataclass(frozen=True)
class Example:
    """One text with what the model says of it and what it really is, where that is known."""

    text: str
    id: str
    says: str | None
    confidence: float | None
    is_: str | None


@dataclass(frozen=True)
class Examples:
    """Texts of one kind, the most telling ones first."""

    title: str
    note: str
    truth: str  # how the column of the known class is called; empty where there is none
    texts: tuple[Example, ...]


def examples_of(session: Session, result: OnTest | None) -> list[Examples]:
    """The kinds that have any texts, a dozen texts in all."""
    kinds = [each for each in (surely_wrong(session, result), disputed(session), asked_next(session)) if each]
    return [replace(each, texts=each.texts[: A_DOZEN // len(kinds)]) for each in kinds]


def surely_wrong(session: Session, result: OnTest | None) -> Examples | None:
    """Test texts that the model is wrong about, the surest first."""
    test = session.task.test
    if result is None or test is None or result.confidence is None:
        return None
    confidence = result.confidence
    wrong = (result.predicted != result.truth).nonzero()[0]
    rows = sorted(wrong.tolist(), key=lambda row: (-float(confidence[row]), row))[:A_DOZEN]
    texts = tuple(
        Example(
            short_line(test.texts[row], LONGEST),
            test.ids[row],
            result.classes[result.predicted[row]],
            float(confidence[row]),
            result.classes[result.truth[row]],
        )
        for row in rows
    )
    note = (
        f"{len(wrong):,} of {len(test):,} test texts are wrong. {result.model.capitalize()} is most confident of these."
    )
    note += " Either the model is wrong, or the label in the test set is."
    return Examples("Sure and wrong", note, "label", texts) if texts else None


def disputed(session: Session) -> Examples | None:
    """Answers that differ from what the model suggested, the surest suggestions first."""
    labels = session.labels().of_row
    asked = {question.row: question for question in session.store.questions() if question.suggestion is not None}
    answered = [question for row, question in asked.items() if row in labels]
    differing = [question for question in answered if labels[question.row] != question.suggestion]
    differing.sort(key=lambda question: (-(question.confidence or 0.0), question.row))
    texts = tuple(_asked(session, question, labels[question.row]) for question in differing[:A_DOZEN])
    note = f"{len(differing):,} of {len(answered):,} answers differ from the model's suggestion."
    note += " If an answer is a mistake, correct it with `actune tell`."
    return Examples("Disputed", note, "answer", texts) if texts else None


def asked_next(session: Session) -> Examples | None:
    """Open questions, in the order of asking."""
    questions = [] if session.done else session.store.open_questions()
    texts = tuple(_asked(session, question, None) for question in questions[:A_DOZEN])
    return Examples("Asked next", f"{len(questions):,} open questions.", "", texts) if texts else None


def _asked(session: Session, question: QuestionRow, label: int | None) -> Example:
    pool = session.pool
    return Example(
        short_line(pool.texts[question.row], LONGEST),
        pool.ids[question.row],
        None if question.suggestion is None else pool.classes[question.suggestion],
        question.confidence,
        None if label is None else pool.classes[label],
    )
