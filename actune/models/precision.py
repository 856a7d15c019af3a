"""Which number format the products of a network use, by device."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

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


@contextmanager
def reading(network: nn.Module, in_half: bool, half: nn.Module | None = None) -> Iterator[nn.Module]:
    """The network as a read runs it, with its head in float32 on every device.

    bfloat16 keeps three digits. Of log-probabilities rounded to them many are equal, and of those near 0 most: the
    surest texts would be ranked by their row. With `in_half` the encoder below the head computes in bfloat16, where
    that is native; `half` is its copy for this, where there is one. During training a network may be bfloat16 itself:
    its head is then a float32 copy.
    """
    running = (half or halved(network)) if in_half else network
    heads = {name: (running.get_submodule(name), network.get_submodule(name)) for name in head_names(network)}
    try:
        for name, (_, own) in heads.items():
            head = copy.copy(own) if _is_float32(own) else copy.deepcopy(own).float()
            head.forward = _in_float32(head.forward)
            running.set_submodule(name, head)
        yield running
    finally:
        for name, (before, _) in heads.items():
            running.set_submodule(name, before)


def head_names(network: nn.Module) -> list[str]:
    """What stands on the encoder's hidden states: the classification head, and a pooler where there is one."""
    body = network.base_model_prefix
    names = [name for name, _ in network.named_children() if name != body]
    has_pooler = isinstance(getattr(network.base_model, "pooler", None), nn.Module)
    return [f"{body}.pooler", *names] if has_pooler else names


def _is_float32(module: nn.Module) -> bool:
    return all(weight.dtype == torch.float32 for weight in module.parameters())


def _in_float32(forward: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(forward)
    def run(states: torch.Tensor, *rest: Any, **named: Any) -> Any:
        with torch.autocast(states.device.type, enabled=False):
            return forward(states.float(), *rest, **named)

    return run


def native(device: torch.device) -> bool:
    """Whether products of bfloat16 numbers are faster there than those of float32."""
    if device.type != "cpu":
        return device.type == "cuda"
    capabilities: Mapping[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # torch 2.11 may lack it
    return bool(capabilities.get("avx512_bf16", False))


def name(device: torch.device) -> str:
    """What a run uses here, for its record: it decides the last bits of a result."""
    return "bfloat16" if native(device) else "float32"


def _bfloat16(device: torch.device, enabled: bool) -> torch.autocast:
    # casts are not cached: a recorded step must hold its own
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled, cache_enabled=False)
