"""What to ask and what to trust next, from one read of the pool."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from actune.core.classifier import Classifier
from actune.core.facts import QuestionRow, Selection
from actune.core.labels import Labels
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels
from actune.methods.memory import Pace
from actune.methods.method import Method
from actune.rounds.distinct import distinct_view
from actune.rounds.insight import insight_arrays
from actune.rounds.mapping import map_arrays
from actune.rounds.outputs import view_of
from actune.rounds.prepared import PreparedTask
from actune.rounds.pseudo_labels import judged

if TYPE_CHECKING:
    from actune.methods.memory import State


@dataclass(frozen=True)
class Choice:
    """What was chosen for a round: the questions, the arrays that go with them, and the memory bank."""

    selection: Selection
    arrays: dict[str, Any]
    memory: State


def select(
    prepared: PreparedTask,
    method: Method,
    classifier: Classifier,
    labels: Labels,
    streams: Streams,
    memory: State,
    batch: int,
    horizon: int,
    suggest: bool,
    explain: bool = False,
    rejected: Collection[int] = (),
) -> Choice:
    """Eq. 3 to 13: the questions of the next round, with the model's suggestions where a person will see them.

    With `explain` the choice also keeps what a page tells about single texts. Rejected rows are never trusted.
    """
    round = streams.round + 1
    view = view_of(prepared, classifier, labels, streams)
    asked = method.query(distinct_view(prepared, view, labels), batch).tolist()
    arrays: dict[str, Any] = {}
    if method.self_training is not None and method.teacher is None:
        found, memory = method.self_training(view.without([*asked, *rejected]), memory, Pace(streams.round, horizon))
        arrays = judged(found, view, prepared, classifier, labels, streams).as_arrays()
    questions = _questions(round, asked, view.log_proba if suggest else None)
    if view.was_read:
        arrays |= map_arrays(view, asked, method)
    if explain:
        arrays |= insight_arrays(view, asked, method)
    return Choice(Selection(round, questions), arrays, memory)


def select_more(
    prepared: PreparedTask,
    method: Method,
    classifier: Classifier,
    labels: Labels,
    streams: Streams,
    trusted: PseudoLabels,
    batch: int,
) -> list[QuestionRow]:
    """More questions of the round that `select` chose for, by the same model; rows with pseudo-labels come last."""
    view = view_of(prepared, classifier, labels, streams)
    others = view.without(trusted.rows.tolist())
    asked = method.query(distinct_view(prepared, others if len(others.candidates) else view, labels), batch).tolist()
    return _questions(streams.round + 1, asked, view.log_proba)


def _questions(round: int, rows: Sequence[int], log_proba: torch.Tensor | None) -> list[QuestionRow]:
    if log_proba is None or not len(rows):
        return [QuestionRow(round, row, None, None) for row in rows]
    best, classes = log_proba[torch.as_tensor(rows, device=log_proba.device)].exp().max(1)
    return [
        QuestionRow(round, row, number, confidence)
        for row, number, confidence in zip(rows, classes.tolist(), best.tolist(), strict=True)
    ]
