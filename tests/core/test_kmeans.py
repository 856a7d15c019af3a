"""Weighted k-means: parity with scikit-learn, and what happens at the edges."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from actune.core import kmeans as module
from actune.core.kmeans import (
    SLICE,
    Partition,
    _by_gathering,
    _by_product,
    _nearest,
    _reseeded,
    _seeds,
    kmeans,
    nearest_centre,
    sums,
)


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)[:, None]


def run(
    points: torch.Tensor, weights: torch.Tensor | None = None, k: int = 2, seed: int = 0, **more: object
) -> Partition:
    return kmeans(points, weights, k=k, rng=np.random.default_rng(seed), **more)  # type: ignore[arg-type]


def check(points: torch.Tensor, found: Partition) -> None:
    """The contract of a partition."""
    assert torch.isfinite(found.centres).all() and np.isfinite(found.inertia)
    assert torch.unique(found.labels).tolist() == list(range(len(found.centres)))
    distances = (points[:, None] - found.centres).square().sum(2)
    own = distances.gather(1, found.labels[:, None])[:, 0]
    torch.testing.assert_close(own, distances.min(1).values)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("seed", range(3))
def test_equals_scikit_learn_from_the_same_start(weighted: bool, dtype: torch.dtype, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    points = torch.randn(300, 5, generator=draw, dtype=dtype)
    weights = torch.rand(300, generator=draw, dtype=dtype) ** 4 if weighted else None
    found = run(points, weights, k=6, start=points[:6])
    theirs = KMeans(6, init=points[:6].numpy(), n_init=1, max_iter=100)
    theirs.fit(points.numpy(), sample_weight=None if weights is None else weights.numpy())
    assert found.labels.tolist() == theirs.labels_.tolist()
    torch.testing.assert_close(found.centres, torch.from_numpy(theirs.cluster_centers_))
    assert found.inertia == pytest.approx(theirs.inertia_, rel=1e-5)


@given(st.integers(0, 1000), st.floats(1e-6, 1e6))
@settings(max_examples=25, deadline=None)
def test_equal_weights_are_no_weights(seed: int, weight: float) -> None:
    points = torch.randn(40, 3, generator=torch.Generator().manual_seed(seed))
    plain, weighted = run(points, k=4, seed=seed), run(points, torch.full((40,), weight), k=4, seed=seed)
    assert torch.equal(plain.labels, weighted.labels) and torch.equal(plain.centres, weighted.centres)
    assert weighted.inertia == pytest.approx(plain.inertia * weight, rel=1e-5)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from([-1.0, 0.0, 1e-9, 0.5, 3.0])), min_size=1),
    st.integers(1, 8),
    st.integers(0, 50),
)
@settings(max_examples=80, deadline=None)
def test_every_partition_keeps_its_contract(rows: list[tuple[int, int, float]], k: int, seed: int) -> None:
    table = torch.tensor(rows, dtype=torch.float64)
    points, weights = table[:, :2], table[:, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run(points, weights, k=k, seed=seed)
    check(points, found)
    distinct = len(torch.unique(points, dim=0))
    assert len(found.centres) <= min(k, distinct)
    if (weights > 0).all():  # no region can be stranded without weight
        assert len(found.centres) == min(k, distinct)


def test_an_exact_fixed_point_is_left_alone() -> None:
    found = run(column(0, 2, 10, 12), start=column(1, 11))
    assert found.centres.flatten().tolist() == [1, 11] and found.labels.tolist() == [0, 0, 1, 1]


def test_ties_go_to_the_smaller_centre() -> None:
    assert nearest_centre(column(1, 5), column(0, 2, 2)).tolist() == [0, 1]


def test_more_regions_than_distinct_points_warns() -> None:
    with pytest.warns(UserWarning, match="only 2 of 5 regions could be formed"):
        found = run(column(0, 0, 0, 7, 7), k=5)
    check(column(0, 0, 0, 7, 7), found)
    assert found.inertia == 0


def test_identical_points_are_one_region() -> None:
    points = torch.full((9, 4), 0.1)
    with pytest.warns(UserWarning, match="only 1 of 3 regions could be formed"):
        found = run(points, torch.rand(9), k=3)
    assert found.labels.tolist() == [0] * 9
    torch.testing.assert_close(found.centres, points[:1])


def test_no_points_are_no_regions() -> None:
    found = run(torch.empty(0, 3), k=4)
    assert found.labels.shape == (0,) and found.centres.shape == (0, 3)


def test_weights_that_are_all_zero_count_as_one() -> None:
    points = torch.randn(30, 2, generator=torch.Generator().manual_seed(1))
    assert torch.equal(run(points, torch.zeros(30), k=3).labels, run(points, k=3).labels)


def test_negative_weights_count_as_zero() -> None:
    start = column(0, 10)
    found = run(column(0, 1, 10, 11), torch.tensor([1.0, -5.0, 1.0, 0.0]).double(), start=start)
    assert torch.equal(found.centres, start)


def test_a_region_without_weight_takes_the_plain_mean() -> None:
    found = run(column(0, 1, 10, 12), torch.tensor([0.0, 0.0, 1.0, 3.0]).double(), start=column(0, 10))
    assert found.centres.flatten().tolist() == [0.5, 11.5]


def test_an_empty_region_moves_to_the_costliest_point() -> None:
    points = column(0, 1, 2, 50)
    found = run(points, start=column(1, 1e6))
    assert found.labels.tolist() == [0, 0, 0, 1] and found.centres.flatten().tolist() == [1, 50]
    heavy = run(points, torch.tensor([1e5, 1.0, 1.0, 1.0]).double(), start=column(1, 1e6))
    assert heavy.labels.tolist() == [1, 1, 1, 0]  # the heavy point was the costliest, and took its neighbours along


def test_several_empty_regions_move_to_different_points() -> None:
    points = column(0, 1, 50, 50, 90)
    found = run(points, k=3, start=column(0, 1e6, 2e6))
    assert sorted(found.centres.flatten().tolist()) == [0.5, 50, 90]


def test_an_empty_region_is_dropped_when_no_point_costs_anything() -> None:
    with pytest.warns(UserWarning, match="only 1 of 2 regions could be formed"):
        found = run(column(3, 3, 3), start=column(3, 9))
    check(column(3, 3, 3), found)


def test_a_region_does_not_lose_its_only_point_to_an_empty_one() -> None:
    found = run(column(0, 1, 100), k=3, start=column(0, 60, 1e6), iterations=1)
    assert found.centres.flatten().tolist() == [0, 100, 1]


def test_empty_regions_do_not_move_to_equal_points() -> None:
    found = run(column(0, 1, 50, 90, 90), k=3, start=column(0, 1e6, 2e6), iterations=1)
    assert found.centres[1:].flatten().tolist() == [90, 50]


def test_points_without_weight_still_seed_a_region() -> None:
    found = run(column(5, 0, 0), torch.tensor([0.0, 1.0, 1.0]).double())
    assert sorted(found.centres.flatten().tolist()) == [0, 5]


def test_seeds_are_drawn_by_weight_and_distance() -> None:
    for seed in range(20):  # no iterations: the centres are the seeds
        light = run(column(100, 0, 1), torch.tensor([1e-9, 1.0, 1.0]).double(), seed=seed, restarts=1, iterations=0)
        assert sorted(light.centres.flatten().tolist()) == [0, 1]
        far = run(column(1e6, 0, 1e-6), seed=seed, restarts=1, iterations=0)
        assert 1e6 in far.centres.flatten().tolist()


def test_restarts_keep_the_lowest_inertia() -> None:
    points = torch.randn(200, 2, generator=torch.Generator().manual_seed(3))
    single = [run(points, k=12, seed=seed, restarts=1).inertia for seed in range(6)]
    several = [run(points, k=12, seed=seed, restarts=4).inertia for seed in range(6)]
    assert all(best <= first for best, first in zip(several, single, strict=True)) and sum(several) < sum(single)


def test_the_same_stream_gives_the_same_partition() -> None:
    points = torch.randn(100, 4, generator=torch.Generator().manual_seed(5))
    first, second = run(points, k=7, seed=2), run(points, k=7, seed=2)
    assert torch.equal(first.labels, second.labels) and torch.equal(first.centres, second.centres)


def test_blocks_leave_no_point_out(monkeypatch: pytest.MonkeyPatch) -> None:
    points = torch.randn(1000, 3, generator=torch.Generator().manual_seed(6), dtype=torch.float64)
    whole = run(points, k=4)
    monkeypatch.setattr(module, "CACHED", 1)  # the smallest blocks there are
    found = run(points, k=4)
    assert torch.equal(found.labels, whole.labels)
    torch.testing.assert_close(found.centres, whole.centres)
    labels = nearest_centre(points, points[:4])
    assert torch.equal(labels, (points[:, None] - points[:4]).square().sum(2).argmin(1))
    total, mass = sums(points, labels, 4, torch.ones(len(points), dtype=torch.float64))
    torch.testing.assert_close(total, torch.stack([points[labels == region].sum(0) for region in range(4)]))
    assert torch.equal(mass, labels.bincount().double())


@pytest.mark.parametrize("rows", [0, 1, SLICE - 1, 2 * SLICE, 3 * SLICE + 7])
def test_a_cpu_and_a_gpu_add_up_alike(rows: int) -> None:
    draw = torch.Generator().manual_seed(rows)
    values, weights = torch.randn(rows, 3, generator=draw).double(), torch.rand(rows, generator=draw).double()
    regions = torch.stack([torch.randint(4, (rows,), generator=draw), torch.randint(5, 9, (rows,), generator=draw)], 1)
    expected = torch.stack([weights.where(one.any(1), 0) @ values for one in (regions == n for n in range(9))])
    for add_up in (_by_gathering, _by_product):
        total, mass = add_up(values, regions, 9, weights)
        torch.testing.assert_close(total, expected)
        assert mass[4] == 0 and float(mass.sum()) == pytest.approx(2 * float(weights.sum()))


def test_starts_together_are_each_on_its_own() -> None:
    points = torch.randn(500, 4, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    weights = torch.rand(500, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    for seed in range(5):
        starts = _seeds(points, weights, 9, 3, np.random.default_rng(seed))
        alone = [run(points, weights, k=9, start=start) for start in starts]
        best = min(alone, key=lambda partition: partition.inertia)
        together = run(points, weights, k=9, seed=seed)
        assert len({round(found.inertia, 6) for found in alone}) > 1  # the starts do differ
        assert together.inertia == pytest.approx(best.inertia) and torch.equal(together.labels, best.labels)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("start", ["points", "far away"])
@pytest.mark.parametrize("iterations", [1, 2, 5, 20])
def test_a_point_looks_for_its_centre_whenever_it_could_have_another(
    dtype: torch.dtype, start: str, iterations: int
) -> None:
    """Lloyd's iterations in full: everybody looks every time. Far centres are empty, and move to other points."""
    for seed in range(5):
        draw = torch.Generator().manual_seed(seed)
        clouds = 2 * torch.randn(12, 3, generator=draw, dtype=dtype)
        points = clouds[torch.arange(400) % 12] + torch.randn(400, 3, generator=draw, dtype=dtype)
        centres = points[:8].clone()
        centres[5:] += 1000 if start == "far away" else 0
        found = run(points, k=8, start=centres, iterations=iterations)
        for _ in range(iterations):
            labels = _reseeded(points, torch.ones(400, dtype=dtype), nearest_centre(points, centres), centres)
            centres = torch.stack([points[labels == region].mean(0) for region in range(8)])
        assert torch.equal(found.labels, nearest_centre(points, centres))
        torch.testing.assert_close(found.centres, centres)


def test_a_point_far_from_other_centres_does_not_look_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def counted(points: torch.Tensor, centres: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        looked.append(len(points))
        return _nearest(points, centres)

    monkeypatch.setattr(module, "_nearest", counted)
    draw = torch.Generator().manual_seed(12)
    points = torch.randn(2000, 8, generator=draw) + 2 * torch.randn(20, 8, generator=draw)[torch.arange(2000) % 20]
    run(points, k=10, restarts=1)
    assert len(looked) > 5 and sum(looked) < 2000 * len(looked) / 2


@pytest.mark.parametrize("device", ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"])
def test_every_device_finds_the_regions_of_a_cpu_and_finds_them_again(device: str) -> None:
    draw = torch.Generator().manual_seed(11)
    points = torch.randn(20_000, 32, generator=draw) + 3 * torch.randn(8, 32, generator=draw)[torch.arange(20_000) % 8]
    weights = torch.rand(20_000, generator=draw)
    first, second = (run(points.to(device), weights.to(device), k=8) for _ in range(2))
    assert torch.equal(first.labels, second.labels) and torch.equal(first.centres, second.centres)
    assert torch.equal(first.labels.cpu(), run(points, weights, k=8).labels)
