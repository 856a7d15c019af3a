"""The labels of a run as rows of a table: what people said and, apart from it, pseudo-labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actune.core.training_set import EARLIER_PREFIX, PREFIX, PseudoLabels
from actune.errors import RunFolderError
from actune.session.session import Session

COLUMNS = ("id", "text", "label", "source", "round", "confidence", "by")
Row = list[object]


def human_rows(session: Session) -> list[Row]:
    """The answers that count, in row order; the simulated oracle and the file's own labels are answers too."""
    session.labels()  # which checks that they are labels of this pool
    labelled = [(word, word.label) for word in session.store.latest() if word.label is not None]
    seen = [facts.answers_seen for facts in session.rounds()]
    session.refresh()
    pool = session.pool
    return [
        [
            pool.ids[word.row],
            pool.texts[word.row],
            pool.classes[number],
            "human",
            _first_use(word.number, seen),
            None,
            word.by,
        ]
        for word, number in labelled
    ]


def pseudo_rows(session: Session) -> list[Row]:
    """The newest pseudo-labels, without rows that somebody has answered or skipped since."""
    chosen, found, memory = _newest(session)
    labels, pool = session.labels(), session.pool
    rows = zip(found.rows, found.targets, _confidences(found, memory), strict=True)
    return [
        [pool.ids[row], pool.texts[row], pool.classes[number], "pseudo", chosen, confidence, "model"]
        for row, number, confidence in sorted((int(row), int(number), sure) for row, number, sure in rows)
        if row not in labels.of_row and row not in labels.skipped
    ]


def _newest(session: Session) -> tuple[int, PseudoLabels, Any]:
    """The newest pseudo-labels, the round that they are for, and the memory bank behind them where there is one.

    They were chosen by a model for the next round, or by a teacher within the last one.
    """

    chosen, fitted = session.selected - 1, session.fitted - 1
    if chosen >= 1:  # the first questions come before any model
        arrays = session.store.load_arrays(f"select-{chosen:03d}")
        if any(f"{prefix}rows" in arrays for prefix in (PREFIX, EARLIER_PREFIX)):
            return chosen, PseudoLabels.from_arrays(arrays), session.memory(chosen)
    if fitted >= 0 and session.store.has_arrays(f"fit-{fitted:03d}"):
        return fitted, PseudoLabels.from_arrays(session.store.load_arrays(f"fit-{fitted:03d}")), None
    return chosen, PseudoLabels.none(), None


def _first_use(answer: int, seen: Sequence[int]) -> int | None:
    """The first round whose training knew this answer."""
    return next((round for round, last in enumerate(seen) if answer <= last), None)


def _confidences(found: PseudoLabels, memory: Any) -> list[float | None]:
    """How sure the model is of each pseudo-label: what its memory of predictions holds, where it has one."""
    sure = found.confidence
    if memory is not None and memory.ndim == 2:
        if len(memory) <= max(found.rows, default=-1):
            raise RunFolderError(
                "the memory bank of this run is shorter than its pool: run `actune verify` on its folder"
            )
        sure = memory[found.rows, found.targets]
    return [None] * len(found) if sure is None else [round(float(each), 4) for each in sure]
