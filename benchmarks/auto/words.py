"""Words that the search for `auto` tried beside the product's own: queries, and what a teacher passes on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from actune.core.kmeans import kmeans
from actune.core.neighbors import nearest_others
from actune.core.ranking import finite, least_sure_first
from actune.core.training_set import PseudoLabels
from actune.methods.features import Features, embeddings
from actune.methods.teaching import equal_quotas, looked_at, vote
from actune.methods.trust import Pace, trusted
from actune.methods.uncertainty import Score, entropy_of, margin

if TYPE_CHECKING:
    from actune.core.view import View
    from actune.methods.memory import State

Weighing = Literal["one", "lead", "certainty", "confidence"]


@dataclass(frozen=True)
class Distinct:
    """The least sure row of each group among the `factor` n least sure (after Zhdanov 2019)."""

    score: Score = margin
    factor: int = 10
    features: Features = embeddings
    weighted: bool = False

    def __call__(self, view: View, n: int) -> torch.Tensor:
        unsure = least_sure_first(self.score(view), view.candidates)[: self.factor * n]
        if len(unsure) <= n:
            return unsure[:n]
        points = finite(self.features(view), unsure, "embedding")
        weights = finite(self.score(view), unsure, "score").clamp(min=0) if self.weighted else None
        groups = kmeans(points, weights, k=n, rng=view.rng("distinct"), restarts=1, warn=False).labels.cpu()
        first = {}
        for place, group in enumerate(groups.tolist()):
            first.setdefault(group, place)
        chosen = sorted(first.values())
        taken = set(chosen)
        chosen += [place for place in range(len(unsure)) if place not in taken][: n - len(chosen)]
        return unsure[chosen]


@dataclass(frozen=True)
class Drawn:
    """Rows of the whole pool as predicted; `even` 1 takes equally many of each class, 0 as many as are predicted."""

    keep: int = 4096
    even: float = 1.0
    weigh: Weighing = "lead"
    least: float = 0.0  # confidence
    agreeing: int = 0  # nearest rows that must agree
    surest: bool = False  # the surest of each class instead of any
    soft: bool = False  # with what the teacher says of every class

    def __call__(self, view: View, state: State, pace: Pace) -> tuple[PseudoLabels, State]:
        rows = looked_at(view, "drawn rows")
        log_proba = view.log_proba
        predicted, sure = log_proba.argmax(1), log_proba.amax(1).exp()
        fits = sure[rows] > self.least
        if self.agreeing:
            points = torch.nn.functional.normalize(finite(view.embedding, rows, "embedding"))
            votes, share = vote(predicted[rows][nearest_others(points, self.agreeing - 1)], log_proba.shape[1])
            fits &= (votes == predicted[rows]) & (share > 0.5)
        rows = rows[fits]
        classes = predicted[rows].numpy()
        rng = view.rng("drawn")
        order = (-sure[rows]).numpy() if self.surest else rng.random(len(rows))
        members = [np.flatnonzero(classes == name) for name in np.unique(classes)]
        quotas = shared_quotas([len(places) for places in members], self.keep, self.even)
        chosen = [p[np.argsort(order[p], kind="stable")[:q]] for p, q in zip(members, quotas, strict=True)]
        places = np.sort(np.concatenate([np.empty(0, np.int64), *chosen]))
        found = trusted(rows[torch.from_numpy(places)], predicted, self._weights(view))
        return replace(found, proba=log_proba[found.rows].exp().numpy()) if self.soft else found, state

    def _weights(self, view: View) -> torch.Tensor:
        log_proba = view.log_proba
        if self.weigh == "one":
            return torch.ones(len(log_proba))
        if self.weigh == "lead":
            return 1 - margin(view)
        if self.weigh == "confidence":
            return log_proba.amax(1).exp()
        return (1 - entropy_of(log_proba) / np.log(log_proba.shape[1])).clamp(0, 1)


def shared_quotas(sizes: list[int], n: int, even: float) -> list[int]:
    if even == 1:
        return equal_quotas(sizes, n)
    if sum(sizes) <= n:
        return sizes
    wanted = np.asarray(sizes, float) ** (1 - even)
    quotas, left = np.zeros(len(sizes), int), n
    while left > 0 and (free := quotas < sizes).any():
        more = np.minimum(np.ceil(left * wanted * free / (wanted * free).sum()), np.asarray(sizes) - quotas).astype(int)
        for place in np.argsort(sizes):
            step = min(more[place], left)
            quotas[place] += step
            left -= step
    return quotas.tolist()
