"""Texts that are nearly the same, in groups: an exact join of their sets of shingles that looks at rare ones first.

Two texts are near-duplicates where they share at least the share `threshold` of all pairs of neighbouring words that
are in either (their Jaccard similarity); a group is all that is linked by such texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from actune.core.strings import blocks_of
from actune.data.shingles import Sets, mixed, places_in, shingles, starts_of
from actune.errors import SettingError

if TYPE_CHECKING:
    import numpy.typing as npt

    Rows = npt.NDArray[np.int64]

USUAL = 0.8  # the similarity from which texts count as near-duplicates
MOST_PAIRS = 2**27  # that are looked at; where more share a rare shingle, each set meets only those near it in an order
PAIRS = 2**18  # that are compared at a time
MOST_LETTERS = 100_000_000  # of a pool whose texts are compared with each other, which takes about a gigabyte
SLACK = 1e-9  # a similarity of exactly the threshold counts, also where it cannot be written in binary


def near_duplicates(texts: Sequence[str], threshold: float = USUAL) -> Rows:
    """For each text the row of the first text of its group, which is its own row where it is unlike all others.

    Equal texts are in one group at any threshold. Memory grows with the number of words. Groups are the same on every
    machine and in every run; they are exact but for shingles that very many texts share, of which only likely pairs are
    compared.
    """
    check_threshold(threshold)
    sets = shingles(texts)
    if not len(sets):
        return np.empty(0, np.int64)
    first, set_of = _distinct(sets)
    component = _linked(sets.only(first), threshold)
    first_of = np.full(len(first), len(sets), np.int64)
    np.minimum.at(first_of, component, first)
    return first_of[component[set_of]]


def groups_within_bounds(texts: Sequence[str], threshold: float) -> tuple[Rows, bool]:
    """The groups of `near_duplicates`, or those of `equal_texts` where there are too many letters to compare.

    Says whether the texts were compared.
    """
    check_threshold(threshold)
    compared = not has_more_letters(texts, MOST_LETTERS)
    return (near_duplicates(texts, threshold) if compared else equal_texts(texts)), compared


def has_more_letters(texts: Sequence[str], most: int) -> bool:
    """Whether all texts together have more letters than `most`."""
    count = 0
    for block in blocks_of(texts):
        count += sum(map(len, block))
        if count > most:
            return True
    return False


def equal_texts(texts: Sequence[str]) -> Rows:
    """The same of texts that have the same pairs of neighbouring words; it takes a few bytes a text."""
    sums = [_sums(shingles(block)) for block in blocks_of(texts)]
    if not sums:
        return np.empty(0, np.int64)
    _, first, group = np.unique(np.concatenate(sums), return_index=True, return_inverse=True)
    return first[group].astype(np.int64)


def similarity(one: str, others: Sequence[str]) -> list[float]:
    """The share of all pairs of neighbouring words that a text has in common with each of some others."""
    sets = shingles([one, *others])
    parts = [set(sets.numbers[start:end].tolist()) for start, end in pairwise(sets.starts.tolist())]
    return [len(parts[0] & other) / len(parts[0] | other) for other in parts[1:]]


def check_threshold(threshold: float) -> None:
    """Refuses what is no similarity."""
    if isinstance(threshold, bool) or not 0 < threshold <= 1:
        raise SettingError(f"the similarity of near-duplicates must be above 0 and at most 1, not {threshold}")


def groups_in(first_of: Rows) -> list[list[int]]:
    """The groups with more than one text, each as its rows, by what `near_duplicates` gives."""
    order = np.argsort(first_of, kind="stable")
    bounds = np.flatnonzero(np.diff(first_of[order])) + 1
    return [part.tolist() for part in np.split(order, bounds) if len(part) > 1]


def _distinct(sets: Sets) -> tuple[Rows, Rows]:
    """The first row of each different set, and the number of its set for each row; equal sets have equal sums."""
    _, first, set_of = np.unique(_sums(sets), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[set_of]


def _sums(sets: Sets) -> npt.NDArray[np.uint64]:
    """A number for each set; equal sets have equal ones."""
    sums: npt.NDArray[np.uint64] = np.add.reduceat(mixed(sets.numbers), sets.starts[:-1])
    return sums


@dataclass(frozen=True)
class _Ordered:
    """Sets whose shingles are numbered from rare to common; those that no other set has are only counted."""

    shingles: Rows  # of all sets, behind one another
    starts: Rows
    alone: Rows  # (sets,) shingles that no other set has: the first ones in the order
    sketches: npt.NDArray[np.uint64]  # (2, sets) the same for the same common shingles, and often for similar sets

    @property
    def sizes(self) -> Rows:
        return np.diff(self.starts) + self.alone


def _linked(sets: Sets, threshold: float) -> Rows:
    """The number of the group of each set, all of which differ."""
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import connected_components

    ordered = _ordered(sets)
    sizes, count = ordered.sizes, len(sets)
    shape = (count, int(ordered.shingles.max(initial=0)) + 1)
    ones = np.ones(len(ordered.shingles), np.int8)
    matrix = csr_array((ones, ordered.shingles.astype(np.int32), ordered.starts.astype(np.int64)), shape=shape)
    group = np.arange(count)
    for one, other in _candidates(ordered, threshold):
        apart = group[one] != group[other]
        low, high = np.minimum(one, other)[apart], np.maximum(one, other)[apart]
        one, other = np.divmod(np.unique(low * count + high), max(1, count))
        for start in range(0, len(one), PAIRS):
            few, those = one[start : start + PAIRS], other[start : start + PAIRS]
            shared = np.diff(matrix[few].multiply(matrix[those]).tocsr().indptr)
            alike = shared * (1 + threshold) >= threshold * (sizes[few] + sizes[those]) - SLACK
            if alike.any():
                edges = group[few[alike]], group[those[alike]]
                graph = coo_array((np.ones(len(edges[0]), np.int8), edges), shape=(count, count))
                group = connected_components(graph, directed=False)[1][group]
    return group


def _ordered(sets: Sets) -> _Ordered:
    sizes = sets.sizes
    row = np.repeat(np.arange(len(sets)), sizes)
    _, place, counts = np.unique(sets.numbers, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    is_alone = counts[place] == 1
    alone = np.bincount(row[is_alone], minlength=len(sets))
    common = np.where(is_alone, np.uint64(0), mixed(sets.numbers))
    sketches = np.stack(
        [np.add.reduceat(common, sets.starts[:-1]), np.minimum.reduceat(sets.numbers, sets.starts[:-1])]
    )
    rank -= int((counts == 1).sum())
    keys = np.sort((row[~is_alone] << 32) | rank[place[~is_alone]])
    return _Ordered(keys & 0xFFFFFFFF, starts_of(sizes - alone), alone, sketches)


def _candidates(ordered: _Ordered, threshold: float) -> Iterator[tuple[Rows, Rows]]:
    """Pairs of sets that share one of their rarest shingles: all that are similar enough share at least one.

    A set of n shingles that has k in common with another one, where the similarity asks for at least k, cannot miss
    the other's with all of its n - k + 1 rarest.
    """
    sizes = ordered.sizes
    least = np.ceil(threshold * sizes - SLACK).astype(np.int64)
    looked_at = np.clip(sizes - least + 1 - ordered.alone, 0, np.diff(ordered.starts))
    places = places_in(ordered.starts[:-1], looked_at)
    row = np.repeat(np.arange(len(sizes)), looked_at)
    shingle = ordered.shingles[places]
    order = np.lexsort((row, ordered.sketches[shingle % 2, row], shingle))
    row, shingle, places = row[order], shingle[order], places[order]
    behind = ordered.starts[row + 1] - places  # shingles from this one on
    begins = np.flatnonzero(np.r_[True, shingle[1:] != shingle[:-1]]) if len(shingle) else np.empty(0, np.int64)
    length = np.diff(np.r_[begins, len(shingle)])
    last = np.repeat(begins + length, length)  # of the list of a shingle
    reach = _reach(length)
    here = np.arange(len(row))
    for distance in range(1, reach + 1):
        here = here[here + distance < last[here]]
        if not len(here):
            return
        there = here + distance
        one, other = row[here], row[there]
        small, large = np.minimum(sizes[one], sizes[other]), np.maximum(sizes[one], sizes[other])
        needed = threshold / (1 + threshold) * (small + large) - SLACK
        possible = (small >= threshold * large - SLACK) & (np.minimum(behind[here], behind[there]) >= needed)
        yield one[possible], other[possible]


def _reach(length: Rows) -> int:
    """How far apart two may be in a list and still be a pair, so that lists of these lengths have not too many."""
    reach = int(length.max(initial=0))
    while reach > 1 and int((length * np.minimum(length, 2 * reach)).sum()) > 2 * MOST_PAIRS:
        reach //= 2
    return reach
