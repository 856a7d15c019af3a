"""The weights of a network in training, moved by AdamW."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from actune.core.settings import Training

BETAS, EPSILON = (0.9, 0.999), 1e-8


class Weights:
    """A network's own weights, moved by AdamW."""

    def __init__(self, network: nn.Module, recipe: Training) -> None:
        self.trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self.device = self.trained[0].device
        self.clip = recipe.clip
        groups = [
            {"params": [weight for weight in self.trained if decays(weight)], "weight_decay": recipe.weight_decay},
            {"params": [weight for weight in self.trained if not decays(weight)], "weight_decay": 0.0},
        ]
        self.optimizer = self.make_optimizer(groups, recipe.learning_rate)

    def make_optimizer(self, groups: list[dict[str, Any]], rate: float) -> torch.optim.Optimizer:
        return torch.optim.AdamW(groups, rate, BETAS, EPSILON)

    def set_rate(self, rate: float) -> None:
        """The learning rate of the next step."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def forget_gradients(self) -> None:
        for parameter in self.trained:
            parameter.grad = None

    def update(self) -> None:
        """One step along the gradients of a backward pass, which are clipped."""
        nn.utils.clip_grad_norm_(self.trained, self.clip)
        self.optimizer.step()

    @torch.no_grad()
    def keep(self, kept: list[torch.Tensor] | None) -> list[torch.Tensor]:
        """A copy of the weights as they are, in place of an earlier one."""
        kept = kept or [torch.empty_like(weight) for weight in self.trained]
        for copy, weight in zip(kept, self.trained, strict=True):
            copy.copy_(weight)
        return kept

    @torch.no_grad()
    def finish(self, kept: list[torch.Tensor] | None) -> None:
        """Training is over: the network has the weights that were kept, or the last ones."""
        if kept is not None:
            for weight, copy in zip(self.trained, kept, strict=True):
                weight.copy_(copy)


def decays(parameter: nn.Parameter) -> bool:
    """Biases and norms are vectors and do not decay."""
    return parameter.ndim > 1
