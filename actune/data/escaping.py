"""Cells that a spreadsheet would run as formulas get an apostrophe, and lose it again when our file is read."""

from __future__ import annotations

import json
from collections.abc import Sequence

MARKER = "actune_escaped"
RISKY = tuple("=+-@＝＋－＠")  # the wide signs are taken for the others where people write Chinese or Japanese
BLANK = tuple("\t\r\n")  # with these a cell may begin in the next column or row
SKIPPED = ' "\u00a0\u3000\u200b\u2060\ufeff\t\r\n\v\f'  # some spreadsheets trim these, and then see a formula

# Why a column: the marker names, row by row, the columns that got an apostrophe. So a text with an apostrophe of
# its own is never touched, a file without the marker is read as it is, and columns may be moved in a spreadsheet.


def is_risky(cell: object) -> bool:
    """Whether a spreadsheet could run this cell as a formula."""
    return isinstance(cell, str) and (cell.startswith(BLANK) or cell.lstrip(SKIPPED).startswith(RISKY))


def escape(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> tuple[list[str], list[list[object]]]:
    """The same table with risky cells escaped, and with the marker column if there was one."""
    safe: list[list[object]] = []
    marks: list[str] = []
    for row in rows:
        risky = [is_risky(cell) for cell in row]
        safe.append([f"'{cell}" if bad else cell for cell, bad in zip(row, risky, strict=True)])
        names = [name for name, bad in zip(columns, risky, strict=True) if bad]
        marks.append(json.dumps(names, ensure_ascii=False) if names else "")
    if not any(marks):
        return list(columns), safe
    return [*columns, MARKER], [[*row, mark] for row, mark in zip(safe, marks, strict=True)]


def unescape(cells: dict[str, list[object]]) -> int | None:
    """Takes the apostrophes and the marker column away again, in place; gives the first row with a broken mark."""
    for row, mark in enumerate(cells.pop(MARKER, [])):
        try:
            names = json.loads(str(mark)) if mark else []
        except (ValueError, RecursionError):
            return row
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return row
        for column in (cells[name] for name in names if name in cells):
            # somebody may have edited the cell, and then the apostrophe is gone already
            column[row] = str(column[row]).removeprefix("'")
    return None
