"""Weighted k-means (Eq. 3 and 4): Lloyd's iterations from k-means++ starts, repeatable on a CPU and on a GPU.

All starts go through the points together, in blocks: what is kept per point and centre stays small.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    import numpy as np

BLOCK = 16_384  # points at a time
CACHED = 2**20  # numbers of a block that stay in the cache of a CPU
LAUNCHED = 2**25  # numbers of a block that keep a GPU busy
SLICE = 1024  # points that a GPU adds up in one go
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
    starts = _seeds(points, weights, k, restarts, rng) if start is None else start[None]
    found = [_partition(points, weights, *settled) for settled in _lloyd(points, weights, starts, iterations)]
    best = min(found, key=lambda partition: partition.inertia)
    if warn and len(best.centres) < k:
        warnings.warn(
            f"only {len(best.centres)} of {k} regions could be formed, because there are too few different texts",
            stacklevel=2,
        )
    return replace(best, inertia=best.inertia * largest)


def nearest_centre(points: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """The label of each point. Ties go to the smaller centre."""
    rows = blocks(len(points), _block_size(points, len(centres)))
    return torch.cat([_nearest(points[block], centres[None])[0][:, 0] for block in rows])


def squared_distances(points: torch.Tensor, centre: torch.Tensor) -> torch.Tensor:
    """From real differences, so that equal points are at exactly 0."""
    return torch.cat([(points[rows] - centre).square().sum(1) for rows in blocks(len(points))])


def sums(
    values: torch.Tensor, labels: torch.Tensor, regions: int, weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Weighted sums (regions, width) and weights (regions,)."""
    total, mass = values.new_zeros(regions, values.shape[1]), values.new_zeros(regions)
    for rows in blocks(len(values), _block_size(values, regions)):
        here, weight = _weighted_sums(values[rows], labels[rows, None], regions, weights[rows])
        total += here
        mass += weight
    return total, mass


def blocks(length: int, size: int = BLOCK) -> Iterator[slice]:
    """Slices that cover a length."""
    return (slice(first, min(first + size, length)) for first in range(0, length, size))


def draw_index(mass: torch.Tensor, rng: np.random.Generator) -> int:
    """An index by its share of the mass; never one without any."""
    return int(_draw_indices(mass[None], mass.new_tensor([[rng.random()]], dtype=torch.float64)))


