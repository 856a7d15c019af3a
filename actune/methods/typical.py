"""TypiClust (Hacohen et al. 2022): typical rows of regions that no label covers, for a start with few or no labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from actune.core.ranking import finite
from actune.methods.features import Features

if TYPE_CHECKING:
    import torch

    from actune.core.view import View

MOST_REGIONS = 500
SMALL = 5  # rows: smaller regions are no types, and come last
NEAREST = 20  # rows of its region that a typical row is close to


@dataclass(frozen=True)
class Typical:
    """The most typical row of each region without a label, large regions first."""

    features: Features

    def __call__(self, view: View, n: int) -> torch.Tensor:
        import torch

        from actune.core.kmeans import kmeans

        rows = torch.cat([view.labelled, view.candidates]).sort().values
        n = min(n, len(view.candidates))
        if n == 0:
            return view.candidates[:0]
        points = torch.nn.functional.normalize(finite(self.features(view), rows, "embedding"))
        k = min(len(view.labelled) + n, MOST_REGIONS, len(rows))
        # equal texts make fewer regions, which are then visited more than once
        labels = kmeans(points, k=k, rng=view.rng("typical"), restarts=1, warn=False).labels.cpu()
        labelled = torch.isin(rows, view.labelled)
        ranked = []
        for region in _by_need(labels, labelled):
            members = (labels == region).nonzero().flatten()
            free = members[~labelled[members]]
            ranked.append(free[_by_typicality(points, members, free)])
        return rows[_in_turn(ranked, n)]


def _by_need(labels: torch.Tensor, labelled: torch.Tensor) -> list[int]:
    """Regions without a label first, large before smaller, ties by number; after all of them the small ones."""
    import torch

    sizes = labels.bincount()
    covered = labels[labelled].bincount(minlength=len(sizes))
    return sorted(
        torch.arange(len(sizes)).tolist(), key=lambda r: (bool(sizes[r] < SMALL), int(covered[r]), -int(sizes[r]), r)
    )


def _by_typicality(points: torch.Tensor, members: torch.Tensor, free: torch.Tensor) -> torch.Tensor:
    """The order of the free members by rising mean distance to the nearest rows of their region."""
    import torch

    from actune.core.neighbors import ENTRIES

    own, region = points[free.to(points.device)], points[members.to(points.device)]
    count = min(NEAREST + 1, len(members))
    # a row is at distance 0 from itself, which lowers all means by the same share
    means = [
        torch.cdist(block, region).topk(count, largest=False).values.mean(1)
        for block in torch.split(own, max(1, ENTRIES // len(members)))
    ]
    return torch.cat(means).sort(stable=True).indices.cpu()


def _in_turn(ranked: list[torch.Tensor], n: int) -> list[int]:
    """The first of each, then the second of each, until there are n."""
    chosen: list[int] = []
    place = 0
    while len(chosen) < n:
        chosen += [int(rows[place]) for rows in ranked if place < len(rows)]
        place += 1
    return chosen[:n]
