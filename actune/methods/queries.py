"""Which rows to ask about next: frozen values, called with a view and a number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from actune.core.ranking import finite, least_sure_first
from actune.methods.features import Factors, Features
from actune.methods.uncertainty import Score

if TYPE_CHECKING:
    import torch

    from actune.core.view import View


class Query(Protocol):
    """min(n, candidates) distinct candidates in the order of asking, int64 on the CPU."""

    def __call__(self, view: View, n: int, /) -> torch.Tensor: ...


@dataclass(frozen=True)
class Random:
    """Any rows. Asks nothing of the model, so the pool need not be read."""

    def __call__(self, view: View, n: int) -> torch.Tensor:
        order = view.rng("random").permutation(len(view.candidates))
        return view.candidates[order[:n]]


@dataclass(frozen=True)
class Top:
    """The rows of the highest score."""

    score: Score

    def __call__(self, view: View, n: int) -> torch.Tensor:
        return least_sure_first(self.score(view), view.candidates)[:n]


@dataclass(frozen=True)
class Spread:
    """Rows far from each other and from zero: a k-means++ draw over outer products, which are never built (BADGE)."""

    factors: Factors

    def __call__(self, view: View, n: int) -> torch.Tensor:
        import torch

        from actune.core.kmeans import draw_index

        if min(n, len(view.candidates)) == 0:
            return view.candidates[:0]
        left, right = (finite(factor, view.candidates, "embedding") for factor in self.factors(view))
        length = left.square().sum(1) * right.square().sum(1)  # squared
        rng, chosen = view.rng("spread"), [int(length.argmax())]
        distance, free = torch.full_like(length, float("inf")), torch.ones_like(length)
        while len(chosen) < min(n, len(view.candidates)):
            newest = chosen[-1]
            both = length + length[newest]
            apart = both - 2 * (left @ left[newest]) * (right @ right[newest])
            noise = 16 * torch.finfo(both.dtype).eps * both  # what rounding leaves between two equal rows
            distance = torch.minimum(distance, apart.where(apart > noise, 0))
            distance[newest] = free[newest] = 0
            chosen.append(draw_index(distance if distance.any() else free, rng))
        return view.candidates[chosen]


@dataclass(frozen=True)
class Distinct:
    """The least sure row of each of n groups among the `factor` n least sure, so that no two are alike.

    After Zhdanov 2019, whose groups give their central rows.
    """

    score: Score
    features: Features
    factor: int = 10

    def __call__(self, view: View, n: int) -> torch.Tensor:
        from actune.core.kmeans import kmeans

        unsure = least_sure_first(self.score(view), view.candidates)[: self.factor * n]
        if len(unsure) <= n:
            return unsure
        points = finite(self.features(view), unsure, "embedding")
        groups = kmeans(points, k=n, rng=view.rng("distinct"), restarts=1, warn=False).labels.tolist()
        firsts = {group: place for place, group in reversed(list(enumerate(groups)))}.values()
        others = sorted(set(range(len(unsure))) - set(firsts))  # where equal points left fewer than n groups
        return unsure[sorted([*firsts, *others[: n - len(firsts)]])]


@dataclass(frozen=True)
class Representatives:
    """The row nearest to each of n centres, largest region first; needs no labels, so it can open a project."""

    features: Features

    def __call__(self, view: View, n: int) -> torch.Tensor:
        from actune.core.kmeans import kmeans

        n = min(n, len(view.candidates))
        if n == 0:
            return view.candidates[:0]
        points = finite(self.features(view), view.candidates, "embedding")
        partition = kmeans(points, k=n, rng=view.rng("representatives"), restarts=1, warn=False)
        sizes = partition.labels.bincount()
        order = (-sizes).sort(stable=True).indices
        return view.candidates[_nearest_unused(points, partition.centres[order], n)]


def _nearest_unused(points: torch.Tensor, centres: torch.Tensor, n: int) -> list[int]:
    """One point for each centre in turn, and around again where equal points left fewer than n centres."""
    from actune.core.kmeans import squared_distances

    free = points.new_zeros(len(points))
    chosen: list[int] = []
    while len(chosen) < n:
        distances = squared_distances(points, centres[len(chosen) % len(centres)]) + free
        chosen.append(int(distances.argmin()))
        free[chosen[-1]] = float("inf")
    return chosen
