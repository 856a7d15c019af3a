"""Two methods beside each other on the same seeds: who is ahead at the end, on average, by how many labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from actune.bench.bootstrap import bounds, resampled
from actune.bench.evidence import Curves, Evidence, Key
from actune.bench.statistics import Estimate, jackknife, label_saving, labels_needed, paired_test
from actune.bench.wording import seeds_named


def shared(*many: Curves) -> list[int]:
    """The seeds that all of these have finished."""
    return sorted(set.intersection(*(set(curves.seeds) for curves in many)))


def lacking(lines: Mapping[str, Curves]) -> dict[str, list[int]]:
    """By name, the seeds that a line has not finished: those that another has, and those that it has begun."""
    finished = {seed for curves in lines.values() for seed in curves.seeds}
    found = {name: sorted((finished | {*curves.unfinished}) - {*curves.seeds}) for name, curves in lines.items()}
    return {name: seeds for name, seeds in found.items() if seeds}


def unequal_told(lines: Mapping[str, Curves]) -> str:
    """`cal, badge without seed 2; bald without seeds 1, 2`, or nothing where all lines have the same seeds."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, seeds in lacking(lines).items():
        groups.setdefault(tuple(seeds), []).append(name)
    return "; ".join(f"{', '.join(names)} without {seeds_named(seeds)}" for seeds, names in groups.items())


def matched(*many: Curves) -> list[Curves] | None:
    """The same curves at the seeds and labels that all of them have; None where there are none."""
    seeds = shared(*many)
    labels = sorted(set.intersection(*(set(curves.labels) for curves in many)))
    if not seeds or not labels:
        return None
    return [_cut(curves.of(seeds), labels) for curves in many]


def last_gap(a: Curves, b: Curves) -> Estimate | None:
    """How far `a` is ahead of `b` at the last count of labels that both have."""
    pair = matched(a, b)
    return paired_test(*(curves.values[:, -1].tolist() for curves in pair)) if pair else None


def mean_gap(a: Curves, b: Curves) -> Estimate | None:
    """How far `a` is ahead of `b` on average over their labels."""
    pair = matched(a, b)
    return paired_test(*(list(curves.areas().values()) for curves in pair)) if pair else None


@dataclass(frozen=True)
class Saving:
    """What a method saves that has at `labels` what another one needs more or fewer for, by the mean curves."""

    share: Estimate  # its mean is 1 - labels / needed, and meaningless where the other never got there
    least: Estimate  # the same if every curve got there where it ends: what is saved at least
    labels: int
    needed: float  # infinite: not reached
    longest: int  # where the other's curve ends

    @property
    def reached(self) -> bool:
        return math.isfinite(self.needed)


def saving(a: Curves, b: Curves) -> Saving | None:
    """Labels that `b` needs for what `a` has at its end; the interval by leaving out one seed at a time."""
    seeds = shared(a, b)
    if not seeds:
        return None
    labels, longest = a.labels[-1], b.labels[-1]

    def needed(chosen: Sequence[int]) -> float:
        target = float(a.of(chosen).mean[-1])
        return labels_needed(b.labels, b.of(chosen).mean.tolist(), target)

    share = jackknife(lambda chosen: _finite_saving(needed(chosen), labels), seeds)
    least = jackknife(lambda chosen: label_saving(min(needed(chosen), longest), labels), seeds)
    return Saving(share, least, labels, needed(seeds), longest)


def matching(a: Curves, b: Curves) -> tuple[float, Estimate] | None:
    """The labels at which `a` has what `b` has at its end, by the mean curves, and the share that this saves."""
    seeds = shared(a, b)
    if not seeds:
        return None

    def needed(chosen: Sequence[int]) -> float:
        return labels_needed(a.labels, a.of(chosen).mean.tolist(), float(b.of(chosen).mean[-1]))

    return needed(seeds), jackknife(lambda chosen: 1 - needed(chosen) / b.labels[-1], seeds)


def best(ours: Curves, candidates: Mapping[str, Curves]) -> str | None:
    """Who is furthest ahead of `ours` at its last labels, or least behind, of those that got there.

    Each is compared under the seeds that it shares with `ours`: a higher mean over other seeds may be their luck.
    """
    gaps = {method: last_gap(each, ours) for method, each in candidates.items() if ours.labels[-1] in each.labels}
    ahead = {method: gap.mean for method, gap in gaps.items() if gap is not None}
    return max(ahead, key=lambda method: ahead[method], default=None)


def bootstrapped(evidence: Evidence, keys: Sequence[Key], labels: int) -> np.ndarray | None:
    """Accuracies of these methods in draws of their common seeds and of test texts, (draws, methods).

    None without predictions.
    """
    seeds = shared(*(evidence.accuracy[key] for key in keys))
    if not seeds or any(labels not in evidence.accuracy[key].labels for key in keys):
        return None
    right = [[_right(evidence, *evidence.rounds[key, seed, labels]) for seed in seeds] for key in keys]
    if any(each is None for row in right for each in row):
        return None
    if len({len(each) for row in right for each in row if each is not None}) > 1:
        return None  # splits that differ: their texts cannot be drawn together
    return resampled(np.array(right))


def bootstrapped_gap(evidence: Evidence, a: Key, b: Key, labels: int) -> tuple[float, float] | None:
    """The bootstrap interval of `a` - `b` over seeds and test texts."""
    draws = bootstrapped(evidence, [a, b], labels)
    return None if draws is None else bounds(draws[:, 0] - draws[:, 1])


def _right(evidence: Evidence, cell: str, round: int) -> np.ndarray | None:
    said, truth = evidence.results.predictions(cell), evidence.results.truth(cell)
    if said is None or truth is None or round >= len(said):
        return None
    return np.asarray(said[round] == truth)


def _finite_saving(needed: float, labels: int) -> float:
    """Not reached is no saving of everything: it is no number."""
    return label_saving(needed, labels) if math.isfinite(needed) else math.inf


def _cut(curves: Curves, labels: Sequence[int]) -> Curves:
    places = [curves.labels.index(count) for count in labels]
    return replace(curves, labels=tuple(labels), values=curves.values[:, places])
