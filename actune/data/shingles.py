"""Texts as sets of shingles: numbers that stand for two words side by side, whatever their case and punctuation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np

from actune.core.strings import blocks_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.uint64]
    Rows = npt.NDArray[np.int64]

# Chinese and Japanese are written without spaces, so each of their letters is a word
LETTERS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
WORDS = re.compile(f"[{LETTERS}]|[^\\W{LETTERS}]+")
MOST_WORDS = 2**18  # whose numbers are kept
MIXERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # odd numbers without a pattern


@dataclass(frozen=True)
class Sets:
    """Sets of numbers behind one another, each sorted; `starts` has the place of each, and the end of the last."""

    numbers: Numbers
    starts: Rows

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> Rows:
        return np.diff(self.starts)

    def only(self, rows: Rows) -> Sets:
        """These sets, in this order."""
        sizes = self.sizes[rows]
        return Sets(self.numbers[places_in(self.starts[rows], sizes)], starts_of(sizes))


def shingles(texts: Sequence[str]) -> Sets:
    """The set of each text; one that has a single word is that word, and one without words is its letters."""
    numbers: list[Numbers] = []
    sizes: list[Rows] = []
    known: dict[str, int] = {}
    for block in blocks_of(texts):
        found, counts = _of_block(block, known)
        numbers.append(found)
        sizes.append(counts)
        if len(known) > MOST_WORDS:
            known.clear()
    return Sets(np.concatenate([np.empty(0, np.uint64), *numbers]), starts_of(np.concatenate([_none(), *sizes])))


def mixed(numbers: Numbers) -> Numbers:
    """Other numbers for the same ones, which look random, by the finalizer of splitmix64."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(MIXERS[1])
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(MIXERS[2])
    return numbers ^ (numbers >> np.uint64(31))


def starts_of(sizes: Rows) -> Rows:
    """Where each begins that has this size, and where the last ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def places_in(starts: Rows, sizes: Rows) -> Rows:
    """All places of parts that begin at `starts` and have these sizes."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    places: Rows = np.arange(total) + np.repeat(starts - (ends - sizes), sizes)
    return places


def _of_block(texts: Sequence[str], known: dict[str, int]) -> tuple[Numbers, Rows]:
    flat: list[int] = []
    sizes = np.empty(len(texts), np.int64)
    for row, text in enumerate(texts):
        words = WORDS.findall(text.lower() if text.isascii() else normalize("NFKC", text).casefold())
        before = len(flat)
        for word in words or (text.strip(),):
            number = known.get(word)
            if number is None:
                number = known[word] = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
            flat.append(number)
        sizes[row] = len(flat) - before
    return _pairs(np.array(flat, np.uint64), sizes)


def _pairs(words: Numbers, sizes: Rows) -> tuple[Numbers, Rows]:
    """The numbers of neighbouring words, each once and sorted, by text."""
    row = np.repeat(np.arange(len(sizes)), sizes)
    second = np.roll(words, -1)
    is_last = np.zeros(len(words), bool)
    is_last[np.cumsum(sizes) - 1] = True
    pairs = mixed(words * np.uint64(MIXERS[0]) + np.where(is_last, np.uint64(0), second))
    kept = ~is_last | np.repeat(sizes == 1, sizes)
    row, pairs = row[kept], pairs[kept]
    order = np.lexsort((pairs, row))
    row, pairs = row[order], pairs[order]
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (pairs[1:] != pairs[:-1])
    return pairs[first], np.bincount(row[first], minlength=len(sizes))


def _none() -> Rows:
    return np.empty(0, np.int64)
