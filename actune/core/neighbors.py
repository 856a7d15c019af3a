"""The nearest reference points of each query point, in blocks of bounded memory."""

from __future__ import annotations

import torch

ENTRIES = 2**24  # distances kept at a time


def nearest_points(queries: torch.Tensor, references: torch.Tensor, k: int) -> torch.Tensor:
    """Indices (queries, k) of the nearest references, nearest first, equal distances by the smaller index."""
    k = min(k, len(references))
    norms = references.square().sum(1)  # |q|^2 is the same for all references and left out
    size = max(1, ENTRIES // max(1, len(references)))
    found = (torch.addmm(norms, block, references.T, alpha=-2) for block in torch.split(queries, size))
    return torch.cat([_smallest(distances, k) for distances in found])


def _smallest(distances: torch.Tensor, k: int) -> torch.Tensor:
    """Columns of the k smallest entries of each row; topk promises no order among equal ones, which are rare."""
    values, columns = distances.topk(min(k + 1, distances.shape[1]), largest=False)
    columns = columns[:, :k]
    tied = (values[:, 1:] == values[:, :-1]).any(1).nonzero().flatten()
    columns[tied] = _first_smallest(distances[tied], values[tied, k - 1 : k], k)
    return columns


def _first_smallest(distances: torch.Tensor, limit: torch.Tensor, k: int) -> torch.Tensor:
    """The same with equal entries in the order of their columns; the limit (rows, 1) is the k-th smallest entry."""
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
