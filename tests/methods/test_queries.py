"""Queries that need no regions."""

from __future__ import annotations

import warnings

import pytest
import torch

from actune.core.classifier import Readout
from actune.core.kmeans import draw_index
from actune.core.streams import Streams
from actune.core.view import Outputs, View
from actune.errors import Diverged, MissingSignal
from actune.methods.features import embeddings, gradient_factors
from actune.methods.queries import Distinct, Query, Random, Representatives, Spread, Top
from actune.methods.uncertainty import entropy, margin
from actune.testing.views import drawn_view, view_of

QUERIES: list[Query] = [
    Random(),
    Top(entropy),
    Spread(gradient_factors),
    Representatives(embeddings),
    Distinct(margin, embeddings),
]
every_query = pytest.mark.parametrize("query", QUERIES)


def test_random_reads_nothing() -> None:
    class Silent(Outputs):
        def read(self, head_input: bool) -> Readout:
            raise AssertionError("the model was asked")

    silent = Silent(Readout(torch.zeros(50, 2), torch.zeros(50, 2)))
    view = View(silent, range(50), streams=Streams(3))
    rows = Random()(view, 20).tolist()
    assert len(set(rows)) == 20 and not view.was_read
    assert rows != Random()(View(silent, range(50), streams=Streams(4)), 20).tolist()


def test_random_draws_every_row_equally_often() -> None:
    counts = torch.zeros(6)
    for seed in range(600):
        counts[Random()(View(Readout(counts, counts), range(6), streams=Streams(seed)), 2)] += 1
    assert counts.min() > 150 and counts.max() < 250


def test_top_breaks_ties_by_row() -> None:
    assert Top(entropy)(view_of(torch.full((5, 3), 1 / 3)), 3).tolist() == [0, 1, 2]


def test_a_model_that_diverged_is_named_by_its_rows() -> None:
    proba = torch.full((4, 2), 0.5)
    proba[2] = float("nan")
    with pytest.raises(Diverged, match="ids 2"):
        Top(entropy)(view_of(proba), 1)


def test_a_score_that_is_no_number_raises() -> None:
    def broken(view: View) -> torch.Tensor:
        return torch.tensor([0.0, float("nan"), 1.0])

    with pytest.raises(Diverged, match="rows 1"):
        Top(broken)(view_of(torch.full((3, 2), 0.5)), 1)


def test_representatives_stand_for_their_region_and_the_largest_comes_first() -> None:
    embedding = torch.tensor([[0.0], [10.0], [11.0], [12.0], [30.0], [33.0]])
    found = Representatives(embeddings)(view_of(torch.full((6, 2), 0.5), embedding), 3)
    assert found.tolist() == [2, 4, 0]


def test_representatives_of_equal_texts_are_distinct_all_the_same() -> None:
    view = view_of(torch.full((7, 2), 0.5), torch.tensor([[0.0], [0.0], [0.0], [0.0], [5.0], [5.0], [9.0]]))
    assert Representatives(embeddings)(view, 5).tolist() == [0, 4, 6, 1, 5]


@every_query
@pytest.mark.parametrize("n", [0, 1, 17, 107, 1000])
def test_a_query_gives_n_distinct_candidates_or_all(query: Query, n: int) -> None:
    view = drawn_view()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = query(view, n)
    assert rows.dtype == torch.int64 and len(rows) == min(n, 107) == len(set(rows.tolist()))
    assert set(rows.tolist()) <= set(view.candidates.tolist())


@every_query
def test_nobody_left_to_ask_about(query: Query) -> None:
    view = drawn_view()
    assert query(view.without(view.candidates), 3).tolist() == []


# BADGE


def brute_spread(view: View, n: int) -> list[int]:
    """The k-means++ draw over the gradients themselves, N rows of classes times width, from the same random stream."""
    proba = view.log_proba.exp()[view.candidates]
    left = proba - torch.nn.functional.one_hot(proba.argmax(1), proba.shape[1])
    gradients = (left[:, :, None] * view.head_input[view.candidates][:, None, :]).flatten(1)
    rng, chosen = view.rng("spread"), [int(gradients.square().sum(1).argmax())]
    while len(chosen) < min(n, len(gradients)):
        distance = (gradients[:, None] - gradients[chosen]).square().sum(2).amin(1)
        distance[chosen] = 0
        free = torch.ones(len(gradients))
        free[chosen] = 0
        chosen.append(draw_index(distance if distance.any() else free, rng))
    return view.candidates[chosen].tolist()


