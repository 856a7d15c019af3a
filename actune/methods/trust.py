"""Which rows a model may label itself, and how: frozen values, called with a view, a memory and the pace."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from actune.core.ranking import finite, surest_first
from actune.core.training_set import PseudoLabels
from actune.methods.features import Propagation
from actune.methods.memory import Memory, Pace
from actune.methods.uncertainty import entropy_of

if TYPE_CHECKING:
    import torch

    from actune.core.view import View
    from actune.methods.memory import State


class SelfTraining(Protocol):
    """Candidates to trust, with a class and a weight each, and the memory as the next round needs it."""

    def __call__(self, view: View, state: State, pace: Pace, /) -> tuple[PseudoLabels, State]: ...


class TrustRule(Protocol):
    """The candidates that may be trusted at all, as sorted rows."""

    def __call__(self, view: View, /) -> torch.Tensor: ...


@dataclass(frozen=True)
class Anywhere:
    """Every candidate may be trusted."""

    def __call__(self, view: View) -> torch.Tensor:
        return view.candidates


@dataclass(frozen=True)
class Surest:
    """Eq. 11 and 13. The surest rows that the rule allows, chosen anew and `growth` more of them each round."""

    memory: Memory
    rule: TrustRule
    growth: int | None  # k; without one, all that the rule allows

    def __call__(self, view: View, state: State, pace: Pace) -> tuple[PseudoLabels, State]:
        state = self.memory.update(view, state, pace)  # first, so that the bank holds the current model too
        allowed = surest_first(self.memory.ranking(view, state), self.rule(view))
        rows = allowed if self.growth is None else allowed[: self.growth * (pace.round + 1)]
        return pseudo_labels_for(rows, self.memory.targets(view, state)), state


@dataclass(frozen=True)
class Below:
    """CEAL (Wang et al. 2016). Rows whose entropy, as a share of ln C, lies below a limit that falls with the rounds.

    BASS (Rottmann et al. 2018) is the same with the mean of some dropout passes as the prediction.
    """

    limit: float  # delta_0
    decay: float
    samples: int = 0  # dropout passes; 0 is the plain prediction

    def __call__(self, view: View, state: State, pace: Pace) -> tuple[PseudoLabels, State]:
        log_proba = view.moments(self.samples).mean.log() if self.samples else view.log_proba
        limit = falling(self.limit, self.decay, pace.round)
        uncertain = entropy_of(log_proba) / math.log(log_proba.shape[1])
        rows = view.candidates[(finite(uncertain, view.candidates, "score") < limit).cpu()]
        return pseudo_labels_for(surest_first(uncertain, rows), log_proba.argmax(1)), state


def falling(limit: float, decay: float, round: int) -> float:
    """CEAL's threshold, always from its start: taken from the last one it would fall with the square of the rounds."""
    return max(0.0, limit - decay * round)


@dataclass(frozen=True)
class Propagated:
    """Every row, with the class that spreads to it from the labels, weighted by how certain that is (REVIVAL)."""

    given: Propagation

    def __call__(self, view: View, state: State, pace: Pace) -> tuple[PseudoLabels, State]:
        proba = self.given(view)
        certain = 1 - entropy_of(proba.log()) / math.log(proba.shape[1])
        return pseudo_labels_for(view.candidates, proba.argmax(1), certain.clamp(0, 1)), state


def pseudo_labels_for(rows: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor | None = None) -> PseudoLabels:
    """These rows with their entries of pool-length targets and weights; a weight of 1 where none is given."""
    import numpy as np

    def of_rows(values: torch.Tensor) -> Any:
        return values[rows.to(values.device)].cpu().numpy()

    weighed = np.ones(len(rows), np.float32) if weights is None else of_rows(weights).astype(np.float32)
    return PseudoLabels(rows.cpu().numpy(), of_rows(targets), weighed)
