"""Weights whose update is a few large kernels: torch's fused AdamW, and bfloat16 weights beside float32 ones."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import torch
from torch import nn

from actune.core.settings import Training
from actune.models.fast.compiling import fused
from actune.models.weights import BETAS, EPSILON, Weights, decays

APART = 64  # weights begin at multiples of this in a row of them, where a GPU's products like them to


class FusedWeights(Weights):
    """A network's own weights, moved by fused AdamW; a rate that lies on the GPU may change between replays."""

    def make_optimizer(self, groups: list[dict[str, Any]], rate: float) -> torch.optim.Optimizer:
        if self.device.type == "cpu":
            return torch.optim.AdamW(groups, rate, BETAS, EPSILON, fused=True)
        on_device = torch.tensor(rate, device=self.device)
        return torch.optim.AdamW(groups, on_device, BETAS, EPSILON, fused=True, capturable=True)

    def set_rate(self, rate: float) -> None:
        if self.device.type == "cpu":
            return super().set_rate(rate)
        for group in self.optimizer.param_groups:
            group["lr"].fill_(rate)

    @torch.no_grad()
    def keep(self, kept: list[torch.Tensor] | None) -> list[torch.Tensor]:
        kept = kept or [torch.empty_like(weight) for weight in self.trained]
        torch._foreach_copy_(kept, self.trained)  # type: ignore[arg-type]
        return kept

    @torch.no_grad()
    def finish(self, kept: list[torch.Tensor] | None) -> None:
        if kept is not None:
            torch._foreach_copy_(self.trained, kept)  # type: ignore[arg-type]


class HalfWeights(FusedWeights):
    """The network computes with bfloat16 weights; steps too small for these add up in float32 ones.

    All that are trained lie in one row, so that an update is a single pass over memory.
    """

    def __init__(self, network: nn.Module, recipe: Training) -> None:
        trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self.trained = sorted(trained, key=decays, reverse=True)  # those with weight decay first
        self.device, self.clip = trained[0].device, recipe.clip
        sizes = [-(-parameter.numel() // APART) * APART for parameter in self.trained]
        begins, length = [0, *accumulate(sizes)][:-1], sum(sizes)
        decaying = sum(size for size, parameter in zip(sizes, self.trained, strict=True) if decays(parameter))
        self.parts = [(slice(0, decaying), recipe.weight_decay), (slice(decaying, length), 0.0)]
        self.whole, self.mean, self.square = torch.zeros(3, length, device=self.device)
        self.half, self.gradient = torch.zeros(2, length, device=self.device, dtype=torch.bfloat16)
        self.whole_of, half_of, self.gradient_of = (
            [row[begin : begin + p.numel()].view(p.shape) for begin, p in zip(begins, self.trained, strict=True)]
            for row in (self.whole, self.half, self.gradient)
        )
        others = [parameter for parameter in network.parameters() if not parameter.requires_grad]
        self.running = list(zip(self.trained, half_of, strict=True))
        self.running += [(p, torch.empty_like(p.data, dtype=torch.bfloat16)) for p in others]
        self.rate, self.count = torch.zeros(2, device=self.device)
        self.begin()

    @torch.no_grad()
    def begin(self) -> None:
        """Takes the network's weights as they are now; of their gradients nothing is known yet.

        Everything stays where it lies in memory, so that recorded steps can be replayed for the next fit too.
        """
        self.own = [(parameter, parameter.data) for parameter, _ in self.running]
        torch._foreach_copy_(self.whole_of, [parameter.data for parameter in self.trained])
        for row in (self.gradient, self.mean, self.square, self.count):
            row.zero_()
        for parameter, value in self.running:
            value.copy_(parameter.data)
            parameter.data = value

    def set_rate(self, rate: float) -> None:
        self.rate.fill_(rate)

    @torch.no_grad()
    def update(self) -> None:
        given = [(row, p.grad) for row, p in zip(self.gradient_of, self.trained, strict=True) if p.grad is not None]
        torch._foreach_copy_([row for row, _ in given], [gradient for _, gradient in given])
        scale = clipping(self.gradient, self.clip)
        self.count += 1
        for part, decay in self.parts:
            whole, half, gradient = self.whole[part], self.half[part], self.gradient[part]
            adamw(whole, half, gradient, self.mean[part], self.square[part], self.rate, self.count, scale, decay)

    def keep(self, kept: list[torch.Tensor] | None) -> list[torch.Tensor]:
        return [kept[0].copy_(self.whole)] if kept else [self.whole.clone()]

    @torch.no_grad()
    def finish(self, kept: list[torch.Tensor] | None) -> None:
        if kept is not None:
            self.whole.copy_(kept[0])
        for parameter, value in self.own:
            parameter.grad, parameter.data = None, value
        torch._foreach_copy_([parameter.data for parameter in self.trained], self.whole_of)


@fused
def clipping(gradient: torch.Tensor, longest: float) -> torch.Tensor:
    """What makes a gradient no longer than this."""
    length: torch.Tensor = torch.linalg.vector_norm(gradient, dtype=torch.float32)
    return longest / length.clamp(min=longest)


@fused
def adamw(
    weights: torch.Tensor,
    half: torch.Tensor,
    gradient: torch.Tensor,
    mean: torch.Tensor,
    square: torch.Tensor,
    rate: torch.Tensor,
    count: torch.Tensor,
    scale: torch.Tensor,
    decay: float,
) -> None:
    """One step of AdamW on weights in a row, and their values in bfloat16."""
    gradient = gradient.float() * scale
    mean.lerp_(gradient, 1 - BETAS[0])
    square.lerp_(gradient.square(), 1 - BETAS[1])
    fast, slow = 1 - BETAS[0] ** count, 1 - BETAS[1] ** count  # both begin at zero, which these make up for
    weights.mul_(1 - rate * decay)
    weights.sub_(rate * (mean / fast) / ((square / slow).sqrt() + EPSILON))
    half.copy_(weights)