def gradient_view(kinds: int, copies: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> View:
    """Some kinds of rows, each several times, in a drawn order."""
    draw = torch.Generator().manual_seed(seed)
    order = torch.arange(kinds).repeat(copies)[torch.randperm(kinds * copies, generator=draw)]
    logits = 2 * torch.randn(kinds, 4, generator=draw, dtype=dtype)
    head = torch.randn(kinds, 5, generator=draw, dtype=dtype)
    readout = Readout(logits.log_softmax(1)[order], torch.zeros(len(order), 1), head[order])
    return View(readout, range(2, len(order)), [0, 1], Streams(seed), labels=[0, 1])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("kinds", "copies"),
    [
        pytest.param(60, 1, id="distinct rows"),
        pytest.param(20, 3, id="every row three times"),
        pytest.param(7, 8, id="few kinds of rows"),
        pytest.param(1, 30, id="all rows equal"),
    ],
)
def test_spread_asks_about_the_same_rows_as_brute_force(kinds: int, copies: int, seed: int) -> None:
    view = gradient_view(kinds, copies, seed=seed)
    for n in (1, 7, 25):
        assert Spread(gradient_factors)(view, n).tolist() == brute_spread(view, n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_spread_meets_every_kind_before_it_meets_one_twice(dtype: torch.dtype) -> None:
    view = gradient_view(kinds=8, copies=10, dtype=dtype)
    asked = Spread(gradient_factors)(view, 8)
    assert len(torch.unique(view.head_input[asked], dim=0)) == 8


def test_spread_of_equal_rows_is_any_of_them() -> None:
    """Nothing is left to measure, so that every row that is left is as likely as the next."""
    counts = torch.zeros(6)
    for seed in range(400):
        view = View(Readout(torch.zeros(6, 2), torch.zeros(6, 1), torch.ones(6, 3)), range(6), streams=Streams(seed))
        counts[Spread(gradient_factors)(view, 2)[1:]] += 1
    assert counts[0] == 0 and counts[1:].min() > 50 and counts[1:].max() < 110


def test_spread_of_very_confident_rows_still_goes_by_their_gradients() -> None:
    """In float32 the likeliest class rounds to 1: its entry of the gradient must come from the other classes."""
    logits = torch.tensor([[30.0, 0, 0], [25.0, 0, 0], [40.0, 0, 0]])
    view = View(Readout(logits.log_softmax(1), logits, torch.ones(3, 2)), range(3))
    left, _ = gradient_factors(view)
    torch.testing.assert_close(left.double(), exact_gradients(logits.double()), rtol=1e-5, atol=0)
    assert Spread(gradient_factors)(view, 1).tolist() == [1]


def exact_gradients(logits: torch.Tensor) -> torch.Tensor:
    others = logits.softmax(1)[:, 1:]
    return torch.cat([-others.sum(1, keepdim=True), others], 1)


def test_the_last_layers_input_comes_with_the_only_read() -> None:
    view = drawn_view()
    Spread(gradient_factors)(view, 3)
    assert view._outputs.asked == ["read"]  # type: ignore[attr-defined]


def test_without_a_last_layer_the_error_names_what_to_use() -> None:
    with pytest.raises(MissingSignal, match="use margin or entropy"):
        Spread(gradient_factors)(View(drawn_view().readout, range(120)), 3)


def unsure_copies() -> View:
    """Six heaps of five equal points; the lower the row, the closer the two classes."""
    lead = torch.linspace(0, 0.9, 30)
    heaps = torch.arange(6).repeat_interleave(5)
    return view_of(torch.stack([(1 + lead) / 2, (1 - lead) / 2], 1), torch.eye(6)[heaps] * 10)


def test_distinct_asks_about_the_least_sure_row_of_each_group() -> None:
    view = unsure_copies()
    assert Top(margin)(view, 4).tolist() == [0, 1, 2, 3]  # copies of each other
    assert Distinct(margin, embeddings, factor=5)(view, 4).tolist() == [0, 5, 10, 15]


def test_distinct_looks_at_the_least_sure_rows_alone() -> None:
    assert Distinct(margin, embeddings, factor=3)(unsure_copies(), 2).tolist() == [0, 5]
    assert Distinct(margin, embeddings, factor=1)(unsure_copies(), 7).tolist() == list(range(7))


def test_distinct_fills_a_batch_that_has_more_rows_than_there_are_groups() -> None:
    found = Distinct(margin, embeddings, factor=5)(unsure_copies(), 8).tolist()
    assert found == [0, 1, 2, 5, 10, 15, 20, 25]  # one of each heap, then the least sure of the others
