"""Regions of the embedding space (Eq. 3-9): ask in the hottest, trust in the calmest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actune.core.ranking import finite, least_sure_first
from actune.errors import SettingError
from actune.methods.features import embeddings
from actune.methods.uncertainty import Score, entropy_of

if TYPE_CHECKING:
    import torch

    from actune.core.view import View


@dataclass(frozen=True, eq=False)
class Partitioned:
    """The unlabelled rows of a view in regions, on the CPU; no region is empty."""

    region: torch.Tensor  # (pool,), -1 outside the unlabelled rows
    heat: torch.Tensor  # (regions,)
    order: torch.Tensor  # (regions,), hottest first


@dataclass(frozen=True)
class Regions:
    """Weighted k-means over all unlabelled rows: unsure rows pull the centres, so unsure regions are small."""

    score: Score
    k: int
    beta: float
    weighted: bool = True
    released: bool = False  # as the authors' scripts: mini-batch k-means, and frequencies divided by the largest

    def __post_init__(self) -> None:
        _at_least_one("regions", self.k)

    def __call__(self, view: View) -> Partitioned:
        return view.cached(self, lambda: self._fit(view))

    def _fit(self, view: View) -> Partitioned:
        """Eq. 3-7."""
        import torch

        from actune.core.kmeans import kmeans

        rows = view.unlabelled
        scores = finite(self.score(view), rows, "score")
        points = finite(embeddings(view), rows, "embedding")
        weights = scores if self.weighted else None
        if self.released:
            from actune.core.minibatch import minibatch_kmeans

            labels = minibatch_kmeans(points, weights, self.k)
        else:
            labels = kmeans(points, weights, k=self.k, rng=view.rng("regions")).labels
        predicted = view.log_proba.argmax(1)[rows.to(labels.device)]  # Eq. 2
        hot = heat(scores, predicted, labels, view.log_proba.shape[1], self.beta, by_largest=self.released).cpu()
        region = torch.full((len(view.log_proba),), -1)
        region[rows] = labels.cpu()
        return Partitioned(region, hot, (-hot).sort(stable=True).indices)


def heat(
    scores: torch.Tensor,
    predicted: torch.Tensor,
    labels: torch.Tensor,
    classes: int,
    beta: float,
    by_largest: bool = False,
) -> torch.Tensor:
    """Eq. 5-7. Of each region: its mean score plus beta times the entropy of its predicted classes.

    By the largest class instead of the sum, as the authors' scripts have it, an even region counts as a pure one.
    """
    from actune.core.kmeans import sums

    regions = int(labels.max()) + 1 if len(labels) else 0
    total, sizes = sums(scores.double()[:, None], labels, regions, scores.new_ones(len(scores)).double())
    counts = (labels * classes + predicted).bincount(minlength=regions * classes).reshape(regions, classes)
    shares = counts / (counts.amax(1, keepdim=True) if by_largest else sizes[:, None])
    if by_largest:
        return total[:, 0] / sizes - beta * (shares * shares.log().where(shares > 0, 0)).sum(1)
    return total[:, 0] / sizes + beta * entropy_of(shares.log())


@dataclass(frozen=True)
class Hottest:
    """Eq. 8. The least sure rows of the m hottest regions, an equal share from each."""

    regions: Regions
    m: int

    def __post_init__(self) -> None:
        _at_least_one("regions_used", self.m)

    def __call__(self, view: View, n: int) -> torch.Tensor:
        import torch

        parts = self.regions(view)
        ranked = least_sure_first(self.regions.score(view), view.candidates)
        place = torch.empty_like(parts.order)
        place[parts.order] = torch.arange(len(parts.order))
        placed = place[parts.region[ranked]]  # the place of its region, for each candidate
        sizes = placed.bincount(minlength=len(place)).tolist()
        members = torch.split(ranked[placed.sort(stable=True).indices], sizes)
        taken = shares(sizes, self.m, n)
        return torch.cat([ranked[:0], *(rows[:count] for rows, count in zip(members, taken, strict=True))])


def shares(sizes: Sequence[int], m: int, n: int) -> list[int]:
    """How many of n to take from each region, hottest first: n/m from m of them; a shortage goes to the next.

    The first n mod m take one more. What m regions cannot give comes from the regions below them, and at last from
    what is left in the hottest, so that only an empty pool gives fewer than n.
    """
    m = min(m, len(sizes))
    taken = [0] * len(sizes)
    short = 0
    for place, size in enumerate(sizes):
        want = short + (n // m + (place < n % m) if place < m else 0)
        taken[place] = min(want, size)
        short = want - taken[place]
    for place, size in enumerate(sizes):
        more = min(short, size - taken[place])
        taken[place] += more
        short -= more
    return taken


@dataclass(frozen=True)
class Calmest:
    """Eq. 9. All candidates in the m regions of the lowest heat."""

    regions: Regions
    m: int

    def __post_init__(self) -> None:
        _at_least_one("regions_used", self.m)

    def __call__(self, view: View) -> torch.Tensor:
        parts = self.regions(view)
        calm = parts.order.flip(0)[: self.m]
        return view.candidates[(parts.region[view.candidates, None] == calm).any(1)]


def _at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise SettingError(f"setting {name!r} must be at least 1, not {value}")
