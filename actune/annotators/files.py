"""Questions as a table that any spreadsheet opens, and the answers that come back in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from actune.core.dialogue import Answer, Question
from actune.core.matching import folded, matcher
from actune.core.pool import Pool
from actune.core.printing import abridged
from actune.core.settings import Words
from actune.data.escaping import MARKER
from actune.data.export import write_table
from actune.data.formats import (
    EXPORT_COLUMNS,
    SKIPPED,
    SKIPPED_COLUMN,
    Table,
    columns_in,
    names_in,
    pseudo_rows,
    read_table,
)
from actune.data.record_tables import questions_in
from actune.data.records import APPLIED, LABEL, Given
from actune.errors import DataError

COLUMNS = ("id", "text", "label", "suggestion", "confidence")
USUAL = Words()
MOST_SHOWN = 2000  # characters of a text that a person reads; the model reads them all


@dataclass(frozen=True)
class FileColumns:
    """Where ids and answers stand; a column that is not named is `id` or `label`, or the project's own."""

    id: str | None = None
    label: str | None = None


ANY_COLUMNS = FileColumns()


@dataclass(frozen=True)
class BadCell:
    """An answer that cannot be taken, where it stands, and why."""

    place: str  # `line 4`
    id: str | None
    value: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


@dataclass(frozen=True)
class Cell:
    """One answer as a file has it, and who gave it where the file says so."""

    row: int
    id: str | None
    word: str | None
    by: str | None = None
    seconds: float | None = None
    decided: bool = False
    applied: bool = False  # nobody has read this text


@dataclass(frozen=True)
class Filled:
    """What a file says: its answers, the ids that it contradicts itself about, and how many cells are still empty."""

    answers: tuple[Answer, ...]
    conflicts: Mapping[str, tuple[str, ...]]
    empty: int
    bad: tuple[BadCell, ...] = ()
    matched: int = 0  # answers that were written in another case than their class
    notes: tuple[str, ...] = ()


def write_questions(path: str | Path, questions: Sequence[Question], raw: bool = False) -> list[str]:
    """The questions with an empty label each, and notes on what was shortened; the suffix decides how."""
    notes = write_table(path, COLUMNS, [_cells(question) for question in questions], raw)
    if long := sum(len(question.text) > MOST_SHOWN for question in questions):
        texts = "1 text is" if long == 1 else f"{long:,} texts are"
        notes.append(f"{texts} shortened in the file; the model gets the whole texts")
    return notes


def read_answers(
    path: str | Path,
    pool: Pool,
    columns: FileColumns = ANY_COLUMNS,
    words: Words = USUAL,
    by: str = "person",
    knows: Callable[[str], bool] | None = None,
    remembered: Mapping[str, Any] | None = None,
) -> Filled:
    """The answers of a file, by id; other columns do not matter. All cells that cannot be taken are listed.

    `knows` says whether there is a text with an id, where that is faster than looking through the ids of the pool.
    `remembered` has the columns and the encoding that the project was made with. `by` is who answers where the file
    does not say it, as our own exports and the files of other labelling tools do.
    """
    knows, match = knows or pool.row_of.__contains__, matcher(pool.classes)
    table = read_table(path, (remembered or {}).get("encoding"))
    # by id, person and whether it is a decision, and by what it comes to
    said: dict[tuple[str, str, bool], dict[Answer, str]] = defaultdict(dict)
    bad: list[BadCell] = []
    empty = matched = 0
    for cell in _cells_of(table, columns, words, remembered):
        id, word = cell.id, cell.word
        if word is None:
            empty += id is not None
            continue
        answer, reason = None, ""
        if id is None:
            reason = f"the answer {word!r} has no id"
        elif not knows(id):
            reason = f"this project has no text with the id {id!r}"
        elif (answer := _answer(match, words, cell, word, by)) is None:
            reason = f"id {id!r} has the unknown label {word!r}{_hint(word, pool.classes)}"
        if answer is None or id is None:
            bad.append(BadCell(table.where([cell.row]), id, word, reason))
            continue
        matched += answer.label not in (None, word)
        answer = replace(answer, decision=cell.decided and not answer.unskip)
        said[id, answer.by, answer.decision].setdefault(answer, word)
    return Filled(
        tuple(next(iter(answers)) for answers in said.values() if len(answers) == 1),
        {id: tuple(answers.values()) for (id, *_), answers in said.items() if len(answers) > 1},
        empty,
        tuple(bad),
        matched,
        table.notes,
    )


