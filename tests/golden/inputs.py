"""The inputs of the golden numbers, worked out by hand, and the numbers themselves (float64, natural logarithms)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from actune.core.view import View
from actune.testing.views import view_of

GOLDEN: dict[str, Any] = json.loads(Path(__file__).with_name("golden.json").read_text())


def tensor(values: Any) -> torch.Tensor:
    """A tensor of the goldens' precision."""
    return torch.tensor(values, dtype=torch.float64)


def golden(name: str) -> torch.Tensor:
    """The number of this name, or the only one whose name starts so."""
    (found,) = [key for key in GOLDEN if key == name] or [key for key in GOLDEN if key.startswith(name)]
    return tensor(GOLDEN[found])


# G2: labelled and unlabelled points of different lengths, so that raw and normalised neighbours differ
LABELLED = tensor([[1.0, 0.0], [1.6, 1.2], [0.0, 0.5], [-0.6, 0.8]])
LABELLED_PROBA = tensor([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.1, 0.9]])
UNLABELLED = tensor([[2.0, 0.1], [0.9, 0.5], [0.5, 0.9], [0.1, 3.0], [-0.5, 0.5], [0.6, 0.6]])
UNLABELLED_PROBA = tensor([[0.85, 0.15], [0.3, 0.7], [0.6, 0.4], [0.2, 0.8], [0.5, 0.5], [0.05, 0.95]])

# G4, G15, G23: three dropout passes over four rows
PASSES = tensor(
    [
        [[0.9, 0.1], [0.5, 0.5], [0.9, 0.1], [0.6, 0.4]],
        [[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0.7, 0.3]],
        [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9], [0.8, 0.2]],
    ]
)

# G6, G7, G8, G11: ten points on a line, their scores, predicted classes and regions
LINE = tensor([[0.0], [1.0], [2.0], [4.0], [5.0], [6.0], [9.0], [10.0], [11.0], [12.0]])
SCORES = tensor([0.10, 0.20, 0.60, 0.30, 0.65, 0.40, 0.05, 0.15, 0.25, 0.35])
PREDICTED = torch.tensor([0, 0, 1, 1, 0, 1, 2, 2, 2, 2])
REGION = torch.tensor([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])

# G10: three rows over three rounds
ROUNDS = [
    tensor([[0.65, 0.35], [0.90, 0.10], [0.20, 0.80]]),
    tensor([[0.05, 0.95], [0.95, 0.05], [0.10, 0.90]]),
    tensor([[0.10, 0.90], [0.97, 0.03], [0.60, 0.40]]),
]


def close(found: torch.Tensor, name: str) -> None:
    torch.testing.assert_close(found.double(), golden(name), rtol=0, atol=1e-8)


def given_scores(view: View) -> torch.Tensor:
    return SCORES


def line_view() -> View:
    return view_of(torch.nn.functional.one_hot(PREDICTED).double(), LINE)
