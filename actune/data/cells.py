"""Tables of cells, column by column and in blocks: Arrow where a block holds only strings, Python objects elsewhere."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, cast, overload

from actune.core.arrow import integer_array, string_array
from actune.core.printing import shortened
from actune.core.strings import BLOCK, Strings
from actune.data.limits import check_names
from actune.errors import DataError, nearest

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow

    from actune.data.records import Record

Block = Any  # an Arrow array of any type, or a list
SHOWN = 5  # so many line numbers are named in a message, the rest is counted


class Cells(Sequence[object]):
    """The cells of one column, each as the file or the frame holds it, None where it holds nothing."""

    def __init__(self, blocks: Sequence[Block], column: str = "of the data") -> None:
        self._blocks = list(blocks)
        self._column = column  # in words, for messages
        self._starts = [0, *accumulate(map(len, self._blocks))]

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, place: int) -> object: ...
    @overload
    def __getitem__(self, place: slice) -> list[object]: ...
    def __getitem__(self, place: int | slice) -> object:
        if isinstance(place, slice):
            return [self[row] for row in range(*place.indices(len(self)))]
        row = range(len(self))[place]  # from the end where it is negative, and an IndexError where there is none
        number = bisect_right(self._starts, row) - 1
        block, start = self._blocks[number], self._starts[number]
        return block[row - start] if isinstance(block, list) else self._listed(block.slice(row - start, 1), row)[0]

    def __iter__(self) -> Iterator[object]:
        for block in self.blocks():
            yield from block

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Cells({self[:3]!r}, {len(self):,} in all)"

    def blocks(self) -> Iterator[list[object]]:
        """All cells in their order, some thousands at a time."""
        for block, first in zip(self._blocks, self._starts, strict=False):
            for start in range(0, len(block), BLOCK):
                part = block[start : start + BLOCK]
                yield part if isinstance(part, list) else self._listed(part, first + start)

    def take(self, rows: npt.NDArray[np.int64]) -> Cells:
        """The cells of these rows, which are in their order."""
        import numpy as np
        import pyarrow

        bounds = np.searchsorted(rows, self._starts).tolist()
        taken: list[Block] = []
        for block, start, low, high in zip(self._blocks, self._starts, bounds, bounds[1:], strict=False):
            places = rows[low:high] - start
            if isinstance(block, list):
                taken.append([block[place] for place in places])
            elif pyarrow.types.is_string_view(block.type) or pyarrow.types.is_binary_view(block.type):
                taken.append([self[start + place] for place in places.tolist()])  # Arrow cannot take from these
            else:
                taken.append(block.take(integer_array(places)))
        return Cells(taken, self._column)

    def strings(self) -> Strings | None:
        """The column as it lies in memory where every cell is a string, else None."""
        import pyarrow

        if any(isinstance(block, list) or block.null_count or not _holds_text(block.type) for block in self._blocks):
            return None
        for block, start in zip(self._blocks, self._starts, strict=False):
            self._check(block, start)
        chunks = [chunk for block in self._blocks for chunk in _chunks(block.cast(pyarrow.large_string()))]
        return Strings(pyarrow.chunked_array(chunks, pyarrow.large_string()))

    def _listed(self, block: Block, start: int) -> list[object]:
        """The cells of an Arrow array as Python objects; row `start` is the first."""
        self._check(block, start)
        try:
            return block.to_pylist()  # type: ignore[no-any-return]
        except Exception as error:  # a year 20000, an unknown time zone: each type has errors of its own
            row = next((row for row in range(len(block)) if not _is_readable(block[row])), 0)
            raise self._refusal(start + row, block, error) from None

    def _check(self, block: Block, start: int) -> None:
        """Refuses what other code would trip over: bytes that are no text, and numbers of values that are not there."""
        import pyarrow

        try:
            block.validate(full=True)
        except pyarrow.ArrowException as error:
            few = [row for row in range(0, len(block), BLOCK) if not _is_valid(block.slice(row, BLOCK))] or [0]
            row = next((row for row in range(few[0], len(block)) if not _is_valid(block.slice(row, 1))), 0)
            raise self._refusal(start + row, block, error) from None

    def _refusal(self, row: int, block: Block, error: Exception) -> DataError:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].split("Invalid: ")[-1]
        return DataError(
            f"column {self._column} has a value of type {shortened(str(block.type))} that cannot be read in row "
            f"{row + 1} ({shortened(reason)}): correct it"
        )


@dataclass(frozen=True)
class Table:
    """Cells by column, as the file holds them, with the line of each row as a person sees it in the file."""

    source: str
    cells: Mapping[str, Sequence[object]]
    numbers: Sequence[int]
    unit: str = "line"
    notes: tuple[str, ...] = ()  # what reading found, told to the user once
    records: tuple[Record, ...] = ()  # of a file of another labelling tool: what each person said

    def __len__(self) -> int:
        return len(self.numbers)

    def where(self, rows: Sequence[int]) -> str:
        """These rows in words: `line 4`, or `lines 4, 9, 12, 15, 20 and 7 more`."""
        named = ", ".join(str(self.numbers[row]) for row in rows[:SHOWN])
        more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
        return f"{self.unit}{'s' if len(rows) > 1 else ''} {named}{more}"

    def only(self, rows: npt.NDArray[np.int64]) -> Table:
        """The table of these rows, which are in their order."""
        cells = {name: _taken(column, rows) for name, column in self.cells.items()}
        kept = rows.tolist()
        records = tuple(self.records[row] for row in kept) if self.records else ()
        return replace(self, cells=cells, numbers=[self.numbers[row] for row in kept], records=records)

    def column(self, name: str, option: str) -> Sequence[object]:
        """The cells of a column, or a sentence that lists the columns there are."""
        if name in self.cells:
            return self.cells[name]
        raise DataError(
            f"{self.source} has no column {name!r}: set it with {option} ({nearest(name, map(str, self.cells))})"
        )


class Columns:
    """Collects the cells of a table block by block; a column may begin late, or be absent from a block."""

    def __init__(self) -> None:
        self._blocks: dict[str, list[Block]] = {}
        self._rows = 0

    def add(self, cells: Mapping[str, list[object]], rows: int) -> None:
        """The next rows, by column."""
        for name in cells:
            if name not in self._blocks:
                self._blocks[name] = [_nothing(self._rows)] if self._rows else []
        nothing = _nothing(rows)
        for name, blocks in self._blocks.items():
            blocks.append(packed(cells[name]) if name in cells else nothing)
        self._rows += rows

    def cells(self) -> dict[str, Sequence[object]]:
        return {name: Cells(blocks) for name, blocks in self._blocks.items()}


def header_of(names: Sequence[str], source: str) -> list[str]:
    """The names of columns; those without a name get their place as one."""
    return check_names((name.strip() or f"column {place}" for place, name in enumerate(names, start=1)), source)


def blocks_of(cells: Sequence[object]) -> Iterator[Sequence[object]]:
    """Any cells, some thousands at a time."""
    if isinstance(cells, Cells):
        yield from cells.blocks()
    elif len(cells):
        yield cells


def _taken(cells: Sequence[object], rows: npt.NDArray[np.int64]) -> Sequence[object]:
    return cells.take(rows) if isinstance(cells, Cells) else [cells[row] for row in rows.tolist()]


def packed(cells: list[object]) -> Block:
    """An Arrow array where all cells are strings or nothing, else the cells themselves."""
    if all(cell is None or type(cell) is str for cell in cells):
        try:
            return string_array(cast("list[str | None]", cells))
        except UnicodeEncodeError:  # half of a surrogate pair: whoever uses the column says so, with the line
            pass
    return cells


def _nothing(rows: int) -> Block:
    """Empty cells, which take no memory."""
    import pyarrow

    return pyarrow.nulls(rows)


def _holds_text(kind: pyarrow.DataType) -> bool:
    import pyarrow

    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind) or pyarrow.types.is_string_view(kind)
    )


def _is_valid(block: Block) -> bool:
    import pyarrow

    try:
        block.validate(full=True)
    except pyarrow.ArrowException:
        return False
    return True


def _is_readable(cell: Any) -> bool:
    try:
        cell.as_py()
    except Exception:  # as above
        return False
    return True


def _chunks(array: Any) -> list[Any]:
    return getattr(array, "chunks", None) or [array] if len(array) else []
