"""A measured number: an estimate over tasks, a phrase for each part of it, and what it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from actune.bench.evidence import Curves, Scene
from actune.bench.statistics import FEWEST_SEEDS, Estimate, over_tasks
from actune.bench.wording import gap_told, seeds_counted


@dataclass(frozen=True)
class Measured:
    """An estimate, a phrase for each of its parts, and what it lacks."""

    found: Estimate | None
    parts: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    wanted: int = 0  # tasks that the claim is about; 0: whichever was tried
    missing: tuple[str, ...] = ()
    least: bool = False  # the truth is at least so large: some curves end too early to say


Part = tuple[Scene, Estimate, str]  # a scene, its number, and that number in words


def over_parts(parts: Sequence[Part], missing: Sequence[str], wanted: int = 0) -> Measured:
    """The mean over the parts, with what it lacks; `wanted` is the number of tasks that the claim is about."""
    found = over_tasks([number for _, number, _ in parts]) if parts else None
    tasks = tuple(dict.fromkeys(scene.shown for scene, _, _ in parts))
    return Measured(found, phrases(parts), tasks, wanted, tuple(missing))


def phrases(parts: Sequence[Part]) -> tuple[str, ...]:
    """The parts in words, each with its scene."""
    return tuple(f"{scene.shown}: {words}" for scene, _, words in parts)


def points_told(gap: Estimate) -> str:
    """`+0.5 [−0.1, 1.2] points over 3 seeds`."""
    return f"{gap_told(gap)} points over {seeds_counted(gap.runs)}"


def sound(gap: Estimate | None) -> Estimate | None:
    """A difference if enough seeds have both of its sides."""
    return gap if gap and gap.runs >= FEWEST_SEEDS else None


def first_half(curves: Curves) -> Curves:
    """The first half of its labels."""
    return curves.within(curves.labels[0], (curves.labels[0] + curves.labels[-1]) / 2)


def second_half(curves: Curves) -> Curves:
    """The second half of its labels."""
    return curves.within((curves.labels[0] + curves.labels[-1]) / 2, curves.labels[-1])
