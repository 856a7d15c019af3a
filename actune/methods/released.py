"""The preset `released`: AcTune as its authors' scripts compute it, where they depart from the paper.

Their loss also multiplied a (B,) by a (B, 1) array, which mixes the rows of a batch; that is not repeated here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from actune.core.objective import NO_GATE, Objective
from actune.core.ranking import surest_first
from actune.core.settings import Settings
from actune.core.training_set import PseudoLabels
from actune.methods.memory import Memory, Pace
from actune.methods.method import Method
from actune.methods.queries import Top
from actune.methods.regions import Hottest, Regions
from actune.methods.trust import Surest, pseudo_labels_for
from actune.methods.uncertainty import Cal, Score

if TYPE_CHECKING:
    from actune.core.view import View
    from actune.methods.memory import State


def as_released(method: Method, settings: Settings) -> Method:
    """The same method with the departures that concern it; methods that the scripts do not have stay as they are."""
    query = method.query
    if isinstance(query, Top):
        query = Top(_score(query.score))
    if isinstance(query, Hottest):
        query = Hottest(_regions(query.regions), query.m)
    method = replace(method, query=query)
    if method.teacher or not isinstance(method.self_training, Surest) or not _bank(method.self_training):
        return method
    memory = replace(method.self_training.memory, score=_score(method.self_training.memory.score), late=True)
    return replace(
        method,
        self_training=ReleasedTrust(memory, settings.growth, settings.growth_start, settings.threshold),
        objective=Objective(
            weight=settings.weight / 2, supervised=0.5, threshold=NO_GATE, targets="sharpened", power=settings.power
        ),
    )


@dataclass(frozen=True)
class ReleasedTrust:
    """The surest rows of the whole pool, labelled by the current model and weighted by its confidence above a gate."""

    memory: Memory
    growth: int
    first: int
    gate: float

    def __call__(self, view: View, state: State, pace: Pace) -> tuple[PseudoLabels, State]:
        state = self.memory.update(view, state, pace)
        rows = surest_first(self.memory.ranking(view, state), view.candidates)
        rows = rows[: ramp_size(pace.round, self.growth, self.first or self.growth, pace.horizon)]
        proba = view.log_proba.exp()
        confidence = proba.amax(1)
        chosen = pseudo_labels_for(rows, proba.argmax(1), confidence * (confidence > self.gate))
        return replace(chosen, proba=proba[rows.to(proba.device)].float().cpu().numpy()), state


def ramp_size(round: int, growth: int, first: int, horizon: int) -> int:
    """How many rows are trusted after a round: from `first` to growth * horizon in equal steps."""
    if horizon < 2:
        return first
    return first + int((growth * horizon - first) * min(round, horizon - 1) / (horizon - 1))


def _bank(training: Surest) -> bool:
    return training.memory.remembers != "nothing"


def _regions(regions: Regions) -> Regions:
    return replace(regions, score=_score(regions.score), released=True)


def _score(score: Score) -> Score:
    return replace(score, normalise=False) if isinstance(score, Cal) else score
