"""Many strings in one Arrow column, so that a million texts are a few buffers and not a million Python objects."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from actune.core.arrow import as_numpy, integer_array, string_array
from actune.core.printing import shortened
from actune.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow

BLOCK = 16_384  # strings that are Python objects at the same time


class Strings(Sequence[str]):
    """An immutable sequence of strings. A slice shares the buffers, and iteration goes through them in blocks."""

    __slots__ = ("column",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, column: pyarrow.ChunkedArray) -> None:  # of large_string, without nulls
        self.column = column

    @staticmethod
    def of(strings: Iterable[str]) -> Strings:
        """Any strings as a column; what is a column already stays the same object."""
        import pyarrow

        if isinstance(strings, Strings):
            return strings
        source = iter(strings)
        blocks: list[pyarrow.Array] = []
        done = 0
        while block := list(islice(source, BLOCK)):
            blocks.append(_array(block, done))
            done += len(block)
        return Strings(pyarrow.chunked_array(blocks, pyarrow.large_string()))

    @staticmethod
    def numbered(count: int, first: int = 0) -> Strings:
        """The numbers from `first` on as strings: the ids of texts that have none."""
        import numpy as np
        import pyarrow

        numbers = integer_array(np.arange(first, first + count))
        return Strings(pyarrow.chunked_array([numbers.cast(pyarrow.large_string())]))

    def __len__(self) -> int:
        return len(self.column)

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Strings: ...
    def __getitem__(self, place: SupportsIndex | slice) -> str | Strings:
        if not isinstance(place, slice):
            return self.column[place].as_py()  # type: ignore[no-any-return]
        start, stop, step = place.indices(len(self))
        if step == 1:
            return Strings(self.column.slice(start, max(0, stop - start)))
        return self.take(range(start, stop, step))

    def __iter__(self) -> Iterator[str]:
        for block in self.blocks():
            yield from block

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Strings):
            return bool(self.column.equals(other.column))
        if isinstance(other, Sequence) and not isinstance(other, str):
            return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))
        return NotImplemented

    def __add__(self, others: Sequence[str]) -> Strings:
        import pyarrow

        chunks = [*self.column.chunks, *Strings.of(others).column.chunks]
        return Strings(pyarrow.chunked_array(chunks, pyarrow.large_string()))

    def __repr__(self) -> str:
        few = ", ".join(repr(shortened(each)) for each in self[:3])
        return f"Strings([{few}{', ...' if len(self) > 3 else ''}], {len(self):,} in all)"

    def blocks(self) -> Iterator[list[str]]:
        """All strings in their order, some thousands at a time."""
        for start in range(0, len(self), BLOCK):
            yield self.column.slice(start, BLOCK).to_pylist()

    def take(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> Strings:
        """The strings at these places, in this order."""
        import numpy as np
        import pyarrow

        # chunk by chunk: Arrow would first put all chunks together, a second copy of every text
        wanted = np.asarray(rows, np.int64)
        order = np.argsort(wanted, kind="stable")
        chunks = self.column.chunks
        starts = np.cumsum([0, *map(len, chunks)])
        bounds = np.searchsorted(wanted[order], starts)
        found = [
            chunk.take(integer_array(wanted[order[low:high]] - start))
            for chunk, start, low, high in zip(chunks, starts, bounds, bounds[1:], strict=False)
            if high > low
        ]
        column = pyarrow.chunked_array(found, pyarrow.large_string())
        if len(column) != len(wanted):
            raise IndexError(f"some rows are outside the {len(self):,} strings")
        if (np.diff(order) < 0).any():
            column = column.take(integer_array(np.argsort(order)))
        return Strings(column)

    def rows_of(self, wanted: Sequence[str]) -> npt.NDArray[np.int64]:
        """Where each of these strings lies, -1 for one that is not here: one pass over all, whatever is wanted."""
        import numpy as np
        import pyarrow.compute

        encoded = Strings.of(wanted).column.combine_chunks().dictionary_encode()
        is_wanted = pyarrow.compute.is_in(self.column, value_set=encoded.dictionary)
        here = as_numpy(pyarrow.compute.indices_nonzero(is_wanted))
        places = as_numpy(pyarrow.compute.index_in(self.column.filter(is_wanted), value_set=encoded.dictionary))
        rows: npt.NDArray[np.int64] = np.full(len(encoded.dictionary), -1, np.int64)
        rows[places[::-1]] = here[::-1]  # of equal strings the first one counts, so it is written last
        return np.asarray(rows[as_numpy(encoded.indices)])

    def in_common(self, other: Strings) -> int:
        """How many different strings are in both."""
        import pyarrow.compute

        few, many = sorted((self.column, other.column), key=len)  # only the few are kept in a table of hashes
        return len(many.filter(pyarrow.compute.is_in(many, value_set=few)).unique())

    def repeated(self) -> tuple[int, int]:
        """How many different strings occur more than once, and how many rows have one of them."""
        import numpy as np

        # by hashes first: a table of a million strings would be as large as the strings
        hashes = np.fromiter(map(hash, self), np.int64, len(self))
        ordered = np.sort(hashes)
        twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        if not len(twice):
            return 0, 0
        places = np.minimum(np.searchsorted(twice, hashes), len(twice) - 1)
        alike = np.flatnonzero(twice[places] == hashes)
        counts = as_numpy(self.take(alike).column.value_counts().field("counts"))
        return int((counts > 1).sum()), int(counts[counts > 1].sum())


class Rows(Mapping[str, int]):
    """Row number by id. An id that is its own row number costs nothing; the first other one sorts the ids."""

    def __init__(self, ids: Strings) -> None:
        self.ids = ids

    def __getitem__(self, id: str) -> int:
        if isinstance(id, str):
            if id.isdecimal() and len(id) < 19 and (row := int(id)) < len(self.ids) and self.ids[row] == id:
                return row
            place = bisect_left(self._order, id, key=self.ids.__getitem__)
            if place < len(self._order) and self.ids[row := int(self._order[place])] == id:
                return row
        raise KeyError(id)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def _order(self) -> Any:
        import pyarrow.compute

        # by bytes of UTF-8, which is also how Python orders strings
        return as_numpy(pyarrow.compute.sort_indices(self.ids.column))


def blocks_of(strings: Sequence[str]) -> Iterator[Sequence[str]]:
    """Any strings, some thousands at a time."""
    if isinstance(strings, Strings):
        yield from strings.blocks()
    else:
        for start in range(0, len(strings), BLOCK):
            yield strings[start : start + BLOCK]


def _array(block: list[str], before: int) -> pyarrow.Array:
    try:
        if all(isinstance(each, str) for each in block):
            return string_array(block)
    except UnicodeEncodeError:  # half of a surrogate pair, which no file and no tokenizer takes
        pass
    place = next(place for place, each in enumerate(block) if not is_text(each))
    raise DataError(
        f"text number {before + place:,} is {block[place]!r}: it must be a string without broken characters"
    )


def is_text(value: object) -> bool:
    """Whether this is a string that can be written as UTF-8: JSON can hold half of a surrogate pair."""
    try:
        return isinstance(value, str) and (value.isascii() or bool(value.encode("utf-8")))
    except UnicodeEncodeError:
        return False
