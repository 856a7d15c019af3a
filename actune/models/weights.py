"""The weights that training moves: those of the network itself, or float32 ones beside its bfloat16 ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import nn

from actune.core.settings import Training
from actune.models.compiling import fused

BETAS, EPSILON = (0.9, 0.999), 1e-8
APART = 64  # weights begin at multiples of this in a row of them, where a GPU's products like them to


class Weights:
    """A network's own weights, moved by AdamW."""

    def __init__(self, network: nn.Module, recipe: Training) -> None:
        self.trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self.device = self.trained[0].device
        self.clip = recipe.clip
        self.optimizer = make_optimizer(self.trained, recipe)

    def set_rate(self, rate: float) -> None:
        """The learning rate of the next step."""
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)
            else:
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
        torch._foreach_copy_(kept, self.trained)  # type: ignore[arg-type]
        return kept

    @torch.no_grad()
    def finish(self, kept: list[torch.Tensor] | None) -> None:
        """Training is over: the network has the weights that were kept, or the last ones."""
        if kept is not None:
            torch._foreach_copy_(self.trained, kept)  # type: ignore[arg-type]


class HalfWeights(Weights):
    """The network computes with bfloat16 weights; steps too small for these add up in float32 ones.

    All that are trained lie in one row, so that an update is a single pass over memory.
    """

    def __init__(self, network: nn.Module, recipe: Training) -> None:
        trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self.trained = sorted(trained, key=stays)  # what decays comes first
        self.device, self.clip = trained[0].device, recipe.clip
        self.own = [(parameter, parameter.data) for parameter in network.parameters()]
        sizes = [-(-parameter.numel() // APART) * APART for parameter in self.trained]
        begins, length = [0, *accumulate(sizes)][:-1], sum(sizes)
        decaying = sum(size for size, parameter in zip(sizes, self.trained, strict=True) if not stays(parameter))
        self.parts = [(slice(0, decaying), recipe.weight_decay), (slice(decaying, length), 0.0)]
        self.whole, self.mean, self.square = torch.zeros(3, length, device=self.device)
        self.half, self.gradient = torch.zeros(2, length, device=self.device, dtype=torch.bfloat16)
        self.whole_of, self.half_of, self.gradient_of = (
            [row[begin : begin + p.numel()].view(p.shape) for begin, p in zip(begins, self.trained, strict=True)]
            for row in (self.whole, self.half, self.gradient)
        )
        torch._foreach_copy_(self.whole_of, [parameter.data for parameter in self.trained])
        self.half.copy_(self.whole)
        for parameter, value in self.own:
            parameter.data = value.to(torch.bfloat16)
        for parameter, value in zip(self.trained, self.half_of, strict=True):
            parameter.data = value
        self.rate, self.count = torch.zeros(2, device=self.device)

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


def stays(parameter: nn.Parameter) -> bool:
    """Biases and norms are vectors and do not decay."""
    return parameter.ndim <= 1


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


def make_optimizer(weights: Sequence[nn.Parameter], recipe: Training) -> torch.optim.Optimizer:
    """AdamW. A rate that lies on the GPU may change between replays."""
    groups = [
        {"params": [weight for weight in weights if not stays(weight)], "weight_decay": recipe.weight_decay},
        {"params": [weight for weight in weights if stays(weight)], "weight_decay": 0.0},
    ]
    device = weights[0].device
    if device.type == "cpu":
        return torch.optim.AdamW(groups, recipe.learning_rate, BETAS, EPSILON, fused=True)
    rate = torch.tensor(recipe.learning_rate, device=device)
    return torch.optim.AdamW(groups, rate, BETAS, EPSILON, fused=True, capturable=True)
