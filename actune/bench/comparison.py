"""Two methods beside each other on the same seeds: who is ahead at the end, on average, by how many labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from actune.bench.bootstrap import bounds, resampled
from actune.bench.evidence import Curves, Evidence, Key
from actune.bench.statistics import Estimate, jackknife, label_saving, labels_needed, paired_test


def matched(*many: Curves) -> list[Curves] | None:
    """The same curves at the seeds and labels that all of them have; None where there are none."""
    seeds = sorted(set.intersection(*(set(curves.seeds) for curves in many)))
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
    labels: int
    needed: float  # infinite: not reached
    longest: int  # where the other's curve ends

    @property
    def reached(self) -> bool:
        return math.isfinite(self.needed)

    @property
    def least(self) -> float:
        """The share, or what it is at least where the other's curve ends too early."""
        return self.share.mean if self.reached else label_saving(self.longest, self.labels)


def saving(a: Curves, b: Curves) -> Saving | None:
    """Labels that `b` needs for what `a` has at its end; the interval by leaving out one seed at a time."""
    seeds = sorted({*a.seeds} & {*b.seeds})
    if not seeds:
        return None
    labels = a.labels[-1]

    def needed(chosen: Sequence[int]) -> float:
        target = float(a.of(chosen).mean[-1])
        return labels_needed(b.labels, b.of(chosen).mean.tolist(), target)

    share = jackknife(lambda chosen: _finite_saving(needed(chosen), labels), seeds)
    return Saving(share, labels, needed(seeds), b.labels[-1])


def matching(a: Curves, b: Curves) -> tuple[float, Estimate] | None:
    """The labels at which `a` has what `b` has at its end, by the mean curves, and the share that this saves."""
    seeds = sorted({*a.seeds} & {*b.seeds})
    if not seeds:
        return None

    def needed(chosen: Sequence[int]) -> float:
        return labels_needed(a.labels, a.of(chosen).mean.tolist(), float(b.of(chosen).mean[-1]))

    return needed(seeds), jackknife(lambda chosen: 1 - needed(chosen) / b.labels[-1], seeds)


def best(candidates: dict[str, Curves], labels: int) -> str | None:
    """The method with the highest mean accuracy at a count of labels, of those that got there."""
    means = {
        method: each.mean[each.labels.index(labels)] for method, each in candidates.items() if labels in each.labels
    }
    return max(means, key=lambda method: float(means[method]), default=None)


def bootstrapped(evidence: Evidence, keys: Sequence[Key], labels: int) -> np.ndarray | None:
    """Accuracies of these methods in draws of seeds and test texts, (draws, methods); None without predictions."""
    at = {(key, seed) for key, seed, count in evidence.rounds if count == labels}
    seeds = [seed for seed in evidence.seeds(keys[0].scene) if all((key, seed) in at for key in keys)]
    right = [[_right(evidence, *evidence.rounds[key, seed, labels]) for seed in seeds] for key in keys]
    if not seeds or any(each is None for row in right for each in row):
        return None
    if len({len(each) for row in right for each in row if each is not None}) > 1:
        return None  # splits that differ: their texts cannot be drawn together
    return resampled(np.array(right))


def bootstrapped_gap(evidence: Evidence, a: Key, b: Key, labels: int) -> tuple[float, float] | None:
    """The interval of `a` - `b` when seeds and test texts are drawn anew."""
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
