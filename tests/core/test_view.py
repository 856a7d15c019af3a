"""What a model said, checked before anything is made of it."""

from __future__ import annotations

import pytest
import torch

from actune.core.classifier import Readout
from actune.core.view import checked
from actune.errors import Diverged

IDS = ("a", "b", "c")


def readout() -> Readout:
    return Readout(torch.full((3, 2), 0.5).log(), torch.ones(3, 4))


@pytest.mark.parametrize("part", ["log_proba", "embedding"])
def test_one_nan_names_its_text(part: str) -> None:
    said = readout()
    getattr(said, part)[1, 1] = float("nan")
    with pytest.raises(Diverged, match=r"NaN for 1 of 3 texts \(ids b\)"):
        checked(said, IDS)


def test_infinities_that_add_up_to_nan_are_none() -> None:
    said = readout()
    said.embedding[0, :2] = torch.tensor([float("inf"), -float("inf")])
    assert checked(said, IDS) is said
