"""Which number format the products of a network use, by device."""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
from torch import nn

Network = TypeVar("Network", bound=nn.Module)


def for_training(device: torch.device) -> torch.autocast:
    """bfloat16 products where the device multiplies it natively (twice as fast on a CPU); float32 elsewhere."""
    return _bfloat16(device, native(device))


def for_reading(device: torch.device) -> torch.autocast:
    """The same for reading padded batches on a GPU; float32 on a CPU, where such a readout depends on its batch."""
    return _bfloat16(device, device.type == "cuda")


def halved(network: Network) -> Network:
    """A copy for reading whose weights are bfloat16, where that is native; else the network itself."""
    weight = next(network.parameters())
    if weight.dtype != torch.float32 or not native(weight.device):
        return network
    return copy.deepcopy(network).to(torch.bfloat16)


def native(device: torch.device) -> bool:
    """Whether products of bfloat16 numbers are faster there than those of float32."""
    supported = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return device.type == "cuda" or (device.type == "cpu" and bool(supported and supported()))


def name(device: torch.device) -> str:
    """What a run uses here, for its record: it decides the last bits of a result."""
    return "bfloat16" if native(device) else "float32"


def _bfloat16(device: torch.device, enabled: bool) -> torch.autocast:
    # casts are not cached: a recorded step must hold its own
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled, cache_enabled=False)
