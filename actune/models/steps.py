"""One step of training: forward, backward, clip, update. On a GPU whole steps are replayed from CUDA graphs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

Tensors = dict[str, torch.Tensor]


class Step:
    """A step as Python runs it."""

    def __init__(self, network: nn.Module, loss_of: Callable[[Tensors], torch.Tensor], clip: float) -> None:
        self.trainable = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self.device = self.trainable[0].device
        self.loss_of = loss_of
        self.clip = clip

    def __call__(self, optimizer: torch.optim.Optimizer, batch: Tensors) -> None:
        self._run(optimizer, {name: tensor.to(self.device, non_blocking=True) for name, tensor in batch.items()})

    def _run(self, optimizer: torch.optim.Optimizer, batch: Tensors) -> None:
        optimizer.zero_grad(set_to_none=True)
        self.loss_of(batch).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.trainable, self.clip)
        optimizer.step()


class GraphedStep(Step):
    """A step of thousands of small kernels costs more to launch than to run, so each shape of batch is recorded once.

    The first steps of a shape run as usual: they warm up what a recording must find in place, and count as training.
    """

    warm_up = 3
    most = 32  # recordings, each with memory of its own

    def __init__(self, network: nn.Module, loss_of: Callable[[Tensors], torch.Tensor], clip: float) -> None:
        super().__init__(network, loss_of, clip)
        self._stream = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]
        self._memory = torch.cuda.graph_pool_handle()
        self._seen: dict[Hashable, int] = {}
        self._recorded: dict[Hashable, tuple[torch.cuda.CUDAGraph, Tensors]] = {}

    def __call__(self, optimizer: torch.optim.Optimizer, batch: Tensors) -> None:
        shape = tuple((name, *tensor.shape) for name, tensor in batch.items())
        if shape not in self._recorded:
            self._seen[shape] = self._seen.get(shape, 0) + 1
            if self._seen[shape] <= self.warm_up or len(self._recorded) >= self.most:
                return self._aside(optimizer, batch)
            if not self._record(shape, optimizer, batch):
                return self._aside(optimizer, batch)
        graph, kept = self._recorded[shape]
        for name, tensor in batch.items():
            kept[name].copy_(tensor, non_blocking=True)
        graph.replay()

    def _aside(self, optimizer: torch.optim.Optimizer, batch: Tensors) -> None:
        """As usual, but on the stream that records: gradients remember where they were made."""
        self._stream.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(self._stream):
            super().__call__(optimizer, batch)
        torch.cuda.current_stream(self.device).wait_stream(self._stream)

    def _record(self, shape: Hashable, optimizer: torch.optim.Optimizer, batch: Tensors) -> bool:
        kept = {name: tensor.to(self.device, copy=True) for name, tensor in batch.items()}
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize(self.device)
        try:
            with self.device, ConstantsInPlace(), torch.cuda.graph(graph, pool=self._memory, stream=self._stream):
                self._run(optimizer, kept)
        except RuntimeError as error:  # an encoder that looks at its own values while it runs
            warnings.warn(f"this encoder's steps cannot be recorded and run slower: {error}", stacklevel=2)
            self.most = 0
            return False
        self._recorded[shape] = graph, kept
        return True


class ConstantsInPlace(TorchFunctionMode):
    """A recording cannot copy from the host: constants that an encoder makes while it runs are filled in on the GPU.

    Tensors that it makes without naming a device land there too, by the device that is set around it.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.tensor and args and isinstance(args[0], (bool, int, float)):
            return torch.full((), args[0], dtype=kwargs.get("dtype"), device=kwargs.get("device"))
        return func(*args, **kwargs)


def make_step(network: nn.Module, loss_of: Callable[[Tensors], torch.Tensor], clip: float) -> Step:
    """The fastest kind of step on the network's device."""
    kind = GraphedStep if next(network.parameters()).device.type == "cuda" else Step
    return kind(network, loss_of, clip)
