"""Reading: results in the texts' order whatever the batches."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actune.models.reader import read_tokens
from actune.models.tokens import Tokens

LENGTHS = [3, 9, 1, 4, 9, 2, 6]


@pytest.fixture
def tokens() -> Tokens:
    """Row r holds nothing but the number r + 1."""
    flat = np.concatenate([np.full(length, row + 1, np.int32) for row, length in enumerate(LENGTHS)])
    return Tokens(flat, np.concatenate([[0], np.cumsum(LENGTHS)]), pad=0, cut=0)


def forward(batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    assert torch.is_inference_mode_enabled()
    ids = batch["input_ids"]
    return ids[:, 0].double(), torch.stack([ids.sum(1), batch["attention_mask"].sum(1)], 1)


@pytest.mark.parametrize("budget", [1, 9, 20, None])
def test_results_are_float32_in_row_order(tokens: Tokens, cpu: torch.device, budget: int | None) -> None:
    told: list[tuple[str, int, int]] = []
    first, sums = read_tokens(forward, tokens, cpu, lambda *facts: told.append(facts), budget)
    assert first.dtype == sums.dtype == torch.float32
    assert first.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert sums.tolist() == [[(row + 1) * length, length] for row, length in enumerate(LENGTHS)]
    assert told[-1] == ("read", 7, 7) and [done for _, done, _ in told] == sorted({done for _, done, _ in told})


@pytest.mark.parametrize("most", [1, 2, 3])
def test_what_does_not_fit_into_memory_is_read_in_halves(tokens: Tokens, cpu: torch.device, most: int) -> None:
    sizes: list[int] = []

    def small(batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        sizes.append(len(batch["input_ids"]))
        if sizes[-1] > most:
            raise torch.OutOfMemoryError("too much")
        return forward(batch)

    told: list[int] = []
    first, _ = read_tokens(small, tokens, cpu, lambda _, done, __: told.append(done), budget=1000)
    assert first.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert sizes[0] == 7 and sum(size > most for size in sizes) <= 3  # once it is known, nothing large is tried again
    assert told == sorted(told) and told[-1] == 7


def test_a_single_text_that_does_not_fit_is_an_error(tokens: Tokens, cpu: torch.device) -> None:
    def nothing(batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor]:
        raise torch.OutOfMemoryError("too much")

    with pytest.raises(torch.OutOfMemoryError):
        read_tokens(nothing, tokens, cpu)
