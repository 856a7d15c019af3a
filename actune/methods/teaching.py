"""Pseudo-labels of a teacher that was fitted on the same labels: an easy draw (UST), agreement (HAST), an even draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actune.core.ranking import finite, surest_first
from actune.core.training_set import PseudoLabels
from actune.methods.memory import Pace
from actune.methods.trust import pseudo_labels_for
from actune.methods.uncertainty import entropy_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    from actune.core.view import View
    from actune.methods.memory import State

READ_AT_MOST = 16_384  # rows of the pool in a round
TINY = 1e-10  # under which a variance counts as none


@dataclass(frozen=True)
class EasyDraw:
    """UST (Mukherjee and Awadallah 2020). Equally many rows of each class; easy ones likelier, steady ones heavier."""

    samples: int = 30
    keep: int = 4096
    alpha: float = 0.1

    def __call__(self, view: View, state: State, pace: Pace) -> tuple[PseudoLabels, State]:
        import torch

        rows = looked_at(view, "easy rows")
        moments = view.moments(self.samples, rows)
        easy = easiness(finite(entropy_of(moments.mean.log()) - moments.entropy, rows, "score")).double().cpu().numpy()
        predicted = view.log_proba.argmax(1)
        classes = predicted[rows.to(predicted.device)].cpu().numpy()
        places = balanced_draw(easy, classes, self.keep, view.rng("easy draw"))
        chosen = rows[torch.from_numpy(places)].sort().values
        weights = steadiness(moments.variance.gather(1, predicted[:, None])[:, 0], self.alpha)
        return pseudo_labels_for(chosen, predicted, weights), state


def easiness(bald: torch.Tensor) -> torch.Tensor:
    """1 - BALD, which can exceed 1 for three classes and more; where all do, every row is as easy as the next."""
    easy = (1 - bald).clamp(min=0)
    return easy if easy.any() else easy + 1


def steadiness(variance: torch.Tensor, alpha: float) -> torch.Tensor:
    """UST's weight: -alpha log(variance of the predicted class over dropout passes)."""
    return -alpha * (variance + TINY).log()


def balanced_draw(
    easy: npt.NDArray[np.float64], classes: npt.NDArray[np.int64], n: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Places of n rows, equally many of each class that occurs; what a small class cannot give, the others do."""
    import numpy as np

    with np.errstate(divide="ignore"):
        keys = -np.log(rng.random(len(easy))) / easy  # the smallest keys are a draw by weight without replacement
    members = [np.flatnonzero(classes == name) for name in np.unique(classes)]
    quotas = equal_quotas([len(places) for places in members], n)
    chosen = [
        places[np.argsort(keys[places], kind="stable")[:quota]] for places, quota in zip(members, quotas, strict=True)
    ]
    return np.concatenate([np.empty(0, np.int64), *chosen])


def equal_quotas(sizes: Sequence[int], n: int) -> list[int]:
    """n shared equally among groups of these sizes; a group gives at most all it has, and the rest is shared again."""
    quotas, left = [0] * len(sizes), n
    smallest_first = sorted(range(len(sizes)), key=sizes.__getitem__)
    for place, group in enumerate(smallest_first):
        quotas[group] = min(sizes[group], -(-left // (len(sizes) - place)))  # rounded up
        left -= quotas[group]
    return quotas


@dataclass(frozen=True)
class Agreement:
    """HAST (Schroeder and Heyer 2024). Sure rows whose nearest rows are predicted alike; rare classes weigh more."""

    neighbors: int = 15  # with the row itself, which does not vote
    confidence: float = 0.5
    beta: float = 0.1

    def __call__(self, view: View, state: State, pace: Pace) -> tuple[PseudoLabels, State]:
        rows = looked_at(view, "agreeing rows")
        predicted = view.log_proba.argmax(1)
        sure = view.log_proba.amax(1)[rows.to(predicted.device)].exp() > self.confidence
        kept = rows[(agreed(view, rows, self.neighbors) & sure).cpu()]
        counts = predicted[kept.to(predicted.device)].bincount(minlength=view.log_proba.shape[1])
        return pseudo_labels_for(kept, predicted, self.beta * rarity(counts)[predicted]), state


@dataclass(frozen=True)
class EvenDraw:
    """Equally many rows of each class: UST's balance without its dropout passes and weights."""

    keep: int = 2048
    surer: float = 1.0  # the share of the candidates that rows are drawn from, the surest ones

    def __call__(self, view: View, state: State, pace: Pace) -> tuple[PseudoLabels, State]:
        import numpy as np
        import torch

        rows, predicted = self._sure_enough(view), view.log_proba.argmax(1)
        classes = predicted[rows.to(predicted.device)].cpu().numpy()
        places = balanced_draw(np.ones(len(rows)), classes, self.keep, view.rng("even draw"))
        return pseudo_labels_for(rows[torch.from_numpy(places)].sort().values, predicted), state

    def _sure_enough(self, view: View) -> torch.Tensor:
        """The surest candidates by the probability of their likeliest class, as sorted rows; ties by row."""
        rows = view.candidates
        if self.surer >= 1:
            return rows
        return surest_first(-view.log_proba.amax(1), rows)[: math.ceil(self.surer * len(rows))].sort().values


def agreed(view: View, rows: torch.Tensor, neighbors: int) -> torch.Tensor:  # (rows,), bool
    """Whether most of the nearest of these rows are predicted as each row itself is; `neighbors` counts the row too."""
    import torch

    from actune.core.neighbors import nearest_others

    points = torch.nn.functional.normalize(finite(view.embedding, rows, "embedding"))
    predicted = view.log_proba.argmax(1)
    here = predicted[rows.to(predicted.device)]
    votes, share = vote(here[nearest_others(points, neighbors - 1)], view.log_proba.shape[1])
    return (votes == here) & (share > 0.5)


def vote(classes: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The most frequent class of each row (rows, voters), the smaller one of two, and its share."""
    import torch

    if not classes.shape[1]:  # nobody to ask
        return classes.new_full((len(classes),), -1), torch.zeros(len(classes), device=classes.device)
    tally = torch.nn.functional.one_hot(classes, count).sum(1)  # (rows, classes)
    most, winner = tally.max(1)
    return winner, most / classes.shape[1]


def rarity(counts: torch.Tensor) -> torch.Tensor:
    """HAST's weight of each class: 10 sigmoid((mean - n) / n); 0 for a class without rows."""
    mean = counts.sum() // len(counts)
    return (10 * ((mean - counts) / counts.clamp(min=1)).sigmoid()).where(counts > 0, 0)


def looked_at(view: View, purpose: str) -> torch.Tensor:
    """All candidates, or a draw of as many as a round can afford, as sorted rows."""
    import torch

    count = len(view.candidates)
    if count <= READ_AT_MOST:
        return view.candidates
    places = torch.from_numpy(view.rng(purpose).choice(count, READ_AT_MOST, replace=False))
    return view.candidates[places.sort().values]
