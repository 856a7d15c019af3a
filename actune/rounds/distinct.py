"""Batches in which each question is another one: of near-duplicates only one is asked about."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from actune.core.labels import Labels
    from actune.core.pool import Pool
    from actune.core.view import View
    from actune.rounds.prepared import PreparedTask

    Rows = npt.NDArray[np.int64]


def one_of_each(rows: Rows, group_of: Rows, done: Collection[int] = ()) -> Rows:
    """The first of the rows of each group, in the order of the rows.

    Groups with a row that is `done` take no part, as long as there are others.
    """
    first = np.sort(np.unique(group_of[rows], return_index=True)[1])
    chosen = rows[first]
    fresh = chosen[~np.isin(group_of[chosen], group_of[np.fromiter(done, np.int64)])]
    return fresh if len(fresh) else chosen


def next_rows(order: Iterable[int], count: int, gone: Collection[int], group_of: Rows | None = None) -> list[int]:
    """The first rows of an order that are not gone, chosen as `one_of_each` does; it looks no further than it must."""
    if group_of is None:
        return list(islice((row for row in order if row not in gone), count))
    done = set(group_of[np.fromiter(gone, np.int64)].tolist())
    fresh, met, others = list[int](), set[int](), list[int]()
    for row in order:
        group = int(group_of[row])
        if len(fresh) == count:
            break
        if row not in gone and group not in met:
            met.add(group)
            (others if group in done else fresh).append(row)
    return fresh or others[:count]


def distinct_rows(rows: Rows, pool: Pool, similarity: float, labels: Labels, group_of: Rows | None = None) -> Rows:
    """The same without the rows that repeat another one; all of them where no similarity is asked for.

    `group_of` are the groups, where they are known already.
    """
    if group_of is None:
        if not similarity:
            return rows
        from actune.data.duplicates import near_duplicates

        group_of = near_duplicates(pool.texts, similarity)
    return one_of_each(rows, group_of, answered(labels))


def distinct_view(prepared: PreparedTask, view: View, labels: Labels) -> View:
    """The view with one candidate of each group of near-duplicates, where the run asks for that."""
    if (group_of := prepared.group_of) is None:
        return view
    candidates = view.candidates.numpy()
    return view.without(np.setdiff1d(candidates, one_of_each(candidates, group_of, answered(labels))).tolist())


def answered(labels: Labels) -> set[int]:
    """The rows that somebody answered or skipped."""
    return {*labels.of_row, *labels.skipped}
