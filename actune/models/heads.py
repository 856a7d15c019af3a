"""The small head of the learner `probe`, and the outputs of any head in another order."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

WIDTH = 256
DROPOUT = 0.1


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


def reorder_outputs(last: nn.Module, order: Sequence[int]) -> None:
    """The same linear layer with its outputs in another order."""
    with torch.no_grad():
        for values in (last.weight, last.bias):
            if isinstance(values, torch.Tensor):
                values.copy_(values[list(order)].clone())
