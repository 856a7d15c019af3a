"""Batches in which each question is another one: of near-duplicates only one is asked about at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from actune.core.pool import Pool
    from actune.core.view import View
    from actune.rounds.prepared import PreparedTask

    Rows = npt.NDArray[np.int64]


def one_of_each(rows: Rows, group_of: Rows) -> Rows:
    """The first of the rows of each group, in the order of the rows."""
    first = np.unique(group_of[rows], return_index=True)[1]
    return rows[np.sort(first)]


def distinct_rows(rows: Rows, pool: Pool, similarity: float) -> Rows:
    """The same without the rows that repeat another one; all of them where no similarity is asked for."""
    if not similarity:
        return rows
    from actune.data.duplicates import near_duplicates

    return one_of_each(rows, near_duplicates(pool.texts, similarity))


def distinct_view(prepared: PreparedTask, view: View) -> View:
    """The view with one candidate of each group of near-duplicates, where the run asks for that."""
    if (group_of := prepared.group_of) is None:
        return view
    candidates = view.candidates.numpy()
    return view.without(np.setdiff1d(candidates, one_of_each(candidates, group_of)).tolist())
