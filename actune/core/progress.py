"""How long work tells where it is: a function that anyone may pass."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with the stage's name, the units done and the units in all."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


def silent(stage: str, done: int, total: int) -> None:
    """The progress of a library: none."""
