"""How long work tells where it is: a function that anyone may pass."""

from __future__ import annotations

import re
from typing import Protocol


class Progress(Protocol):
    """Called with the stage's name, the units done and the units in all. One of several fits is called `train 2/3`."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


def silent(stage: str, done: int, total: int) -> None:
    """The progress of a library: none."""


def part(progress: Progress, number: int, of: int) -> Progress:
    """The progress of one of several like pieces of work, whose stages tell which it is; of a single one, itself."""
    if of == 1:
        return progress
    return lambda stage, done, total: progress(f"{stage} {number}/{of}", done, total)


def parts_of(stage: str) -> tuple[str, int, int]:
    """The stage, which of several pieces this is, and how many there are: `train 2/3` is train, 2 and 3."""
    found = re.fullmatch(r"(.+) (\d+)/(\d+)", stage)
    return (found[1], int(found[2]), int(found[3])) if found else (stage, 1, 1)
