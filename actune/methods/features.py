"""What a method measures distances in: functions of a view, one vector per row of the pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch

    from actune.core.view import View


class Features(Protocol):
    """(pool, width)"""

    def __call__(self, view: View, /) -> torch.Tensor: ...


class Factors(Protocol):
    """(pool, one width) and (pool, other width): each row's vector is the outer product of its two factors."""

    def __call__(self, view: View, /) -> tuple[torch.Tensor, torch.Tensor]: ...


def embeddings(view: View) -> torch.Tensor:  # (pool, width)
    """The encoder's last layer at the first token, as it is."""
    return view.embedding


def frozen(view: View) -> torch.Tensor:  # (pool, width)
    """Unit embeddings of the encoder before any label."""
    return view.frozen


def surprisal(view: View) -> torch.Tensor:  # (pool, tokens)
    """How much each token surprises the pretrained masked language model (ALPS)."""
    return view.surprisal


def gradient_factors(view: View) -> tuple[torch.Tensor, torch.Tensor]:  # (pool, classes), (pool, width)
    """BADGE: the last layer's gradient at the predicted class is (p - onehot) times that layer's input."""
    head_input = view.head_input  # asked for first, so that one read gives it and the predictions
    proba = view.log_proba.exp()
    likeliest = proba.argmax(1, keepdim=True)
    others = proba.scatter(1, likeliest, 0)
    # p - 1 of the likeliest class, from the others: p itself rounds to 1 for confident rows
    return others.scatter(1, likeliest, -others.sum(1, keepdim=True)), head_input


@dataclass(frozen=True)
class Propagation:
    """Classes that spread from the labelled rows along a graph of nearest embeddings (pool, classes)."""

    neighbors: int = 50
    alpha: float = 0.99

    def __call__(self, view: View) -> torch.Tensor:
        return view.cached(self, lambda: self._spread(view))

    def _spread(self, view: View) -> torch.Tensor:
        from actune.core.graph import neighbor_graph, propagate

        if len(view.labelled) == 0:
            return view.log_proba.exp()  # nothing spreads yet: each row is what the model says
        graph = neighbor_graph(view.embedding, self.neighbors)
        classes = view.log_proba.shape[1]
        found = propagate(graph, view.labelled.numpy(), view.labels.numpy(), classes, self.alpha)
        return view.log_proba.new_tensor(found)
