"""What a method measures distances in: functions of a view, one vector per row of the pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch

    from actune.core.view import View


class Features(Protocol):
    """(pool, width)"""

    def __call__(self, view: View, /) -> torch.Tensor: ...


def embeddings(view: View) -> torch.Tensor:  # (pool, width)
    """The encoder's last layer at the first token, as it is."""
    return view.embedding
