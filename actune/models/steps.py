"""One step of training: forward, backward, clip, update."""

from __future__ import annotations

from collections.abc import Callable

import torch

from actune.models.tokens import NamedTensors
from actune.models.weights import Weights


class Step:
    """A step as Python runs it."""

    def __init__(self, weights: Weights, loss_of: Callable[[NamedTensors], torch.Tensor]) -> None:
        self.weights = weights
        self.device = weights.device
        self.loss_of = loss_of

    def __call__(self, batch: NamedTensors) -> None:
        self._run({name: tensor.to(self.device, non_blocking=True) for name, tensor in batch.items()})

    def _run(self, batch: NamedTensors) -> None:
        self.weights.forget_gradients()
        self.loss_of(batch).backward()  # type: ignore[no-untyped-call]
        self.weights.update()
