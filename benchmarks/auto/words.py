"""What a teacher may pass on, as the search for `auto` tried it beside the product's own words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from actune.core.training_set import PseudoLabels
from actune.methods.memory import Pace
from actune.methods.teaching import agreed, equal_quotas, looked_at
from actune.methods.trust import pseudo_labels_for
from actune.methods.uncertainty import entropy_of, margin

if TYPE_CHECKING:
    from actune.core.view import View
    from actune.methods.memory import State

Weighing = Literal["one", "lead", "certainty"]


@dataclass(frozen=True)
class Drawn:
    """Rows of the whole pool as predicted; `even` 1 takes equally many of each class, 0 as many as are predicted."""

    keep: int = 4096
    even: float = 1.0
    weigh: Weighing = "lead"
    agreeing: int = 0  # nearest rows that must agree
    surest: bool = False  # the surest of each class instead of any
    soft: bool = False  # with what the teacher says of every class

    def __call__(self, view: View, state: State, pace: Pace) -> tuple[PseudoLabels, State]:
        rows = looked_at(view, "drawn rows")
        log_proba = view.log_proba
        predicted, sure = log_proba.argmax(1), log_proba.amax(1).exp()
        if self.agreeing:
            rows = rows[agreed(view, rows, self.agreeing)]
        classes = predicted[rows].numpy()
        rng = view.rng("drawn")
        order = (-sure[rows]).numpy() if self.surest else rng.random(len(rows))
        members = [np.flatnonzero(classes == name) for name in np.unique(classes)]
        quotas = shared_quotas([len(places) for places in members], self.keep, self.even)
        chosen = [p[np.argsort(order[p], kind="stable")[:q]] for p, q in zip(members, quotas, strict=True)]
        places = np.sort(np.concatenate([np.empty(0, np.int64), *chosen]))
        found = pseudo_labels_for(rows[torch.from_numpy(places)], predicted, self._weights(view))
        return replace(found, proba=log_proba[found.rows].exp().numpy()) if self.soft else found, state

    def _weights(self, view: View) -> torch.Tensor:
        log_proba = view.log_proba
        if self.weigh == "one":
            return torch.ones(len(log_proba))
        if self.weigh == "lead":
            return 1 - margin(view)
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
