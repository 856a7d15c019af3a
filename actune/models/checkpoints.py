"""A fit that takes minutes keeps its state now and then: after a kill it goes on, and ends with the same bits."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from actune.core.classifier import Labelled
from actune.core.files import replacing
from actune.core.training_set import TrainingSet
from actune.errors import StorageError
from actune.models.tokens import Tokens
from actune.models.weights import Weights

State = dict[str, torch.Tensor]
EVERY = 30.0  # seconds between two checkpoints
WORTH = 5.0  # seconds: what took less is made again


class Checkpoint:
    """The file of one fit. That it cannot be written costs time after a kill, and never the fit."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._began = self._kept = time.monotonic()

    def load(self) -> State:
        """The state that a killed process kept, or nothing."""
        with suppress(OSError, SafetensorError):
            return load_file(self.file)
        return {}

    def keep(self, weights: Weights, progress: State, ended: bool) -> None:
        """Keeps the state where enough time has passed, and that of a fit that ends, because others may follow it."""
        now = time.monotonic()
        if now - self._kept < EVERY and not (ended and now - self._began >= WORTH):
            return
        with suppress(OSError, SafetensorError, StorageError):
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with replacing(self.file) as scratch:
                save_file({**state_of(weights), **progress, "random": torch.get_rng_state()}, scratch)
        self._kept = time.monotonic()


def state_of(weights: Weights) -> State:
    """The weights that training moves, and what the optimizer knows of each."""
    found: State = {}
    for number, parameter in enumerate(weights.trained):
        known = weights.optimizer.state.get(parameter, {})
        found |= {f"{name} {number}": value for name, value in known.items()}
        found[f"weight {number}"] = parameter.detach()
    return found


@torch.no_grad()
def restore(weights: Weights, state: State) -> None:
    """Brings weights and optimizer to where they were."""
    for number, parameter in enumerate(weights.trained):
        ending = f" {number}"
        mine = {name.removesuffix(ending): value for name, value in state.items() if name.endswith(ending)}
        parameter.copy_(mine.pop("weight"))
        if mine:
            weights.optimizer.state[parameter] = mine
    torch.set_rng_state(state["random"])


def fit_key(facts: Iterable[object], inputs: Tokens, training: TrainingSet, dev: Labelled | None) -> str:
    """A name for a fit by all that decides it."""
    digest = sha256(repr((torch.__version__, torch.get_num_threads(), *facts)).encode())
    trusted = training.pseudo_labels
    supervised, labels = training.supervised
    learnt = inputs.only(np.concatenate([supervised, trusted.rows]))
    arrays: list[Any] = [labels, trusted.targets, trusted.weights, trusted.proba, learnt.flat, learnt.offsets]
    if training.weak is not None:
        arrays += [training.weak.chances, np.array([training.weak.mass, training.weak.until])]
    if dev is not None:
        tokens: Any = dev.inputs
        arrays += [dev.labels, tokens.flat, tokens.offsets]
    for array in arrays:
        digest.update(b"none" if array is None else repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]


def digest_of(network: torch.nn.Module) -> str:
    """What tells the weights of a network from any others."""
    digest = sha256()
    for tensor in network.state_dict().values():
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
