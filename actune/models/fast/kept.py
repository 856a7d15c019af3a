"""What a GPU keeps from one fit to the next: a network in training, and the steps that were recorded for it.

A recorded step is bound to the memory of one network. So the next fit of the same kind puts its weights there, trains,
and takes them back; only shapes of batches that no earlier fit had are recorded then.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import torch
from torch import nn

from actune.core.objective import Objective
from actune.core.settings import Training
from actune.models import precision
from actune.models.fast.graphs import step_kind
from actune.models.fast.weights import HalfWeights
from actune.models.steps import Step
from actune.models.tokens import NamedTensors


@dataclass
class Place:
    """A network that fits of one kind are trained in, one after the other."""

    network: nn.Module
    weights: HalfWeights
    steps: dict[Hashable, Step] = field(default_factory=dict)  # by the loss

    def step(self, recipe: Training, objective: Objective, loss_of: Callable[[NamedTensors], torch.Tensor]) -> Step:
        """The step along the gradients of a loss, with what was recorded of it."""
        loss = replace(objective, most_steps=None), recipe.label_contrast, recipe.temperature
        if loss not in self.steps:
            self.steps[loss] = step_kind(self.weights.device)(self.weights, loss_of)
        self.steps[loss].loss_of = loss_of
        return self.steps[loss]


_kept: dict[Hashable, Place] = {}  # one at most: cells of a grid and the fits of a round mostly are of one kind


@contextmanager
def training_place(network: nn.Module, recipe: Training, kind: Hashable) -> Iterator[Place]:
    """A place that holds the network's weights; after the block the network has those that were trained there.

    `kind` and the recipe say which networks may take each other's place. A fit that fails leaves no place behind.
    """
    key = kind, recipe.freeze_embeddings, recipe.train_layers, recipe.weight_decay, recipe.clip
    place = _kept.pop(key, None)
    forget()
    if place is None:
        here = copy.deepcopy(network)
        place = Place(here, HalfWeights(here, recipe))
    else:
        place.network.load_state_dict(network.state_dict())
        place.weights.begin()
    yield place
    network.load_state_dict(place.network.state_dict())
    network.eval()
    _kept[key] = place


def pays(device: torch.device) -> bool:
    """Whether fits there are in a place that is kept: where steps are recorded, and products of bfloat16 are fast."""
    return device.type == "cuda" and precision.native(device)


def forget() -> None:
    """Gives the memory back."""
    _kept.clear()
