"""The columns of texts and labels in a dev or test file, which may have other names than in the main file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from actune.core.matching import folded, matches
from actune.data.cells import Table
from actune.data.formats import names_in
from actune.errors import DataError

TEXTS = ("text", "sentence", "content", "body", "message", "document", "review", "comment", "post", "question")
LABELS = ("label", "class", "category", "target", "topic", "intent", "sentiment", "tag")
LOOKED_AT = 1000  # rows that show what a column holds


@dataclass(frozen=True)
class Found:
    """A table with the names of its columns; its column of ids is there only where it can be used."""

    table: Table
    text: str
    label: str
    id: str | None
    notes: tuple[str, ...] = ()


def find_columns(
    table: Table, text: str | None, label: str | None, id: str | None, classes: Sequence[str] = ()
) -> Found:
    """The columns that the options name, those with usual names, or the only ones that can be meant."""
    labels = _find(table, label, "label", LABELS, lambda name: _holds_classes(table, name, classes), ())
    texts = _find(table, text, "text", TEXTS, lambda name: _holds_sentences(table, name), (labels, id or "id"))
    notes = [
        f"the {kind}s are in the column {found!r} of {table.source}"
        for kind, found, expected in (("text", texts, text or "text"), ("label", labels, label or "label"))
        if found != expected
    ]
    ids = next((name for name in (id, "id") if name in table.cells and _names_rows(table, str(name))), None)
    kept = {name: cells for name, cells in table.cells.items() if name != "id" or ids == "id"}
    return Found(replace(table, cells=kept), texts, labels, ids, tuple(notes))


def _find(
    table: Table,
    given: str | None,
    kind: str,
    usual: Sequence[str],
    is_plausible: Callable[[str], bool],
    taken: Sequence[str],
) -> str:
    for name in (given, kind):
        if name is not None and name in table.cells:
            return name
    free = [name for name in table.cells if name not in taken]
    plausible = [name for name in free if is_plausible(name)]
    by_name = {folded(name): name for name in reversed(plausible or free)}
    if named := [by_name[word] for word in usual if word in by_name]:
        return named[0]
    if len(plausible) == 1:
        return plausible[0]
    columns = ", ".join(map(repr, table.cells))
    raise DataError(
        f"{table.source} has no column {given or kind!r}, and its {kind} column cannot be guessed from {columns}: "
        f"rename the right column to {given or kind!r} (--{kind} applies to all files)"
    )


def _holds_classes(table: Table, name: str, classes: Sequence[str]) -> bool:
    found = {word for word in _some(table, name) if word}
    return bool(found) and len(matches(found, classes)) == len(found)


def _holds_sentences(table: Table, name: str) -> bool:
    words = [word for word in _some(table, name) if word]
    return bool(words) and 2 * sum(" " in word for word in words) >= len(words)


def _names_rows(table: Table, name: str) -> bool:
    words = names_in(table, name, table.cells[name])
    return None not in words and len(set(words)) == len(words)


def _some(table: Table, name: str) -> list[str]:
    return [cell.strip() if isinstance(cell, str) else str(cell) for cell in table.cells[name][:LOOKED_AT] if cell]