def _block_size(points: torch.Tensor, regions: int) -> int:
    """Points at a time, for what is kept of each."""
    if points.is_cpu:
        return max(256, CACHED // max(regions, points.shape[1]))
    return max(1, LAUNCHED // (max(1, regions) * SLICE)) * SLICE


def _scaled(points: torch.Tensor, weights: torch.Tensor | None) -> tuple[torch.Tensor, float]:
    # The largest weight becomes 1: equal weights then give bit by bit what no weights give.
    if weights is None or not (weights > 0).any():
        return points.new_ones(len(points)), 1.0
    return (weights.clamp(min=0) / weights.max()).to(points.dtype), float(weights.max())


def _seeds(
    points: torch.Tensor, weights: torch.Tensor, k: int, starts: int, rng: np.random.Generator
) -> torch.Tensor:  # (starts, k, width)
    """k-means++: each next centre is the best of some drawn by weight * squared distance to the centres so far."""
    trials = 2 + int(math.log(k))  # as scikit-learn does: a single draw may miss whole clouds
    shares = torch.from_numpy(rng.random((starts, k, trials))).to(points.device)
    lengths = torch.linalg.vector_norm(points, dim=1).square()
    first = _draw_indices(weights.expand(starts, -1), shares[:, 0, :1])
    chosen, distance = [first], _distances(points, lengths, first)[:, 0]  # (starts, 1), (starts, points)
    while len(chosen) < k and distance.any(1).all():
        mass = weights * distance
        tried = _draw_indices(
            mass.where(mass.any(1, keepdim=True), distance), shares[:, len(chosen)]
        )  # (starts, trials)
        left = torch.minimum(distance[:, None], _distances(points, lengths, tried))  # (starts, trials, points)
        best = (left @ weights).argmin(1, keepdim=True)  # (starts, 1)
        chosen.append(tried.gather(1, best))
        distance = left.take_along_dim(best[:, :, None], 1)[:, 0]
    return points[torch.cat(chosen, 1)]


def _draw_indices(mass: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:  # (starts, points), (starts, draws)
    """Indices (starts, draws). Whole numbers have the same running sum in any order, so on a CPU and on any GPU."""
    starts, points = mass.shape
    largest = 2.0 ** (62 - mass.numel().bit_length())  # so that all together stay below 2^62
    whole = (mass.double() / mass.amax(1, keepdim=True) * largest).long()
    running, total = whole.flatten().cumsum(0), whole.sum(1, keepdim=True)
    before = running[points - 1 :: points, None] - total
    places = torch.minimum((shares * total).long(), total - 1) + before
    return torch.searchsorted(running, places, right=True) - points * torch.arange(starts, device=mass.device)[:, None]


def _distances(points: torch.Tensor, lengths: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Squared distances (starts, draws, points) to chosen points, whose equals are at exactly 0."""
    centres = points[chosen.flatten()]
    both = lengths + lengths[chosen.flatten(), None]
    apart = torch.addmm(both, centres, points.T, alpha=-2)
    # what is left of two long vectors that nearly cancel is rounding: there, real differences
    close = (apart < 2048 * torch.finfo(both.dtype).eps * both).nonzero()
    for number, row in (close[rows].unbind(1) for rows in blocks(len(close))):
        apart[number, row] = (points[row] - centres[number]).square().sum(1)
    return apart.reshape(*chosen.shape, -1)


def _lloyd(
    points: torch.Tensor, weights: torch.Tensor, centres: torch.Tensor, iterations: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Labels (points,) and centres (regions, width) of each start, when they stay where they are or time is up."""
    tolerance = TOLERANCE * _mean_variance(points)
    labels = torch.full((len(points), len(centres)), -1, device=points.device)  # (points, starts)
    gaps = points.new_full(labels.shape, -1)  # below 0, a point has to look for its centre
    total, mass = _assigned(points, weights, centres, labels, gaps)
    for _ in range(iterations):
        for start in (mass == 0).any(1).nonzero().flatten().tolist():
            repaired = _repaired(points, weights, labels[:, start], centres[start])
            labels[:, start], total[start], mass[start] = repaired
        moved = torch.where(mass[:, :, None] > 0, total / mass[:, :, None], centres)
        steps = (moved - centres).square().sum(2).sqrt()  # (starts, regions)
        # at worst the own centre goes away from a point, and another one comes nearer
        gaps -= (steps + steps.amax(1, keepdim=True)).gather(1, labels.T).T
        centres, before = moved, labels.clone()
        total, mass = _assigned(points, weights, centres, labels, gaps)
        settled = (labels == before).all(0) | (steps.square().sum(1) < tolerance)  # (starts,)
        if settled.any():
            yield from zip(labels.T[settled], centres[settled], strict=True)
            if settled.all():
                return
            labels, gaps = labels[:, ~settled], gaps[:, ~settled]
            centres, total, mass = centres[~settled], total[~settled], mass[~settled]
    yield from zip(labels.T, centres, strict=True)


def _assigned(
    points: torch.Tensor, weights: torch.Tensor, centres: torch.Tensor, labels: torch.Tensor, gaps: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Brings labels and gaps (points, starts) up to date, and adds up by label, while a block is at hand.

    Gives the weighted sums (starts, regions, width) and the weights (starts, regions).
    """
    starts, regions, width = centres.shape
    total, mass = centres.new_zeros(starts * regions, width), centres.new_zeros(starts * regions)
    offset = regions * torch.arange(starts, device=points.device)
    for rows in blocks(len(points), _block_size(points, len(total))):
        unsure = rows.start + (gaps[rows] < 0).any(1).nonzero().flatten()
        labels[unsure], gaps[unsure] = _nearest(points[unsure], centres)
        here, weight = _weighted_sums(points[rows], labels[rows] + offset, len(total), weights[rows])
        total += here
        mass += weight
    return total.reshape(centres.shape), mass.reshape(starts, regions)


def _nearest(points: torch.Tensor, centres: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The nearest centre of each start (points, starts), and how much farther the next one is, at least."""
    flat = centres.flatten(0, 1)
    halves = flat.square().sum(1) / 2
    scores = torch.addmm(halves, points, flat.T, alpha=-1)  # half of the squared distance, without |x|^2 / 2
    scores = scores.reshape(len(points), *centres.shape[:2])
    nearest, labels = scores.min(2)  # the first of equal ones
    others = scores.scatter_(2, labels[:, :, None], float("inf")).amin(2)
    lengths = torch.linalg.vector_norm(points, dim=1, keepdim=True).square() / 2
    noise = 16 * torch.finfo(points.dtype).eps * (lengths + halves.max())  # of rounding
    own, other = (lengths + nearest + noise).clamp(min=0), (lengths + others - noise).clamp(min=0)
    return labels, (2 * other).sqrt() - (2 * own).sqrt()


def _weighted_sums(
    values: torch.Tensor, regions: torch.Tensor, count: int, weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of a block, by the regions of each row (rows, starts): sums of the values (count, width) and of the weights."""
    add_up = _by_gathering if values.is_cpu else _by_product
    return add_up(values, regions, count, weights)


def _by_gathering(
    values: torch.Tensor, regions: torch.Tensor, count: int, weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Row after row: the fewest additions."""
    region, order = regions.flatten().sort(stable=True)
    rows = order // regions.shape[1]
    picked, first = weights[rows], torch.searchsorted(region, torch.arange(count))
    total = torch.nn.functional.embedding_bag(rows, values, first, mode="sum", per_sample_weights=picked)
    return total, region.bincount(picked, minlength=count)


def _by_product(
    values: torch.Tensor, regions: torch.Tensor, count: int, weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Times a matrix of memberships, slices side by side: atomic additions would differ from run to run on a GPU."""
    member = values.new_zeros(len(values), count).scatter_(1, regions, weights[:, None].expand_as(regions))
    whole = len(values) // SLICE * SLICE
    members, rows = (tensor[:whole].reshape(-1, SLICE, tensor.shape[1]) for tensor in (member, values))
    return torch.bmm(members.mT, rows).sum(0) + member[whole:].T @ values[whole:], member.sum(0)


def _mean_variance(points: torch.Tensor) -> torch.Tensor:
    """Of the features, from differences with their means."""
    mean = points.mean(0)
    return torch.stack([(points[rows] - mean).square().sum() for rows in blocks(len(points))]).sum() / points.numel()


def _repaired(
    points: torch.Tensor, weights: torch.Tensor, labels: torch.Tensor, centres: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Labels, sums and weights in which no region is empty that can have a point, and one without weight has some."""
    labels = _reseeded(points, weights, labels, centres)
    total, mass = sums(points, labels, len(centres), weights)
    if (mass == 0).any():  # the plain mean
        total, mass = sums(points, labels, len(centres), weights.where(mass[labels] > 0, 1))
    return labels, total, mass


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


def _partition(points: torch.Tensor, weights: torch.Tensor, labels: torch.Tensor, centres: torch.Tensor) -> Partition:
    present, labels = torch.unique(labels, return_inverse=True)  # a region that stayed empty is dropped
    centres = centres[present]
    return Partition(labels, centres, float((weights * _own_distances(points, labels, centres)).double().sum()))


def _own_distances(points: torch.Tensor, labels: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """Squared distances to the own centre."""
    return torch.cat([(points[rows] - centres[labels[rows]]).square().sum(1) for rows in blocks(len(points))])
