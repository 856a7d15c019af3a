"""The small head of the learner `probe`, and the outputs of any head in another order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load
from torch import nn

from actune.core.places import open_regular
from actune.errors import ModelError
from actune.models.folders import refused, shown

WIDTH = 256
DROPOUT = 0.1
FILE = "head.safetensors"
MOST_BYTES = 500_000_000  # a head of 100,000 classes has a fifth


class Head(nn.Module):
    """One hidden layer with dropout; regions and CAL see the hidden layer."""

    def __init__(self, inputs: int, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(inputs, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)
        self.out = nn.Linear(WIDTH, classes)

    def forward(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.hidden(inputs).relu_()  # in place: copying a million rows takes nearly as long
        return self.out(self.dropout(hidden)), hidden


def read_head(folder: Path) -> Head:
    """The head that a probe was saved with, or a sentence for one that is not whole."""
    file = folder / FILE
    with open_regular(file, ModelError) as stream, refused(f"{shown(file)} is not a whole head of a probe"):
        content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ModelError(f"{shown(file)} is larger than {MOST_BYTES:,} bytes, so it is not read: save it again")
        weights = load(content)
        head = Head(weights["hidden.weight"].shape[1], len(weights["out.bias"]))
        head.load_state_dict(weights)
        if not all(value.is_floating_point() and value.isfinite().all() for value in weights.values()):
            raise ModelError(f"{shown(file)} has weights that are no usable numbers: save the probe again")
    return head


def check_outputs(folder: Path, outputs: int, classes: int) -> None:
    """A classifier has one output for each class."""
    if outputs != classes:
        raise ModelError(
            f"the classifier in {shown(folder)} has {outputs:,} outputs, but it is given {classes:,} classes: save it "
            "again"
        )


def reorder_outputs(last: nn.Module, order: Sequence[int]) -> None:
    """The same linear layer with its outputs in another order."""
    with torch.no_grad():
        for values in (last.weight, last.bias):
            if isinstance(values, torch.Tensor):
                values.copy_(values[list(order)].clone())
