"""The nearest reference points of each query point, in blocks of bounded memory."""

from __future__ import annotations

import torch

ENTRIES = 2**24  # distances kept at a time


def nearest_points(queries: torch.Tensor, references: torch.Tensor, k: int) -> torch.Tensor:
    """Indices (queries, k) of the nearest references, nearest first, equal distances by the smaller index."""
    k = min(k, len(references))
    norms = references.square().sum(1)  # |q|^2 is the same for all references and left out
    size = max(1, ENTRIES // max(1, len(references)))
    return torch.cat([_smallest(norms - 2 * block @ references.T, k) for block in torch.split(queries, size)])


def _smallest(distances: torch.Tensor, k: int) -> torch.Tensor:
    """Columns of the k smallest entries of each row; topk alone promises no order among equal ones."""
    limit = distances.topk(k, largest=False).values[:, -1:]
    below, equal = distances < limit, distances == limit
    room = k - below.sum(1, keepdim=True)
    chosen = below | (equal & (equal.cumsum(1) <= room))
    columns = chosen.nonzero()[:, 1].reshape(-1, k)  # ascending in each row
    order = distances.gather(1, columns).sort(stable=True, dim=1).indices
    return columns.gather(1, order)


def nearest_others(points: torch.Tensor, k: int) -> torch.Tensor:
    """Indices (points, k) of the nearest other points: a point is left out by its number, so that copies of it stay."""
    k = min(k, len(points) - 1)
    if k <= 0:
        return torch.empty((len(points), 0), dtype=torch.int64, device=points.device)
    found = nearest_points(points, points, k + 1)
    own = torch.arange(len(points), device=points.device)[:, None] == found
    own[:, -1] |= ~own.any(1)  # many copies: the point itself was not among them, so the farthest goes
    return found[~own].reshape(len(points), k)
