"""Scores against their formulas written naively."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch

from actune.core.view import View
from actune.errors import SettingError
from actune.methods.uncertainty import Cal, entropy, entropy_of
from tests.methods.synthetic import drawn_view, view_of


def naive_cal(view: View, k: int, normalise: bool) -> npt.NDArray[np.float64]:
    proba, points = view.log_proba.exp().numpy(), view.embedding.numpy()
    if normalise:
        points = points / np.linalg.norm(points, axis=1, keepdims=True)
    scores = []
    for row in range(len(proba)):
        by_distance = sorted(view.labelled.tolist(), key=lambda other: ((points[row] - points[other]) ** 2).sum())
        nearest = by_distance[:k]
        scores.append(np.mean([(proba[near] * np.log(proba[near] / proba[row])).sum() for near in nearest]))
    return np.array(scores)


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("k", [1, 4, 10, 50])
def test_cal_is_its_formula(k: int, normalise: bool) -> None:
    view = drawn_view(classes=4)
    np.testing.assert_allclose(Cal(k, normalise)(view).numpy(), naive_cal(view, k, normalise), atol=1e-10)


def test_trap_1_cal_looks_at_labelled_rows_alone() -> None:
    """An unlabelled twin with the same prediction would give 0 if the pool were searched."""
    proba = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.2, 0.8]]).double()
    view = view_of(proba, torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]).double(), labelled=[0])
    expected = 0.9 * np.log(0.9 / 0.2) + 0.1 * np.log(0.1 / 0.8)
    assert Cal(1)(view).tolist() == pytest.approx([0, expected, expected])


def test_cal_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    view = drawn_view(dtype=torch.float32)
    monkeypatch.setattr("actune.core.kmeans.BLOCK", 50)
    monkeypatch.setattr("actune.core.neighbors.ENTRIES", 30)
    np.testing.assert_allclose(Cal(3)(view).numpy(), naive_cal(view, 3, True), atol=1e-4)


def test_cal_without_labels_says_what_to_use() -> None:
    with pytest.raises(SettingError, match="there are none: label some, or use 'entropy'"):
        Cal()(view_of(torch.full((3, 2), 0.5)))


def test_cal_with_impossible_classes() -> None:
    """A class that the neighbour rules out adds nothing, even where the row rules it out too."""
    view = view_of(torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]), labelled=[0])
    assert Cal(1)(view).tolist() == pytest.approx([0, 0, np.log(2)])


def test_cal_with_an_embedding_of_zeros() -> None:
    view = view_of(torch.tensor([[0.6, 0.4], [0.5, 0.5]]), torch.zeros(2, 3), labelled=[0])
    assert torch.isfinite(Cal()(view)).all()


def test_a_class_may_be_missing_among_the_labels() -> None:
    view = view_of(torch.tensor([[0.9, 0.05, 0.05], [0.1, 0.1, 0.8]]), labelled=[0])
    assert Cal()(view)[1] > 0


def test_entropy_of_an_impossible_class() -> None:
    assert entropy_of(torch.tensor([[0.0, -float("inf"), -float("inf")]])).tolist() == [0]
    assert entropy_of(torch.tensor([[0.0]])).tolist() == [0]


def test_entropy_ranks_confident_rows_in_float32() -> None:
    draw = torch.Generator().manual_seed(0)
    logits = torch.randn(2000, 5, generator=draw, dtype=torch.float64)
    logits[:, 0] += torch.linspace(12, 30, 2000, dtype=torch.float64)
    exact = entropy_of(logits.log_softmax(1))
    found = entropy_of(logits.float().log_softmax(1))
    torch.testing.assert_close(found.double(), exact, rtol=2e-5, atol=0)
    assert len(torch.unique(found)) > 1990


def test_scores_are_computed_once_for_a_view_and_what_comes_from_it() -> None:
    view = drawn_view()
    for score in (entropy, Cal(3)):
        assert score(view) is score(view.without([1, 2]))
    assert Cal(3)(view) is Cal(3)(view) and Cal(3)(view) is not Cal(4)(view)
