"""Questions as a table that any spreadsheet opens, and the answers that come back in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from actune.core.dialogue import Answer, Question
from actune.core.pool import Pool
from actune.data.escaping import MARKER
from actune.data.export import write_table
from actune.data.formats import Table, names_in, read_table
from actune.errors import DataError, SettingError

COLUMNS = ("id", "text", "label", "suggestion", "confidence")


@dataclass(frozen=True)
class FileWords:
    """How a person says it: the columns of ids and answers, and the words for a text that cannot be labelled."""

    id: str = "id"
    label: str = "label"
    skip: str = "skip"
    unskip: str = "unskip"


USUAL = FileWords()


@dataclass(frozen=True)
class Filled:
    """What a file says: its answers, the ids that it contradicts itself about, and how many cells are still empty."""

    answers: tuple[Answer, ...]
    conflicts: Mapping[str, tuple[str, ...]]
    empty: int


def write_questions(path: str | Path, questions: Sequence[Question], raw: bool = False) -> None:
    """The questions with an empty label each; the suffix decides how."""
    write_table(path, COLUMNS, [_cells(question) for question in questions], raw)


def read_answers(
    path: str | Path,
    pool: Pool,
    words: FileWords = USUAL,
    by: str = "person",
    knows: Callable[[str], bool] | None = None,
) -> Filled:
    """The answers of a file, by id; other columns do not matter. An unknown id or label is an error with its line.

    `knows` says whether there is a text with an id, where that is faster than looking through the ids of the pool.
    """
    knows = knows or pool.row_of.__contains__
    for taken, option in ((words.skip, "--skip-word"), (words.unskip, "--unskip-word")):
        if taken in pool.classes:
            raise SettingError(f"{taken!r} is a class of this project: choose another word with {option}")
    table = read_table(path)
    said: dict[str, dict[Answer, str]] = defaultdict(dict)  # by id, and by what it comes to
    empty = 0
    for row, id, word in _rows(table, words):
        if word is None:
            empty += 1
            continue
        try:
            if not knows(id):
                raise DataError(f"there is no text with the id {id!r} in this project")
            said[id].setdefault(_answer(pool, words, id, word, by), word)
        except DataError as error:
            raise DataError(f"{table.source} {table.where([row])}: {error}") from None
    return Filled(
        tuple(next(iter(answers)) for answers in said.values() if len(answers) == 1),
        {id: tuple(answers.values()) for id, answers in said.items() if len(answers) > 1},
        empty,
    )


def check_replaceable(path: str | Path, told: Mapping[str, str]) -> None:
    """Refuses to write over a file that holds anything but answers that were told: somebody's work would be lost.

    `told` gives the label, or the usual word for a skip, by id.
    """
    if not Path(path).exists():
        return
    try:
        table = read_table(path)
        untold = [row for row, id, word in _rows(table, USUAL) if word is not None and told.get(id) != word]
    except DataError:
        raise DataError(f"{path} exists and is not a batch of questions: choose another file") from None
    if strange := [name for name in table.cells if name not in (*COLUMNS, MARKER)]:
        raise DataError(f"{path} exists and holds a column {strange[0]!r} that is not ours: choose another file")
    if untold:
        raise DataError(
            f"{path} holds answers that were not told ({table.where(untold)}): tell them, or remove the file"
        )


def _cells(question: Question) -> list[object]:
    confidence = None if question.confidence is None else round(question.confidence, 4)
    return [question.id, question.text, None, question.suggestion, confidence]


def _rows(table: Table, words: FileWords) -> Iterator[tuple[int, str, str | None]]:
    """Row, id and word of each line that has an id; spreadsheets leave empty lines behind."""
    ids = names_in(table, words.id, table.column(words.id, "--id-column"))
    given = names_in(table, words.label, table.column(words.label, "--label-column"))
    if bare := [row for row, id in enumerate(ids) if id is None and given[row] is not None]:
        raise DataError(f"{table.source} has an answer without an id in {table.where(bare)}: ids name the texts")
    yield from ((row, id, word) for row, (id, word) in enumerate(zip(ids, given, strict=True)) if id is not None)


def _answer(pool: Pool, words: FileWords, id: str, word: str, by: str) -> Answer:
    """What a word in a cell comes to."""
    if word not in pool.classes and word.casefold() in (words.skip.casefold(), words.unskip.casefold()):
        return Answer(id, unskip=word.casefold() == words.unskip.casefold(), by=by)
    pool.class_number(word)  # or an error that suggests the nearest
    return Answer(id, word, by=by)
