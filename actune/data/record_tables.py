"""Records of another labelling tool as a table, so that they are read as every other file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actune.data.cells import Cells, Table, packed
from actune.data.limits import Filling, check_names
from actune.data.records import LABEL, Given, Record


def table_of_records(records: Sequence[Record], source: str, unit: str = "record") -> Table:
    """The table that other files would hold: a column for each field and each question, and `label` for the only one.

    The model's guesses are no labels, so that they are not in it.
    """
    asked = questions_in(records)
    fields = check_names(dict.fromkeys(name for record in records for name in record.fields), source)
    check_names(asked, source)
    size = len(records) * (len(fields) + len(asked))
    Filling(source).add(size, sum(len(record.fields) + len(record.given) for record in records))
    columns: dict[str, list[Any]] = {}
    if any(record.id is not None for record in records):
        columns["id"] = [record.id for record in records]
    for name in fields:
        columns.setdefault(name, [record.fields.get(name) for record in records])
    for question in asked:
        columns[question] = [_cell(record.last(question)) for record in records]
    if len(asked) == 1:
        columns.setdefault(LABEL, columns[asked[0]])
    cells = {name: Cells([packed(column)], f"{name!r} in {source}") for name, column in columns.items()}
    notes = [f"{_counted(different)}: the last one in the file is used"] if (different := _disputed(records)) else []
    return Table(source, cells, range(1, len(records) + 1), unit, tuple(notes), tuple(records))


def questions_in(records: Sequence[Record]) -> list[str]:
    """The questions that somebody answered, in the order of the file."""
    return list(dict.fromkeys(given.question for record in records for given in record.given if given.label))


def _cell(given: Given | None) -> str | list[str] | None:
    if given is None or given.label is None:
        return None
    return list(given.label) if isinstance(given.label, tuple) else given.label


def _disputed(records: Sequence[Record]) -> int:
    """How many texts have answers that differ from person to person."""
    return sum(
        len({given.label for given in record.of_each_person(question)}) > 1
        for record in records
        if len(record.given) > 1
        for question in {given.question for given in record.given if given.label}
    )


def _counted(different: int) -> str:
    if different == 1:
        return "1 text has different answers of several people"
    return f"{different:,} texts have different answers of several people"
