"""What a figure of the paper lacks: all of it, or some of its tasks and methods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from actune.bench.evidence import Evidence, Scene
from actune.bench.paper import subjects


@dataclass(frozen=True)
class Missing:
    """A figure or table that no cell speaks for, and the grid that would fill it."""

    name: str
    title: str
    needs: str
    grid: str


def missing_told(evidence: Evidence, tasks: list[str], scenes: Iterable[Scene], methods: tuple[str, ...]) -> str:
    """What a figure should have had, as the end of its caption."""
    phrases = [f"no runs on {', '.join(tasks)}"] if tasks else []
    phrases += [phrase for scene in scenes for phrase in subjects.absent(evidence, scene, methods)]
    return f" Missing: {'; '.join(phrases)}." if phrases else ""
