"""Weighted k-means (Eq. 3 and 4): Lloyd's iterations from a k-means++ start, repeatable on a CPU and on a GPU."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    import numpy as np

BLOCK = 16_384  # points at a time: what is kept per point and centre stays small
TOLERANCE = 1e-4  # of the mean variance of a feature


@dataclass(frozen=True, eq=False)
class Partition:
    """Every label is the nearest centre, and every centre has a point."""

    labels: torch.Tensor  # (points,)
    centres: torch.Tensor  # (regions, width)
    inertia: float  # sum of weight * squared distance to the own centre


def kmeans(
    points: torch.Tensor,  # (points, width)
    weights: torch.Tensor | None = None,  # (points,)
    *,
    k: int,
    rng: np.random.Generator,
    restarts: int = 3,
    iterations: int = 100,
    start: torch.Tensor | None = None,  # (k, width)
    warn: bool = True,
) -> Partition:
    """Eq. 3 and 4. The best of some restarts; fewer than k regions, with a warning, where the points are too alike."""
    if len(points) == 0:
        return Partition(torch.empty(0, dtype=torch.int64, device=points.device), points[:0], 0.0)
    weights, largest = _scaled(points, weights)
    starts = [start] if start is not None else (_seeds(points, weights, k, rng) for _ in range(restarts))
    found = [_lloyd(points, weights, centres, iterations) for centres in starts]
    best = min(found, key=lambda partition: partition.inertia)
    if warn and len(best.centres) < k:
        warnings.warn(f"{len(best.centres)} regions instead of {k}: the texts are too few or too alike", stacklevel=2)
    return replace(best, inertia=best.inertia * largest)


def nearest_centre(points: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """The label of each point. Ties go to the smaller centre; |x|^2 is the same for all centres and left out."""
    half_norms = centres.square().sum(1) / 2
    labels = [torch.addmm(half_norms, points[rows], centres.T, alpha=-1).argmin(1) for rows in blocks(len(points))]
    return torch.cat(labels)


def squared_distances(points: torch.Tensor, centre: torch.Tensor) -> torch.Tensor:
    """From real differences, so that equal points are at exactly 0."""
    return torch.cat([(points[rows] - centre).square().sum(1) for rows in blocks(len(points))])


def sums(
    values: torch.Tensor, labels: torch.Tensor, regions: int, weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Weighted sums (regions, width) and weights (regions,). Atomic additions would differ from run to run on a GPU."""
    total = values.new_zeros(regions, values.shape[1])
    mass = values.new_zeros(regions)
    numbers = torch.arange(regions, device=labels.device)
    for rows in blocks(len(values)):
        member = (labels[rows, None] == numbers) * weights[rows, None]  # (block, regions)
        total += member.T @ values[rows]
        mass += member.sum(0)
    return total, mass


def blocks(length: int, size: int = BLOCK) -> Iterator[slice]:
    """Slices that cover a length."""
    return (slice(first, min(first + size, length)) for first in range(0, length, size))


def _scaled(points: torch.Tensor, weights: torch.Tensor | None) -> tuple[torch.Tensor, float]:
    # The largest weight becomes 1: equal weights then give bit by bit what no weights give.
    if weights is None or not (weights > 0).any():
        return points.new_ones(len(points)), 1.0
    return (weights.clamp(min=0) / weights.max()).to(points.dtype), float(weights.max())


def _seeds(points: torch.Tensor, weights: torch.Tensor, k: int, rng: np.random.Generator) -> torch.Tensor:
    """k-means++: each next centre is drawn by weight * squared distance to the centres so far."""
    chosen = [drawn(weights, rng)]
    distance = squared_distances(points, points[chosen[0]])
    while len(chosen) < k and distance.any():
        mass = weights * distance
        chosen.append(drawn(mass if mass.any() else distance, rng))
        distance = torch.minimum(distance, squared_distances(points, points[chosen[-1]]))
    return points[chosen]


def drawn(mass: torch.Tensor, rng: np.random.Generator) -> int:
    """An index by its share of the mass; never one without any."""
    # On the CPU in float64: a running sum on a GPU is not repeatable.
    running = mass.double().cpu().cumsum(0)
    place = int(torch.searchsorted(running, rng.random() * float(running[-1]), right=True))
    return place if place < len(running) else int(mass.nonzero()[-1])


def _lloyd(points: torch.Tensor, weights: torch.Tensor, centres: torch.Tensor, iterations: int) -> Partition:
    tolerance = TOLERANCE * points.var(0, correction=0).mean()
    labels = nearest_centre(points, centres)
    for _ in range(iterations):
        before = _reseeded(points, weights, labels, centres)
        moved = _means(points, weights, before, centres)
        shift = (moved - centres).square().sum()
        centres, labels = moved, nearest_centre(points, moved)
        if torch.equal(labels, before) or shift < tolerance:
            break
    present, labels = torch.unique(labels, return_inverse=True)  # a region that stayed empty is dropped
    centres = centres[present]
    return Partition(labels, centres, float((weights * _own_distances(points, labels, centres)).double().sum()))


def _means(points: torch.Tensor, weights: torch.Tensor, labels: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """Eq. 4. A region without weight takes the plain mean, a region without points stays."""
    total, mass = sums(points, labels, len(centres), weights)
    if (mass == 0).any():
        weights = weights.where(mass[labels] > 0, 1)
        total, mass = sums(points, labels, len(centres), weights)
    return torch.where(mass[:, None] > 0, total / mass[:, None], centres)


def _reseeded(points: torch.Tensor, weights: torch.Tensor, labels: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """Labels in which each empty region has got the point that costs most where it is, if any costs something."""
    sizes = labels.bincount(minlength=len(centres))
    if sizes.all():
        return labels
    labels = labels.clone()
    cost = weights * _own_distances(points, labels, centres)
    for region in (sizes == 0).nonzero().flatten().tolist():
        movable = cost * (sizes[labels] > 1)  # a region's only point would leave another empty one
        point = int(movable.argmax())
        if movable[point] <= 0:
            break
        sizes[labels[point]] -= 1
        sizes[region] += 1
        labels[point] = region
        cost = torch.minimum(cost, weights * squared_distances(points, points[point]))
    return labels


def _own_distances(points: torch.Tensor, labels: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """Squared distances to the own centre."""
    return torch.cat([(points[rows] - centres[labels[rows]]).square().sum(1) for rows in blocks(len(points))])
