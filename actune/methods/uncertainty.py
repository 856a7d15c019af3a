"""How unsure a model is about each row of the pool: functions of a view, where a higher score is less sure."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from actune.core.ranking import finite
from actune.methods.features import Propagation

if TYPE_CHECKING:
    import torch

    from actune.core.view import View


class Score(Protocol):
    """One number per row of the pool; hashable, because what is derived from it is cached under it."""

    def __call__(self, view: View, /) -> torch.Tensor: ...


def entropy(view: View) -> torch.Tensor:  # (pool,)
    """The entropy of the predicted classes, in nats."""
    return view.cached(entropy, lambda: entropy_of(view.log_proba))


def least_confidence(view: View) -> torch.Tensor:  # (pool,)
    """What the likeliest class leaves to the others."""
    return view.cached(least_confidence, lambda: _others(view.log_proba).sum(1))


def margin(view: View) -> torch.Tensor:  # (pool,)
    """One minus the lead of the likeliest class over the next: 1 where two classes are equally likely."""

    def score() -> torch.Tensor:
        others = _others(view.log_proba)
        return others.sum(1) + others.amax(1)  # 1 - p1 from the others: p1 itself rounds to 1 for confident rows

    return view.cached(margin, score)


@dataclass(frozen=True)
class Bald:
    """How much dropout passes disagree (Gal et al. 2017): the entropy of their mean less their mean entropy."""

    samples: int = 10

    def __call__(self, view: View) -> torch.Tensor:  # (pool,), NaN outside the unlabelled rows
        def score() -> torch.Tensor:
            moments = view.moments(self.samples)
            return (entropy_of(moments.mean.log()) - moments.entropy).clamp(min=0)

        return view.cached(self, score)


@dataclass(frozen=True)
class Adversarial:
    """How far a small worst perturbation takes a row from the class that its neighbours give it: KL(graph || model)."""

    given: Propagation
    epsilon: float = 1.0

    def __call__(self, view: View) -> torch.Tensor:  # (pool,)
        return view.cached(self, lambda: divergence(self.given(view).log(), view.perturbed(self.epsilon)))


@dataclass(frozen=True)
class Cal:
    """Contrast with the nearest labelled rows (Margatina et al. 2021): mean KL(neighbour || row)."""

    neighbors: int = 10
    normalise: bool = True  # embeddings to length 1, as in CAL; AcTune's released code does not

    def __call__(self, view: View) -> torch.Tensor:  # (pool,)
        return view.cached(self, lambda: self._score(view))

    def _score(self, view: View) -> torch.Tensor:
        if len(view.labelled) == 0:
            warnings.warn("CAL needs labelled texts and there are none yet: entropy is used instead", stacklevel=2)
            return entropy(view)
        import torch

        from actune.core.kmeans import BLOCK

        def points(rows: torch.Tensor) -> torch.Tensor:
            found = finite(view.embedding, rows, "embedding")
            return torch.nn.functional.normalize(found) if self.normalise else found

        pool, classes = view.log_proba.shape
        known, known_points = view.log_proba[view.labelled.to(view.log_proba.device)], points(view.labelled)
        size = min(BLOCK, max(1, 2**24 // (self.neighbors * classes)))
        scores = [
            contrast(view.log_proba[rows[0] : rows[-1] + 1], points(rows), known, known_points, self.neighbors)
            for rows in torch.split(torch.arange(pool), size)
        ]
        return torch.cat(scores)


def _others(log_proba: torch.Tensor) -> torch.Tensor:  # (rows, classes)
    """The probabilities with 0 for the likeliest class."""
    return log_proba.exp().scatter(1, log_proba.argmax(1, keepdim=True), 0)


def entropy_of(log_proba: torch.Tensor) -> torch.Tensor:
    """The entropy of each row (rows, classes), from log-probabilities; -inf counts as 0.

    The likeliest class takes its share from the others: in float32 its own logarithm is 0 for every confident row.
    """
    others = _others(log_proba)
    rest = others.sum(1)
    return -(others * log_proba.where(others > 0, 0)).sum(1) - (1 - rest) * (-rest).log1p()


def contrast(
    log_proba: torch.Tensor,
    points: torch.Tensor,
    known_log_proba: torch.Tensor,
    known_points: torch.Tensor,
    neighbors: int,
) -> torch.Tensor:
    """CAL's score of each row against the labelled ones: what a row's neighbours say and the row does not."""
    from actune.core.neighbors import nearest_points

    nearest = nearest_points(points, known_points, neighbors)  # (rows, k)
    return divergence(known_log_proba[nearest], log_proba[:, None]).mean(1)


def divergence(log_p: torch.Tensor, log_q: torch.Tensor) -> torch.Tensor:
    """KL(p || q) over the last axis; a class that p rules out adds nothing."""
    p = log_p.exp()
    return (p * (log_p - log_q).where(p > 0, 0)).sum(-1).clamp(min=0)
