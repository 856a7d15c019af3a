"""What the layers in the middle of an encoder give, beside its own embedding.

The last layers of a sentence encoder were trained for one purpose, mostly the topic of a text. The layers below them
know more about its form: what kind of question it is, or which part of an abstract.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(eq=False)
class Middle:
    """The sum over these layers in one pass, which has the direction of their mean."""

    layers: range  # counted from 1
    sum: torch.Tensor | None = None  # float32: (texts, longest, width), and (tokens, width) during a packed pass

    def add(self, layer: int, states: torch.Tensor) -> None:
        if layer in self.layers:
            self.sum = states.float() if self.sum is None else self.sum + states.float()


def middle_of(count: int) -> range:
    """From half of the layers to two thirds, counted from 1: 3 and 4 of 6, 6 to 8 of 12."""
    return range(max(1, count // 2), 2 * count // 3 + 1)


def middle_layers(network: nn.Module) -> range:
    """Those of an encoder; none where it has no stack of several layers."""
    count = len(stack_of(network))
    return middle_of(count) if count > 1 else range(0)


def stack_of(network: nn.Module) -> nn.ModuleList:
    """The encoder's layers."""
    stacks = [module for module in network.modules() if isinstance(module, nn.ModuleList)]
    return max(stacks, key=len, default=nn.ModuleList())


@contextmanager
def summed(network: nn.Module, middle: Middle) -> Iterator[None]:
    """Inside, a pass of the network as it is adds up what the layers give."""

    def seen(number: int) -> Any:
        def add(_: nn.Module, __: Any, output: Any) -> None:
            middle.add(number, output[0] if isinstance(output, tuple) else output)

        return add

    layers = stack_of(network)
    hooks = [layers[number - 1].register_forward_hook(seen(number)) for number in middle.layers]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
