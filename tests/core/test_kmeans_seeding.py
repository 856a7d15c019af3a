"""How k-means begins: distances to seeds, and draws by a share of the mass."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.core.kmeans import _distances, _draw_indices, _seeds, draw_index


def test_a_seed_is_the_best_of_those_drawn() -> None:
    """Ten equal clouds: of one draw alone, some cloud is missed in most of the runs."""
    draw = torch.Generator().manual_seed(7)
    cloud = torch.arange(500) % 10
    points = (8 * torch.randn(10, 6, generator=draw))[cloud] + torch.randn(500, 6, generator=draw)
    found = [_seeds(points, torch.ones(500), 10, 1, np.random.default_rng(seed))[0] for seed in range(20)]
    met = [len(torch.unique(cloud[torch.cdist(seeds, points).argmin(1)])) for seeds in found]
    assert np.mean(met) > 9.5


def test_equal_points_are_at_distance_zero_however_long_they_are() -> None:
    """In float32 the squares of these points are rounded by more than most of their distances."""
    near = 1e-3 * torch.randn(50, 16, generator=torch.Generator().manual_seed(8))
    points = torch.cat([1000 + near, 1000 + near, 1e6 * near])
    found = _distances(points, points.square().sum(1), torch.tensor([[3], [70]]))
    exact = torch.stack([(points.double() - points[row].double()).square().sum(1) for row in (3, 70)])
    torch.testing.assert_close(found[:, 0].double(), exact, rtol=0.01, atol=0)
    assert (found[:, 0] == 0).sum(1).tolist() == [2, 2]


@given(st.lists(st.sampled_from([0.0, 1e-30, 1e-3, 0.5, 1.0, 7.0]), min_size=1, max_size=30), st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_an_index_is_drawn_by_its_share_of_the_mass(masses: list[float], seed: int) -> None:
    mass = torch.tensor(masses, dtype=torch.float64)
    if not mass.any():
        return
    share = np.random.default_rng(seed).random()
    place = draw_index(mass, np.random.default_rng(seed))
    before, after = float(mass[:place].sum()), float(mass[: place + 1].sum())
    room = 1e-12 * float(mass.sum())
    assert masses[place] > 0 and before - room <= share * float(mass.sum()) <= after + room


def test_draws_of_many_starts_do_not_meet() -> None:
    mass = torch.rand(4, 100, generator=torch.Generator().manual_seed(9)) * torch.tensor(
        [[1e-30], [1.0], [1e30], [3.0]]
    )
    shares = torch.rand(4, 50, generator=torch.Generator().manual_seed(10), dtype=torch.float64)
    shares[:, 0], shares[:, 1] = 0, 1 - 2**-53
    found = _draw_indices(mass, shares)
    assert torch.equal(found, torch.cat([_draw_indices(mass[[row]], shares[[row]]) for row in range(4)]))
    assert found[:, 0].tolist() == [0] * 4 and found[:, 1].tolist() == [99] * 4


@pytest.mark.parametrize("mass", [[0.0, 1.0, 0.0], [0.0, 5e-324, 0.0]])
def test_what_has_no_mass_is_never_drawn(mass: list[float]) -> None:
    shares = torch.tensor([[0.0, 0.5, 1 - 2**-53, 1.0]], dtype=torch.float64)
    assert _draw_indices(torch.tensor([mass], dtype=torch.float64), shares).tolist() == [[1] * 4]
