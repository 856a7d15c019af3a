"""Several passes with dropout on: what they say on average, and how much they disagree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from actune.errors import MissingSignal
from actune.models.encoders import outline

KEEPS_STATISTICS = (nn.modules.batchnorm._BatchNorm, nn.modules.instancenorm._InstanceNorm)
Passes = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def moments_of(draw: Callable[[], torch.Tensor], samples: int) -> Passes:
    """Mean, mean entropy and variance of `samples` drawn log-probabilities (rows, classes), none of which is kept.

    By Welford's update: passes that agree have a variance of exactly 0, which E[p^2] - E[p]^2 has not.
    """
    mean = entropy = scatter = torch.zeros(())
    for done in range(1, samples + 1):
        log_proba = draw()
        proba = log_proba.exp()
        delta = proba - mean.to(proba)
        mean = mean.to(proba) + delta / done
        scatter = scatter.to(proba) + delta * (proba - mean)
        entropy = entropy.to(proba) - (proba * log_proba.where(proba > 0, 0)).sum(1)
    return mean, entropy / samples, scatter / samples


@contextmanager
def dropout_on(network: nn.Module, seed: int) -> Iterator[None]:
    """Dropout as in training, drawn from `seed`, and everything else as in reading.

    Attention asks its own module, not a dropout layer, whether it is in training. So all modules are, but for those
    that keep statistics of what they see in training.
    """
    if not dropout_layers(network):
        raise MissingSignal("this model has no dropout to sample: use margin instead of BALD, or st instead of UST")
    device = next(network.parameters()).device
    network.eval()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        try:
            network.train()
            for module in network.modules():
                if isinstance(module, KEEPS_STATISTICS):
                    module.eval()
            yield
        finally:
            network.eval()


def has_dropout(folder: Path) -> bool:
    """Whether the encoder's own classifier drops anything in training; no weight is loaded."""
    with torch.device("meta"):
        return bool(dropout_layers(outline(folder)))


def dropout_layers(network: nn.Module) -> list[nn.Module]:
    """The layers that drop something in training."""
    return [layer for layer in network.modules() if isinstance(layer, nn.Dropout) and layer.p > 0]
