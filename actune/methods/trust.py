"""Which rows to trust as the model labels them: frozen values, called with a view, a memory and the pace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from actune.core.ranking import surest_first
from actune.core.training_set import PseudoLabels
from actune.methods.memory import Memory

if TYPE_CHECKING:
    import torch

    from actune.core.view import View
    from actune.methods.memory import State


@dataclass(frozen=True)
class Pace:
    """How far a run is: the round, from 0, and the number of rounds it was planned for."""

    round: int
    horizon: int


class TrustRule(Protocol):
    """The candidates that may be trusted at all, as sorted rows."""

    def __call__(self, view: View, /) -> torch.Tensor: ...


@dataclass(frozen=True)
class Anywhere:
    """Every candidate may be trusted."""

    def __call__(self, view: View) -> torch.Tensor:
        return view.candidates


@dataclass(frozen=True)
class SelfTraining:
    """Eq. 11 and 13. The surest rows that the rule allows, chosen anew and `growth` more of them each round."""

    memory: Memory
    rule: TrustRule
    growth: int  # k

    def __call__(self, view: View, state: State, pace: Pace) -> tuple[PseudoLabels, State]:
        import numpy as np

        state = self.memory.update(view, state, pace)  # first, so that the bank holds the current model too
        allowed = surest_first(self.memory.ranking(view, state), self.rule(view))
        rows = allowed[: self.growth * (pace.round + 1)]
        targets = self.memory.targets(view, state).cpu()[rows]
        return PseudoLabels(rows.numpy(), targets.numpy(), np.ones(len(rows), np.float32)), state
