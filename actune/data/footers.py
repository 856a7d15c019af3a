"""What a Parquet file says about itself at its end, read before Arrow sees it.

Arrow ends the process, and not only the call, where some of these facts are wrong or nested too deeply.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from actune.data.limits import DEEPEST
from actune.errors import DataError

MAGIC = b"PAR1"
LARGEST = 2**24  # bytes of a footer; thousands of columns and row groups need one megabyte
NESTED = 20  # structures inside of each other; Parquet needs six
LISTED = 8  # bytes of a value in a list, beside its own
REPEATED = 2  # the repetition of a column of lists
# what is read, by the numbers that the format gives to its fields
SCHEMA, GROUPS, CHUNKS, FACTS, VALUES, SIZE, REPETITION, CHILDREN = 2, 4, 1, 3, 5, 6, 3, 5
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


def claimed_size(path: Path, handle: BinaryIO) -> int:
    """The bytes that a file says it becomes, where a text that is repeated may count once."""
    facts = _footer(path, handle)
    if facts is None:
        return 0
    try:
        widths = _widths(facts.get(SCHEMA, []))
        claimed = 0
        for group in facts.get(GROUPS, []):
            for width, chunk in zip(widths, group.get(CHUNKS, []), strict=False):
                found = chunk.get(FACTS, {})
                claimed += max(0, found.get(SIZE, 0), width * found.get(VALUES, 0))
    except (AttributeError, TypeError):  # something else stands where these should be
        raise DataError(f"cannot read {path} as Parquet (its footer is damaged): write the file again") from None
    return claimed


def _footer(path: Path, handle: BinaryIO) -> dict[int, Any] | None:
    """The fields of the footer; None where this is not Parquet, which Arrow says best."""
    size = handle.seek(0, 2)
    handle.seek(max(0, size - 8))
    tail = handle.read(8)
    length = int.from_bytes(tail[:4], "little")
    if len(tail) < 8 or tail[4:] != MAGIC or length > size - 8:
        return None
    if length > LARGEST:
        raise DataError(f"cannot read {path} as Parquet (its footer has {length:,} bytes): write the file again")
    handle.seek(size - 8 - length)
    try:
        return Compact(handle.read(length)).struct()
    except (IndexError, ValueError):
        raise DataError(f"cannot read {path} as Parquet (its footer is damaged): write the file again") from None


def _widths(schema: list[dict[int, Any]]) -> list[int]:
    """The fewest bytes that a value of each column takes; columns of lists have more."""
    open_levels: list[tuple[int, bool]] = []  # the children that are still to come, and whether they are in a list
    widths: list[int] = []
    for element in schema:
        while open_levels and not open_levels[-1][0]:
            open_levels.pop()
        in_list = element.get(REPETITION) == REPEATED
        if open_levels:
            left, outer = open_levels[-1]
            open_levels[-1] = left - 1, outer
            in_list = in_list or outer
        if children := element.get(CHILDREN, 0):
            open_levels.append((children, in_list))
            if len(open_levels) > DEEPEST:
                raise DataError(f"a Parquet file has more than {DEEPEST} types inside of each other: flatten them")
        else:
            widths.append(LISTED if in_list else 1)
    return widths


@dataclass
class Compact:
    """Reads Thrift's compact protocol, in which footers are written; an IndexError is a footer that ends too early."""

    data: bytes
    place: int = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The values of a structure by the numbers of its fields."""
        if depth > NESTED:
            raise ValueError("too deep")
        fields: dict[int, Any] = {}
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self._number()
            fields[number] = self._value(header & 15, depth)
        return fields

    def _value(self, kind: int, depth: int, in_list: bool = False) -> Any:
        if kind in (TRUE, FALSE):
            return self._byte() == TRUE if in_list else kind == TRUE
        if kind in (BYTE, DOUBLE):
            return self._bytes(1 if kind == BYTE else 8)
        if kind == BINARY:
            return self._bytes(self._unsigned())
        if kind in (LIST, SET):
            header = self._byte()
            count = self._unsigned() if header >> 4 == 15 else header >> 4
            return [self._value(header & 15, depth + 1, in_list=True) for _ in range(count)]
        if kind == MAP:
            count = self._unsigned()
            kinds = self._byte() if count else 0
            return [
                (self._value(kinds >> 4, depth + 1, in_list=True), self._value(kinds & 15, depth + 1, in_list=True))
                for _ in range(count)
            ]
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in (4, 5, 6):
            return self._number()
        raise ValueError(f"there is no type {kind}")

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _bytes(self, count: int) -> bytes:
        self.place += count
        if self.place > len(self.data):
            raise IndexError
        return self.data[self.place - count : self.place]

    def _unsigned(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return found
            if shift > 70:
                raise ValueError("a number of too many bytes")

    def _number(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)
