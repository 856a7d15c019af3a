"""The graph of neighbours and the labels spread over it, against dense formulas and their laws."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actune.core import graph as module
from actune.core.graph import neighbor_graph, propagate, solve

ROWS, LABELS = np.array([0, 1, 2, 30, 31]), np.array([0, 1, 2, 0, 2])


def cloud(count: int = 60, width: int = 5, seed: int = 0) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(count, width, generator=draw, dtype=torch.float64)


def naive(points: torch.Tensor, k: int) -> np.ndarray:
    """W + W^T, row by row, as the definition reads."""
    unit = (points / points.norm(dim=1, keepdim=True).clamp(min=1e-30)).numpy()
    alike = np.maximum(unit @ unit.T, 0) ** 3
    np.fill_diagonal(alike, -1)
    chosen = np.argsort(-alike, axis=1, kind="stable")[:, : min(k, len(points) - 1)]
    weights = np.zeros_like(alike)
    np.put_along_axis(weights, chosen, np.take_along_axis(alike, chosen, 1), 1)
    return weights + weights.T


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("k", [1, 4, 59, 200])
def test_the_graph_is_its_definition(k: int) -> None:
    found = neighbor_graph(cloud(), k)
    assert found.dtype == np.float64 and (found.data > 0).all()
    close(found.toarray(), naive(cloud(), k))
    assert (found != found.T).nnz == 0


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = neighbor_graph(cloud(), 4).toarray()
    monkeypatch.setattr(module, "ENTRIES", 60)  # three points at a time
    np.testing.assert_array_equal(neighbor_graph(cloud(), 4).toarray(), whole)


def test_float32_is_close() -> None:
    close(neighbor_graph(cloud().float(), 4).toarray(), naive(cloud(), 4), 1e-6)


def test_the_lengths_of_points_do_not_matter() -> None:
    scales = torch.linspace(0.01, 100, 60, dtype=torch.float64)[:, None]
    close(neighbor_graph(cloud() * scales, 4).toarray(), neighbor_graph(cloud(), 4).toarray())


def test_permuted_points_give_the_permuted_result() -> None:
    order = np.random.default_rng(0).permutation(60)
    graph, permuted = neighbor_graph(cloud(), 4), neighbor_graph(cloud()[order], 4)
    close(permuted.toarray(), graph.toarray()[np.ix_(order, order)])
    place = np.argsort(order)
    close(propagate(permuted, place[ROWS], LABELS, 3), propagate(graph, ROWS, LABELS, 3)[order], 1e-8)


def test_a_point_is_left_out_by_its_number_and_equal_ones_are_taken_in_order() -> None:
    """Seven of one kind: the last ones do not find themselves among the three nearest."""
    points = torch.tensor([[1.0, 0.0]] * 7 + [[0.0, 1.0]])
    found = neighbor_graph(points, 2).toarray()
    assert not found.diagonal().any()
    close(found, naive(points, 2))
    assert found[6].tolist() == [1, 1, 0, 0, 0, 0, 0, 0] and found[0].tolist() == [0, 2, 2, 1, 1, 1, 1, 0]


def test_a_point_without_direction_takes_nobodys_place() -> None:
    """Its distance to a unit vector is 1, nearer than any point at more than sixty degrees."""
    points = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.4, 1.0], [0.0, 0.0]], dtype=torch.float64)
    found = neighbor_graph(points, 1).toarray()
    close(found, naive(points, 2))
    assert found[0, 2] > 0 and not found[[1, 3]].any()


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_points_have_few_neighbours(count: int) -> None:
    found = neighbor_graph(torch.ones(count, 3), 50)
    close(found.toarray(), 2 * (1 - np.eye(count)) if count == 2 else np.zeros((count, count)), 1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.99])
def test_spreading_solves_the_dense_system(alpha: float) -> None:
    weights = naive(cloud(), 4)
    scale = weights.sum(1) ** -0.5
    sources = np.zeros((60, 3))
    sources[ROWS, LABELS] = 1
    expected = np.linalg.solve(np.eye(60) - alpha * scale[:, None] * weights * scale, sources)
    close(solve(neighbor_graph(cloud(), 4), sources, alpha), expected, 1e-8)
    if alpha:
        expected /= expected.sum(1, keepdims=True)
        close(propagate(neighbor_graph(cloud(), 4), ROWS, LABELS, 3, alpha), expected, 1e-8)


def test_every_row_is_a_distribution_and_equal_shares_where_no_label_arrives() -> None:
    """Two islands, one of them without a label, and a point that is like no other."""
    points = torch.zeros(21, 30, dtype=torch.float64)
    points[:10, :3], points[10:20, 3:6], points[20, 6] = cloud(10, 3).abs(), cloud(10, 3, 1).abs(), 1.0
    with np.errstate(all="raise", under="ignore"):
        found = propagate(neighbor_graph(points, 4), np.array([0, 1]), np.array([0, 2]), 3)
    close(found.sum(1), np.ones(21))
    close(found[10:], np.full((11, 3), 1 / 3), 0)
    assert (found[:10] >= 0).all() and not found[:10, 1].any() and (found[:10, [0, 2]] > 0).all()


def test_a_lonely_label_stays_at_home() -> None:
    found = propagate(neighbor_graph(torch.eye(4), 2), np.array([3]), np.array([1]), 2)
    assert found.tolist() == [[0.5, 0.5]] * 3 + [[0, 1]]


@pytest.mark.parametrize("alpha", [0.5, 0.99])
def test_labels_fill_their_own_cluster(alpha: float) -> None:
    centres = torch.eye(5, dtype=torch.float64)[:3].repeat_interleave(20, 0)
    points = 3 * centres + 0.5 * cloud()
    found = propagate(neighbor_graph(points, 10), np.array([0, 20, 40]), np.array([2, 0, 1]), 3, alpha)
    assert found.argmax(1).tolist() == [2] * 20 + [0] * 20 + [1] * 20


def test_labelled_points_dominate_themselves() -> None:
    found = propagate(neighbor_graph(cloud(), 4), ROWS, LABELS, 3, alpha=0.5)
    assert (found[ROWS].argmax(1) == LABELS).all()
    unlabelled = np.setdiff1d(np.arange(60), ROWS)
    assert found[ROWS].max(1).min() > found[unlabelled].max(1).mean()


def test_equal_points_share_their_distribution() -> None:
    points = torch.cat([cloud(20), cloud(20)])
    found = propagate(neighbor_graph(points, 39), np.array([0, 1]), np.array([0, 1]), 2)  # no ties are cut
    close(found[2:20], found[22:], 1e-8)
