"""What a file may become in memory: small files can be made to grow beyond any machine, so growth is counted."""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from actune.errors import DataError, SettingError

VARIABLE = "ACTUNE_MAX_SIZE"
ALWAYS = 2**28  # bytes that every compressed file may become
RATIO = 100  # how many times larger a file may become beyond that; ordinary data reaches 5 to 30
MOST = 2**32  # bytes that no compressed file may exceed
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}

LONGEST = 2**26  # characters of a line or a cell
MOST_COLUMNS = 10_000
MOST_CELLS = 2**21  # cells that are Python objects at the same time
EMPTY_CELLS = 10**8  # beyond that, a table must not be nearly empty
EMPTY_SHARE = 20  # empty cells for each that holds something
DEEPEST = 100  # lists and objects inside of each other


class Growth:
    """Counts the bytes that a compressed file becomes, and refuses more than it may."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = path.stat().st_size
        self.most = _given() or max(ALWAYS, min(RATIO * self.size, MOST))
        self.grown = 0

    def add(self, count: int) -> None:
        """So many more bytes."""
        self.grown += count
        if self.grown > self.most:
            raise DataError(
                f"{self.path} has {self.size:,} bytes and becomes more than {self.most:,} when it is read: if you "
                f"trust the file, set the environment variable {VARIABLE} to a larger size, such as "
                f"{max(10, 2 * self.most // 10**9)}GB"
            )


class Grown(io.RawIOBase):
    """A stream of uncompressed bytes that are counted."""

    def __init__(self, stream: BinaryIO, growth: Growth) -> None:
        self._stream = stream
        self._growth = growth

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        found = self._stream.read(len(buffer))
        self._growth.add(len(found))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._stream.close()
        super().close()


class Filling:
    """Counts the cells of a table and those that hold something: a few bytes can claim a million empty cells."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.cells = self.filled = 0

    def add(self, cells: int, filled: int) -> None:
        """So many more cells, of which so many hold something."""
        self.cells += cells
        self.filled += filled
        if self.cells > EMPTY_CELLS and self.cells > EMPTY_SHARE * self.filled:
            raise DataError(
                f"{self.source} has {self.cells:,} cells, of which only {self.filled:,} are filled: keep only the "
                "columns that you need"
            )


def check_names(names: Iterable[str], source: str) -> list[str]:
    """The names of columns, of which no two are the same and there are not too many."""
    found = list(names)
    if len(found) > MOST_COLUMNS:
        raise DataError(
            f"{source} has {len(found):,} columns, and {MOST_COLUMNS:,} can be read: keep only those that you need"
        )
    name, times = next(iter(Counter(found).most_common(1)), ("", 0))
    if times > 1:
        raise DataError(f"{source} has more than one column {name!r}: rename one of them")
    return found


def is_deep(value: object) -> bool:
    """Whether lists and objects are nested so deeply that other code would give up on them."""
    level = [value]
    for _ in range(DEEPEST):
        inner = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, (dict, list)))
        level = [each for part in inner for each in part if isinstance(each, (dict, list))]
        if not level:
            return False
    return True


def _given() -> int:
    """The size in the environment, 0 where there is none."""
    word = os.environ.get(VARIABLE, "").strip().lower()
    if not word:
        return 0
    found = re.fullmatch(r"(\d{1,15})\s*([kmgt]?)b?", word)
    if not found or not int(found[1]):
        raise SettingError(f"{VARIABLE} must be a size such as 500MB or 10GB, not {word!r}")
    return int(found[1]) * UNITS[found[2]]
