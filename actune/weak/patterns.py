"""Regular expressions of others, searched under a time limit: some need longer than anybody can wait.

A pattern is written in the syntax of Python's `re`. The package `regex`, which transformers brings along, searches with
it, because it can stop after a time. The two differ in one point that matters: in `regex` a combining mark belongs to
its word, so that `\\w` and `\\b` suit Hindi and Thai.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

SECONDS, SECONDS_PER_TEXT = 5.0, 0.002  # that one pattern may take on all texts together
TOGETHER = 60.0  # seconds that all patterns of a file may take beyond those for each text
LONGEST = 100_000  # letters of a pattern
LONGEST_BRANCH = 600  # letters between two |: `regex` prepares the search for a word in cubic time, without its limit
LARGEST = 1_000_000  # letters after `regex` has written its repetitions out: a{3} becomes aaa

_TOKENS = re.compile(
    r"\\N\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^]\\])*\]|\{(?P<count>\d+)(?:,\d*)?\}|\{,\d*\}|(?P<plain>\{)|.", re.DOTALL
)


class BadPattern(Exception):
    """Why this is no pattern."""


class TooSlow(Exception):
    """The time was over at this text."""

    def __init__(self, row: int, seconds: float) -> None:
        super().__init__()
        self.row = row
        self.seconds = seconds


@dataclass
class Spent:
    """What the patterns of one file have taken so far, beyond what each text may take: many slow ones are slow too."""

    seconds: float = 0.0


def matcher(pattern: str, case: bool = False, spent: Spent | None = None) -> Callable[[Sequence[str]], list[bool]]:
    """A function that says of each text whether the pattern occurs in it, or TooSlow."""
    compiled, clock = _compiled(pattern, case), spent or Spent()

    def matches(texts: Sequence[str]) -> list[bool]:
        usual = SECONDS_PER_TEXT * len(texts)
        seconds = usual + max(min(SECONDS, TOGETHER - clock.seconds), 0)
        began = time.monotonic()
        found = []
        for row, text in enumerate(texts):
            try:
                found.append(bool(compiled.search(text, timeout=max(began + seconds - time.monotonic(), 0.001))))
            except TimeoutError:
                raise TooSlow(row, seconds) from None
        clock.seconds += max(time.monotonic() - began - usual, 0)
        return found

    return matches


def _compiled(pattern: str, case: bool) -> Any:
    import regex  # type: ignore[import-untyped]

    size, path = _sizes(pattern[: LONGEST + 1])
    if len(pattern) > LONGEST or size > LARGEST or path > LONGEST_BRANCH:
        raise BadPattern("it is too long, or repeats too often")
    # in `re` a brace that is no repetition means itself, and in `regex` a fuzzy match may begin with it
    words = _TOKENS.sub(lambda found: r"\{" if found["plain"] else found[0], pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern, 0 if case else re.IGNORECASE)  # what `regex` alone takes is not promised to anybody
            return regex.compile(words, regex.V0 | (0 if case else regex.IGNORECASE))
    except (re.error, regex.error, RecursionError, OverflowError, MemoryError, ValueError) as error:
        raise BadPattern(str(error)) from None


def _sizes(pattern: str) -> tuple[int, int]:
    """How many letters there are once repetitions are written out, and how many one match has without them, about."""
    groups, last = [_Group()], 0
    for token in _TOKENS.finditer(pattern):
        group = groups[-1]
        if token[0] == "(":
            groups.append(_Group())
        elif token[0] == ")" and len(groups) > 1:
            inner = groups.pop()
            last = inner.size
            groups[-1].add(last, max(inner.path, inner.longest))
        elif token[0] == "|":
            group.path, group.longest = 0, max(group.path, group.longest)
        elif count := token["count"]:
            times = int(count[:9])
            group.size += last * max(times - 1, 0)
            last *= max(times, 1)
        else:
            last = 1
            group.add(1, 1)
    return max(group.size for group in groups), max(max(group.path, group.longest) for group in groups)


@dataclass
class _Group:
    size: int = 0
    path: int = 0  # letters of this branch so far
    longest: int = 0  # letters of the longest branch before it

    def add(self, size: int, path: int) -> None:
        self.size += size
        self.path += path
