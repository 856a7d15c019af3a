"""Votes of several sources about the same rows, read from the cells of a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actune.core.checks import check_many, told
from actune.core.printing import shortened
from actune.errors import DataError, nearest

ABSTAIN = -1  # a source that says nothing about a row
LISTS = ("weak_labels", "votes")  # columns that hold all votes of a row
MOST_CLASSES = 1_000  # that votes may mean by their numbers alone
MOST_SHARES = 2**29  # rows times classes: a label model says of each row how likely each class is, in 8 bytes
LONGEST_NUMBER = 9  # digits of a class number
PREFIXES = ("vote_", "lf_")  # columns that hold the votes of one source each

Cells = Mapping[str, Sequence[object]]
Where = Callable[[int], str]


@dataclass(frozen=True)
class Votes:
    """What every source says about every row: a class number, or ABSTAIN."""

    matrix: NDArray[np.int64]  # (rows, sources)
    sources: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Which rows have at least one vote."""
        covered: NDArray[np.bool_] = (self.matrix != ABSTAIN).any(axis=1)
        return covered


def row_number(row: int) -> str:
    """The place of a row where nobody knows a better word."""
    return f"row {row + 1}"


def votes_of(
    cells: Cells, classes: Sequence[str], columns: Sequence[str] | None = None, where: Where = row_number
) -> Votes:
    """The votes in a table. A vote is the name of a class or its number; an empty cell, null and -1 say nothing."""
    known = _numbers(classes)
    by_source = vote_columns(cells, columns, where)
    rows = len(next(iter(by_source.values())))
    if rows * len(classes) > MOST_SHARES:
        raise DataError(
            f"there are {rows:,} rows and {len(classes):,} classes, which no label model can hold in memory: check the "
            "votes, or combine them in several parts"
        )
    matrix = np.full((rows, len(by_source)), ABSTAIN, dtype=np.int64)
    for place, (source, column) in enumerate(by_source.items()):
        words = [_word(cell) for cell in column]
        numbers = {word: number for word in set(words) if (number := _number(word, known)) is not None}
        if (row := next((row for row, word in enumerate(words) if word not in numbers), None)) is not None:
            raise DataError(f"{where(row)}: {source} votes {told(words[row])}, {_instead(words[row], classes)}")
        matrix[:, place] = [numbers[word] for word in words]
    return Votes(matrix, tuple(by_source))


def classes_in(by_source: Cells, labels: Sequence[str] = ()) -> tuple[str, ...]:
    """The classes that votes and labels name; where all of them are numbers, every number from 0 on."""
    words = {word for column in by_source.values() for word in map(_word, column) if word}
    names = words | set(labels)
    if names and all(word.isdecimal() for word in names):
        largest = max(names, key=lambda word: (len(word), word))
        if len(largest) > LONGEST_NUMBER or int(largest) >= MOST_CLASSES:
            raise DataError(
                f"the largest vote is {shortened(largest)}, but numbers alone can mean at most {MOST_CLASSES:,} "
                "classes, 0 and up: check the votes, or list the class names in their order with --labels"
            )
        return tuple(map(str, range(max(map(int, names)) + 1)))
    if numbers := sorted(word for word in words if word.isdecimal()):
        raise DataError(
            f"some votes are numbers, such as {numbers[0]}: list the class names in this order with --labels"
        )
    return tuple(sorted(names))


def vote_columns(cells: Cells, columns: Sequence[str] | None = None, where: Where = row_number) -> Cells:
    """The cells with votes, one column a source: those named, or a column of lists, or all `vote_` and `lf_` ones."""
    if strange := [name for name in columns or () if name not in cells]:
        raise DataError(f"there is no column {strange[0]!r}: {nearest(strange[0], cells)}")
    lists = [name for name in columns or LISTS if name in cells and _holds_lists(cells[name])]
    if lists and (columns is None or len(columns) == 1):
        return _by_source(cells[lists[0]], lists[0], where)
    chosen = columns or [name for name in cells if name.startswith(PREFIXES)]
    if not chosen:
        one, several = " or ".join(LISTS), " or ".join(f"{prefix}..." for prefix in PREFIXES)
        raise DataError(
            f"the table has no votes: set their columns with --columns, or rename them to {several} (for lists: {one})"
        )
    return {name: cells[name] for name in chosen}


def _holds_lists(column: Sequence[object]) -> bool:
    return any(isinstance(cell, list) or _text(cell).lstrip().startswith("[") for cell in column)


def _by_source(column: Sequence[object], name: str, where: Where) -> dict[str, list[object]]:
    lists = [_list(cell, name, row, where) for row, cell in enumerate(column)]
    for row, votes in enumerate(lists):
        if len(votes) != len(lists[0]):
            counts = f"{where(row)} has {len(votes)} votes and {where(0)} has {len(lists[0])}"
            raise DataError(f"{counts}: each row needs one vote per source, and -1 to abstain")
    if not lists[0]:
        raise DataError(f"the lists in column {name!r} are empty: each row needs one vote per source")
    return {f"rule {place + 1}": [votes[place] for votes in lists] for place in range(len(lists[0]))}


def _list(cell: object, name: str, row: int, where: Where) -> list[object]:
    try:
        votes = json.loads(cell) if isinstance(cell, str) else cell
    except (ValueError, RecursionError):
        votes = None
    if not isinstance(votes, list):
        raise DataError(f"{where(row)}: column {name!r} must have a list of votes such as [0, -1, 2], not {told(cell)}")
    return votes


def _word(cell: object) -> str:
    """A vote as text, empty where the source says nothing."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    word = "" if cell is None else _text(cell).strip()
    if word.endswith(".0") and word[:-2].lstrip("-").isdecimal():
        word = word[:-2]  # pandas turns whole numbers into floats as soon as one of them is missing
    return "" if word in ("nan", "NaN", str(ABSTAIN)) else word


def _text(cell: object) -> str:
    try:
        return str(cell)
    except ValueError:  # Python refuses to print a number of thousands of digits
        return "a number with thousands of digits"


def _numbers(classes: Sequence[str]) -> dict[str, int]:
    if str(ABSTAIN) in classes:
        raise DataError(f'the class name {str(ABSTAIN)!r} means "abstain" in votes: rename the class')
    check_many(classes)
    known = {name: number for number, name in enumerate(classes)}
    if len(known) < len(classes):
        twice = next(name for number, name in enumerate(classes) if known[name] != number)
        raise DataError(f"the class {twice!r} is named twice: name each class once")
    if len(known) < 2:
        raise DataError(
            f"the votes name only {', '.join(known) or 'no class'}: list at least two classes with --labels a,b"
        )
    return known


def _number(word: str, known: Mapping[str, int]) -> int | None:
    if not word:
        return ABSTAIN
    if word in known:
        return known[word]
    is_number = word.isdecimal() and len(word) <= LONGEST_NUMBER
    return int(word) if is_number and int(word) < len(known) else None


def _instead(word: str, classes: Sequence[str]) -> str:
    if word.lstrip("-").isdecimal():
        return f"but the {len(classes)} classes are numbered 0 to {len(classes) - 1}, and -1 abstains"
    return f"which is not a class: {nearest(word, classes)}"
