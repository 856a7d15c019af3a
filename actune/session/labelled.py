"""The labels of a run as rows of a table or as records: what people said and, apart from it, pseudo-labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actune.core.dialogue import Question
from actune.core.training_set import PseudoLabels
from actune.data.formats import EXPORT_COLUMNS, SKIPPED, SKIPPED_COLUMN
from actune.data.records import APPLIED, HUMAN, PSEUDO, Given, Guess, Record, number
from actune.errors import RunFolderError
from actune.session.session import Session
from actune.store.records import AnswerRow, Word
from actune.store.words import DECISION, ENDS, replay

COLUMNS = EXPORT_COLUMNS
SUGGESTED = "suggestion"
ALL_COLUMNS = (*EXPORT_COLUMNS, SKIPPED_COLUMN)
Row = list[object]


def human_rows(session: Session) -> list[Row]:
    """The answers that count, in row order; the simulated oracle and the file's own labels are answers too."""
    session.labels()  # which checks that they are labels of this pool
    labelled = [(word, word.label) for word in session.store.latest() if word.label is not None]
    applied = session.applied_numbers()
    seen = [facts.answers_seen for facts in session.rounds()]
    session.refresh()
    pool = session.pool
    return [
        [
            pool.ids[word.row],
            pool.texts[word.row],
            pool.classes[number],
            APPLIED if word.number in applied else HUMAN,
            _first_use(word.number, seen),
            None,
            word.by,
        ]
        for word, number in labelled
    ]


def pseudo_rows(session: Session) -> list[Row]:
    """The newest pseudo-labels, without rows that somebody has answered or skipped since."""
    labels = session.labels()
    chosen, found, memory = session.newest_choice()
    found, memory, pool = session.usable(found), session.usable_memory(memory), session.pool
    rows = zip(found.rows, found.targets, _confidences(found, memory), strict=True)
    return [
        [pool.ids[row], pool.texts[row], pool.classes[number], PSEUDO, chosen, confidence, "model"]
        for row, number, confidence in sorted((int(row), int(number), sure) for row, number, sure in rows)
        if row not in labels.of_row and row not in labels.skipped
    ]


def all_rows(session: Session, labelled: Sequence[Row]) -> list[Row]:
    """Every text of the pool in its order, with its row of those that have a label, or whether it was skipped."""
    row_of = {row[0]: row for row in labelled}
    session.refresh()
    skipped = {word.row: word.by for word in session.store.latest() if word.label is None}
    bare: list[object] = [None] * (len(COLUMNS) - len(("id", "text", "by")))
    return [
        [*row_of[id], None]
        if id in row_of
        else [id, text, *bare, skipped.get(row), SKIPPED if row in skipped else None]
        for row, (id, text) in enumerate(zip(session.pool.ids, session.pool.texts, strict=True))
    ]


def labelled_records(session: Session, pseudo: bool = False, everything: bool = False) -> list[Record]:
    """The same as records: the word of each person on the texts that have a label; the last of them counts.

    With `pseudo` also the texts with pseudo-labels, which are guesses; with `everything` also those that were skipped
    and those that nobody has answered.
    """
    labels = session.labels()
    given, guesses = _given(session), _guesses(session) if pseudo else {}
    unread = session.unread_rows()
    rows: Sequence[int] = range(len(session.pool)) if everything else sorted({*labels.of_row, *guesses})
    return [_record(session, row, given.get(row, ()), guesses.get(row), row in unread) for row in rows]


def question_records(session: Session, questions: Sequence[Question]) -> list[Record]:
    """Open questions as records, with what the model suggests."""
    return [
        Record(
            one.id,
            {"text": one.text},
            source=None if one.suggestion is None else SUGGESTED,
            guess=None if one.suggestion is None else Guess(one.suggestion, one.confidence, _model(session)),
        )
        for one in questions
    ]


def _record(session: Session, row: int, given: Sequence[Given], guess: Guess | None, applied: bool) -> Record:
    source = APPLIED if applied else HUMAN if given else PSEUDO if guess else None
    return Record(session.pool.ids[row], {"text": session.pool.texts[row]}, tuple(given), guess, source)


def _given(session: Session) -> dict[int, list[Given]]:
    """What each person last said on the rows where some word stands."""
    answers = {answer.number: answer for answer in session.store.answers()}
    words = replay(answers.values(), session.store.class_changes())
    seen, classes = [facts.answers_seen for facts in session.rounds()], session.pool.classes
    found: dict[int, list[Given]] = {}
    for word in sorted(words.of_person.values(), key=lambda word: word.number):
        if word.row in words.latest and word.kind not in ENDS:
            found.setdefault(word.row, []).append(_given_by(word, answers[word.number], seen, classes))
    for word in words.latest.values():
        if word.kind == DECISION:  # which counts, so it comes last
            found.setdefault(word.row, []).append(_given_by(word, answers[word.number], seen, classes))
    return found


def _given_by(word: Word, answer: AnswerRow, seen: Sequence[int], classes: Sequence[str]) -> Given:
    label = None if word.label is None else classes[word.label]
    use, decided = _first_use(word.number, seen), word.kind == DECISION
    return Given(label, word.by, answer.at, use, answer.seconds, decided=decided)


def _guesses(session: Session) -> dict[int, Guess]:
    """The newest pseudo-labels by row."""
    return {
        session.pool.row_of[str(id)]: Guess(str(label), number(confidence), _model(session))
        for id, _, label, _, _, confidence, _ in pseudo_rows(session)
    }


def _model(session: Session) -> str:
    """What other tools call the model of the newest round, which made the suggestions and the pseudo-labels."""
    return f"actune round {session.fitted - 1}"


def _first_use(answer: int, seen: Sequence[int]) -> int | None:
    """The first round whose training knew this answer."""
    return next((round for round, last in enumerate(seen) if answer <= last), None)


def _confidences(found: PseudoLabels, memory: Any) -> list[float | None]:
    """How sure the model is of each pseudo-label: what its memory of predictions holds, where it has one."""
    sure = found.confidence
    if memory is not None and memory.ndim == 2:
        if len(memory) <= max(found.rows, default=-1):
            raise RunFolderError(
                "the memory bank of this run is shorter than its pool: run `actune verify` on its folder"
            )
        sure = memory[found.rows, found.targets]
    return [None] * len(found) if sure is None else [round(float(each), 4) for each in sure]
