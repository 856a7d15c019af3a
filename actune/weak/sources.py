"""What is known of every source of votes: how often it speaks, how often it disagrees, how often it is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actune.core.pool import UNKNOWN
from actune.weak.label_models import Combined
from actune.weak.votes import ABSTAIN, Votes


@dataclass(frozen=True)
class SourceFacts:
    """Facts of one source: shares of all rows, and accuracies of its own votes."""

    name: str
    classes: tuple[int, ...]  # those it ever votes for
    coverage: float  # rows it votes on
    overlap: float  # rows where another votes too
    conflict: float  # rows where another votes otherwise
    estimated_accuracy: float  # nan if it never votes
    measured_accuracy: float | None
    measured_on: int  # its votes on rows whose class is known


def describe(votes: Votes, combined: Combined, truth: NDArray[np.int64] | None = None) -> list[SourceFacts]:
    """The facts of all sources, in their order; in `truth` an unknown class is -1."""
    shared, disputed = (votes.matrix != ABSTAIN).sum(axis=1) > 1, in_conflict(votes)
    known = np.full(len(votes), UNKNOWN) if truth is None else truth
    facts = []
    for name, column, estimated in zip(votes.sources, votes.matrix.T, combined.accuracy, strict=True):
        voted = column != ABSTAIN
        measured = voted & (known != UNKNOWN)
        facts.append(
            SourceFacts(
                name,
                tuple(int(number) for number in np.unique(column[voted])),
                float(voted.mean()),
                float((voted & shared).mean()),
                float((voted & disputed).mean()),
                float(estimated),
                float((column == known)[measured].mean()) if measured.any() else None,
                int(measured.sum()),
            )
        )
    return facts


def in_conflict(votes: Votes) -> NDArray[np.bool_]:
    """Which rows have votes for more than one class."""
    highest = votes.matrix.max(axis=1, keepdims=True)
    disputed: NDArray[np.bool_] = ((votes.matrix != ABSTAIN) & (votes.matrix != highest)).any(axis=1)
    return disputed
