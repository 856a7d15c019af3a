"""A running mean over rounds (Eq. 10-13), of predictions, of scores or of nothing, that steadies what is trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from actune.errors import SettingError, nearest
from actune.methods.uncertainty import Score, entropy_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    from actune.core.view import View

    State: TypeAlias = npt.NDArray[np.floating[Any]] | None  # (pool, classes), (pool,) or nothing yet

Remembers = Literal["predictions", "scores", "nothing"]


@dataclass(frozen=True)
class Pace:
    """How far a run is: the round, from 0, and the number of rounds it was planned for."""

    round: int
    horizon: int


@dataclass(frozen=True)
class Memory:
    """What is remembered ranks the rows, and remembered predictions label them; the state belongs to the session."""

    score: Score
    remembers: Remembers = "predictions"
    low: float = 0.8  # m_L, Eq. 10
    high: float = 0.9  # m_H, Eq. 10
    late: bool = False  # as the authors' scripts: the first update has m_L itself, the last one m_H

    def __post_init__(self) -> None:
        if self.remembers not in get_args(Remembers):
            raise SettingError(
                f"a memory cannot remember {self.remembers!r}: {nearest(self.remembers, get_args(Remembers))}"
            )

    def update(self, view: View, state: State, pace: Pace) -> State:
        """Eq. 10 and 12. The next state; rows that joined the pool since the last one enter as they are now."""
        if self.remembers == "nothing":
            return None
        now = view.log_proba.exp() if self.remembers == "predictions" else self.score(view).clone()
        if state is not None and pace.round > 0:
            done = (pace.round - 1, pace.horizon - 2) if self.late else (pace.round, pace.horizon)
            share = momentum(*done, self.low, self.high)
            old = now.new_tensor(state)
            mixed = share * now[: len(old)] + (1 - share) * old
            now[: len(old)] = mixed.where(~old.isnan(), now[: len(old)])  # BALD says nothing of labelled rows
        return now.cpu().numpy()

    def ranking(self, view: View, state: State) -> torch.Tensor:  # (pool,)
        """Eq. 11 and 13. How unsure the remembered model is about each row."""
        if state is None:
            return self.score(view)
        remembered = view.log_proba.new_tensor(state)
        return entropy_of(remembered.log()) if self.remembers == "predictions" else remembered

    def targets(self, view: View, state: State) -> torch.Tensor:  # (pool,)
        """Eq. 2. The class of each row: as remembered, or as predicted now where no predictions are remembered."""
        if state is None or self.remembers == "scores":
            return view.log_proba.argmax(1)
        return view.log_proba.new_tensor(state).argmax(1)


def momentum(round: int, horizon: int, low: float, high: float) -> float:
    """m_t of Eq. 10: from low to high over the horizon, and high for good after it."""
    done = min(1.0, round / horizon) if horizon > 0 else 1.0
    return (1 - done) * low + done * high
