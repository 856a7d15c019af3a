"""Questions and answers between people, who use ids and names, and the store, which has rows and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from actune.core.checks import several, told
from actune.core.dialogue import Answer, Question
from actune.core.facts import QuestionRow
from actune.core.labels import Labels
from actune.core.pool import Pool
from actune.core.strings import is_text
from actune.errors import DataError
from actune.store.records import UNKNOWN_ROW, Kind, Recorded, Said


@dataclass(frozen=True)
class Told:
    """What became of some answers."""

    new: int
    repeated: int
    changed: tuple[str, ...]  # ids whose earlier answer was another one
    skipped: int
    saved: tuple[Saved, ...] = ()  # each answer, in their order


@dataclass(frozen=True)
class Standing:
    """A word that stands, or stood, on a text."""

    kind: Kind
    label: str | None


@dataclass(frozen=True)
class Saved:
    """One answer that is on the disk: its number in the log, None where nothing had to be written, and what stood."""

    id: str
    client: str | None
    number: int | None
    before: Standing | None


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


def answers_of(answers: Mapping[str, str] | Iterable[Answer]) -> list[Answer]:
    """Answers as a list of them; a mapping has a label for each id. What is none of these gets a sentence."""
    if isinstance(answers, Mapping):
        answers = [Answer(id, label) for id, label in answers.items()]
    found = list(several(answers, "answers"))
    for answer in found:
        if not isinstance(answer, Answer):
            raise DataError(f"{told(answer)} is not an answer: pass a dict {{id: label}} or a list of actune.Answer")
        if not isinstance(answer.id, str):
            raise DataError(f"the id of an answer must be a string, such as '7', not {told(answer.id)}")
        said = [word for word in ("unskip", "clear", "unsure", "retract") if getattr(answer, word)]
        if len(said) + (answer.label is not None) > 1:
            words = [*(["a label"] if answer.label is not None else []), *said]
            raise DataError(f"the answer on {told(answer.id)} has {' and '.join(words)}: give one of them")
        if said and answer.decision:
            raise DataError(f"the decision on {told(answer.id)} has {said[0]}: give a label, or none")
        if not is_text(answer.by):
            raise DataError(f"who answers must be a name without broken characters, not {told(answer.by)}")
    return found


def said_of(answer: Answer, row: int, pool: Pool) -> Said:
    """An answer as the store takes it."""
    if answer.label is not None and not pool.classes:
        raise DataError("this project has no classes yet: declare them before the first answer")
    number = None if answer.label is None else pool.class_number(answer.label)
    kind: Kind = "skip"
    if answer.decision:
        kind = "decide"
    elif number is not None:
        kind = "label"
    elif answer.unskip:
        kind = "unskip"
    elif answer.clear:
        kind = "clear"
    elif answer.retract:
        kind = "retract"
    elif answer.unsure:
        kind = "unsure"
    return Said(row, kind, number, answer.by, answer.seconds, answer.client, UNKNOWN_ROW if answer.applied else None)


def told_of(recorded: Recorded, pool: Pool, ids: Sequence[str]) -> Told:
    """What became of answers on the texts with these ids, as people see it."""
    changed = tuple(pool.ids[row] for row in recorded.changed)
    saved = tuple(
        Saved(id, each.client, each.number, standing_of(each.before, pool))
        for id, each in zip(ids, recorded.saved, strict=True)
    )
    return Told(recorded.new, recorded.repeated, changed, recorded.skipped, saved)


def standing_of(word: tuple[Kind, int | None] | None, pool: Pool) -> Standing | None:
    """The kind and the class of a word, as people see it."""
    if word is None:
        return None
    kind, label = word
    return Standing(kind, None if label is None else pool.classes[label])


def too_few_answers(labels: Labels, classes: Sequence[str], questions: int) -> DataError:
    """Answers of one class, or none at all, and what to do about it."""
    todo = f"answer some of the {questions:,} open questions" if questions else "answer more questions"
    return DataError(f"{_answered(labels, classes)}: a classifier needs answers of at least two classes, so {todo}")


def nothing_left_to_ask(labels: Labels, classes: Sequence[str]) -> DataError:
    """The same where every text is answered or skipped."""
    return DataError(
        f"{_answered(labels, classes)}, and no text is left to ask about: a classifier needs answers of at least two "
        "classes, so add more texts or unskip some"
    )


def _answered(labels: Labels, classes: Sequence[str]) -> str:
    if not labels.of_row:
        return "there are no answers yet"
    count, name = len(labels.of_row), classes[next(iter(labels.of_row.values()))]
    return f"the only answer is {name!r}" if count == 1 else f"all {count:,} answers are {name!r}"
