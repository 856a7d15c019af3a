"""Training steps on a GPU that are recorded once and then replayed as CUDA graphs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from actune.core.settings import Training
from actune.models.fast.weights import FusedWeights
from actune.models.steps import Step
from actune.models.tokens import NamedTensors
from actune.models.weights import Weights


class GraphedStep(Step):
    """A step of thousands of small kernels costs more to launch than to run, so each shape of batch is recorded once.

    The first steps of a shape run as usual: they warm up what a recording must find in place, and count as training.
    """

    warm_up = 3
    most = 64  # recordings, each with memory of its own

    def __init__(self, weights: Weights, loss_of: Callable[[NamedTensors], torch.Tensor]) -> None:
        super().__init__(weights, loss_of)
        self._stream = _stream_for(self.device)
        self._memory = torch.cuda.graph_pool_handle()
        self._seen: dict[Hashable, int] = {}
        self._recorded: dict[Hashable, tuple[torch.cuda.CUDAGraph, NamedTensors]] = {}

    def __call__(self, batch: NamedTensors) -> None:
        shape = tuple((name, *tensor.shape) for name, tensor in batch.items())
        if shape not in self._recorded:
            self._seen[shape] = self._seen.get(shape, 0) + 1
            enough = 1 if self._recorded else self.warm_up
            if self._seen[shape] <= enough or len(self._recorded) >= self.most:
                return self._aside(batch)
            if not self._record(shape, batch):
                return self._aside(batch)
        graph, kept = self._recorded[shape]
        for name, tensor in batch.items():
            kept[name].copy_(_pinned(tensor), non_blocking=True)
        graph.replay()

    def _run(self, batch: NamedTensors) -> None:
        with self.device, ConstantsInPlace():  # a warm-up too, or what it compiles would not fit the recording
            super()._run(batch)

    def _aside(self, batch: NamedTensors) -> None:
        """As usual, but on the stream that records: gradients remember where they were made."""
        self._stream.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(self._stream):
            super().__call__(batch)
        torch.cuda.current_stream(self.device).wait_stream(self._stream)

    def _record(self, shape: Hashable, batch: NamedTensors) -> bool:
        kept = {name: tensor.to(self.device, copy=True) for name, tensor in batch.items()}
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize(self.device)
        try:
            with torch.cuda.graph(graph, pool=self._memory, stream=self._stream):
                self._run(kept)
        except RuntimeError as error:  # an encoder that looks at its own values while it runs
            warnings.warn(f"CUDA graphs cannot be used with this encoder, so training is slower: {error}", stacklevel=2)
            self.most = 0
            return False
        self._recorded[shape] = graph, kept
        return True


@cache
def _stream_for(device: torch.device) -> torch.cuda.Stream:
    """Where all steps are recorded: a weight remembers the stream of its gradients, and several steps may share it."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


def _pinned(tensor: torch.Tensor) -> torch.Tensor:
    """From pinned memory a copy to the GPU waits for no earlier step."""
    return tensor.pin_memory() if tensor.device.type == "cpu" else tensor


class ConstantsInPlace(TorchFunctionMode):
    """A recording cannot copy from the host: constants that an encoder makes while it runs are filled in on the GPU.

    NamedTensors that it makes without naming a device land there too, by the device that is set around it.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.tensor and args and isinstance(args[0], (bool, int, float)):
            return torch.full((), args[0], dtype=kwargs.get("dtype"), device=kwargs.get("device"))
        return func(*args, **kwargs)


def make_fast_steps(
    network: nn.Module, recipe: Training, loss_of: Callable[[NamedTensors], torch.Tensor]
) -> tuple[Weights, Step]:
    """Weights and steps of a network."""
    weights = FusedWeights(network, recipe)
    return weights, step_kind(weights.device)(weights, loss_of)


def step_kind(device: torch.device) -> type[Step]:
    """How steps run there."""
    return GraphedStep if device.type == "cuda" else Step
