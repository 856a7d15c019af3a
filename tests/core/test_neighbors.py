"""Nearest neighbours against a search over all distances."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.core import neighbors
from actune.core.neighbors import nearest_points


def naive(queries: torch.Tensor, references: torch.Tensor, k: int) -> list[list[int]]:
    distances = (queries[:, None] - references).square().sum(2).numpy()
    return np.argsort(distances, axis=1, kind="stable")[:, :k].tolist()  # type: ignore[no-any-return]


grid = st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=12)


@given(grid, grid, st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_equal_distances_go_to_the_smaller_index(queries: list[object], references: list[object], k: int) -> None:
    first, second = torch.tensor(queries).double(), torch.tensor(references).double()
    assert nearest_points(first, second, k).tolist() == naive(first, second, k)


def test_fewer_references_than_neighbours_gives_all() -> None:
    assert nearest_points(torch.zeros(2, 1), torch.tensor([[3.0], [1.0]]), 10).tolist() == [[1, 0], [1, 0]]


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = torch.Generator().manual_seed(0)
    queries, references = torch.randn(50, 4, generator=draw), torch.randn(20, 4, generator=draw)
    whole = nearest_points(queries, references, 3)
    monkeypatch.setattr(neighbors, "ENTRIES", 60)  # three queries at a time
    assert torch.equal(nearest_points(queries, references, 3), whole)
    assert whole.tolist() == naive(queries, references, 3)