def check_replaceable(
    path: str | Path,
    told: Mapping[str, str],
    classes: Sequence[str] = (),
    words: Words = USUAL,
    encoding: str | None = None,
) -> None:
    """Refuses to write over a file that holds anything but answers that were told: somebody's work would be lost.

    `told` gives the label, or the word for a skip, by id.
    """
    if not Path(path).exists():
        return
    match = matcher((*classes, words.skip_word))

    def is_told(id: str | None, word: str) -> bool:
        before = told.get(id or "")
        if folded(word) == folded(words.unskip_word):
            return before != words.skip_word
        return before is not None and before == (match(word) or word)

    try:
        table = read_table(path, encoding)
        found = _cells_of(table, ANY_COLUMNS, words)
        untold = [cell.row for cell in found if cell.word is not None and not is_told(cell.id, cell.word)]
    except DataError:
        raise DataError(f"{path} exists and was not written by `actune ask`: choose another file") from None
    if strange := [name for name in table.cells if name not in (*COLUMNS, MARKER) and not table.records]:
        raise DataError(
            f"{path} exists and has a column {strange[0]!r} that `actune ask` does not write: choose another file"
        )
    if untold:
        raise DataError(
            f"{path} has answers that are not saved yet ({table.where(untold)}): run `actune tell` with this file, or "
            "delete it"
        )


def _cells(question: Question) -> list[object]:
    confidence = None if question.confidence is None else round(question.confidence, 4)
    return [question.id, abridged(question.text, MOST_SHOWN), None, question.suggestion, confidence]


def _cells_of(
    table: Table, columns: FileColumns, words: Words, remembered: Mapping[str, Any] | None = None
) -> Iterator[Cell]:
    """The answers in a table, those of each person where it has them; a pseudo-label is none."""
    if table.records:
        yield from _cells_of_records(table, columns, words, remembered)
        return
    pseudo = set(pseudo_rows(table))
    is_own = table.cells.keys() >= set(EXPORT_COLUMNS)
    people = names_in(table, "by", table.cells["by"]) if is_own else None
    sources = table.cells["source"] if is_own else None
    skipped = table.cells.get(SKIPPED_COLUMN) if is_own else None
    for row, id, word in _rows(table, columns, remembered):
        if word is None and skipped is not None and skipped[row] == SKIPPED:
            word = words.skip_word
        applied = sources is not None and sources[row] == APPLIED
        yield Cell(row, id, None if row in pseudo else word, people[row] if people else None, applied=applied)


def _cells_of_records(
    table: Table, columns: FileColumns, words: Words, remembered: Mapping[str, Any] | None
) -> Iterator[Cell]:
    """What each person said last on each text; what counts comes last."""
    names = columns_in(table, {"id": columns.id, "label": columns.label}, remembered)
    ids = names_in(table, names["id"] or "id", table.column(names["id"] or "id", "--id-column"))
    asked, question = questions_in(table.records), names["label"] or LABEL
    if question not in asked and columns.label is None and len(asked) < 2:
        question = asked[0] if asked else LABEL
    elif question not in asked:
        table.column(question, "--label-column")
    for row, (id, record) in enumerate(zip(ids, table.records, strict=True)):
        people = record.of_each_person(question)
        for given in people:
            applied = record.source == APPLIED and given is people[-1]
            yield Cell(row, id, _word_of(given, words), given.by, given.seconds, given.decided, applied)
        if not people:
            yield Cell(row, id, None)


def _word_of(given: Given, words: Words) -> str:
    if given.label is None:
        return words.skip_word
    return given.label if isinstance(given.label, str) else str(list(given.label))  # which is no class


def _rows(
    table: Table, columns: FileColumns, remembered: Mapping[str, Any] | None = None
) -> Iterator[tuple[int, str | None, str | None]]:
    """Row, id and word of each line that has one of them; spreadsheets leave empty lines behind."""
    # our own batch of questions has our own columns, whatever the project's are called
    kept = None if table.cells.keys() >= set(COLUMNS) else remembered
    names = columns_in(table, {"id": columns.id, "label": columns.label}, kept)
    id, label = names["id"] or "id", names["label"] or "label"
    ids = names_in(table, id, table.column(id, "--id-column"))
    given = names_in(table, label, table.column(label, "--label-column"))
    for row, (found, word) in enumerate(zip(ids, given, strict=True)):
        if found is not None or word is not None:
            yield row, found, word


def _answer(match: Callable[[str], str | None], words: Words, cell: Cell, word: str, by: str) -> Answer | None:
    """What a word in a cell comes to, None where it is no class; a class wins over the word for a skip."""
    id, by, seconds, meant = cell.id or "", cell.by or by, cell.seconds, match(word)
    if meant != word:
        for known, unskip in ((words.skip_word, False), (words.unskip_word, True)):
            if folded(word) == folded(known):
                return Answer(id, unskip=unskip, by=by, seconds=seconds)
    return None if meant is None else Answer(id, meant, by=by, seconds=seconds, applied=cell.applied)


def _hint(word: str, classes: Sequence[str]) -> str:
    by_fold = {folded(name): name for name in classes}
    close = get_close_matches(folded(word), by_fold, n=1, cutoff=0.5)
    return f" (did you mean {by_fold[close[0]]!r}?)" if close else ""
