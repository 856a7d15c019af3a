"""The labels of a run as rows of a table: what people said and, apart from it, what the model trusts itself about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actune.session.session import Session

COLUMNS = ("id", "text", "label", "source", "round", "confidence", "by")
Row = list[object]


def human_rows(session: Session) -> list[Row]:
    """The answers that count, in row order; the simulated oracle and the file's own labels are answers too."""
    labelled = [(word, word.label) for word in session.store.latest() if word.label is not None]
    seen = [facts["answers_seen"] for facts in session.rounds()]
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
    """The rows trusted by the newest choice that nobody has answered or skipped since."""
    chosen, arrays = _newest_trusted(session)
    labels, pool = session.labels(), session.pool
    trusted = zip(arrays.get("trusted_rows", ()), arrays.get("trusted_targets", ()), _confidences(arrays), strict=True)
    return [
        [pool.ids[row], pool.texts[row], pool.classes[number], "pseudo", chosen, confidence, "model"]
        for row, number, confidence in sorted((int(row), int(number), sure) for row, number, sure in trusted)
        if row not in labels.of_row and row not in labels.skipped
    ]


def _newest_trusted(session: Session) -> tuple[int, dict[str, Any]]:
    """The round that the newest trusted rows are for, and its arrays: chosen by a model for the next round, or by a
    teacher within the last one."""
    chosen, fitted = session.selected - 1, session.fitted - 1
    if chosen >= 1:  # the first questions come before any model
        arrays = session.store.load_arrays(f"select-{chosen:03d}")
        if "trusted_rows" in arrays:
            return chosen, arrays
    if fitted >= 0 and session.store.has_arrays(f"fit-{fitted:03d}"):
        return fitted, session.store.load_arrays(f"fit-{fitted:03d}")
    return chosen, {}


def _first_use(answer: int, seen: Sequence[int]) -> int | None:
    """The first round whose training knew this answer."""
    return next((round for round, last in enumerate(seen) if answer <= last), None)


def _confidences(arrays: dict[str, Any]) -> list[float | None]:
    """How sure the model is of each trusted class: what its memory of predictions holds, where it has one."""
    rows, memory = arrays.get("trusted_rows", ()), arrays.get("memory")
    if memory is not None and memory.ndim == 2:
        found = memory[rows, arrays["trusted_targets"]]
    else:
        found = arrays.get("trusted_confidence")
    return [None] * len(rows) if found is None else [round(float(each), 4) for each in found]
