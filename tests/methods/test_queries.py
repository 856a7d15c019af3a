"""Queries that need no regions."""

from __future__ import annotations

import warnings

import pytest
import torch

from actune.core.classifier import Readout
from actune.core.streams import Streams
from actune.core.view import Outputs, View
from actune.errors import Diverged
from actune.methods.features import embeddings
from actune.methods.queries import Random, Representatives, Top
from actune.methods.uncertainty import entropy
from tests.methods.synthetic import drawn_view, view_of


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


@pytest.mark.parametrize("query", [Random(), Top(entropy), Representatives(embeddings)])
@pytest.mark.parametrize("n", [0, 1, 17, 107, 1000])
def test_a_query_gives_n_distinct_candidates_or_all(query: Top, n: int) -> None:
    view = drawn_view()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = query(view, n)
    assert rows.dtype == torch.int64 and len(rows) == min(n, 107) == len(set(rows.tolist()))
    assert set(rows.tolist()) <= set(view.candidates.tolist())


@pytest.mark.parametrize("query", [Random(), Top(entropy), Representatives(embeddings)])
def test_nobody_left_to_ask_about(query: Top) -> None:
    view = drawn_view()
    assert query(view.without(view.candidates), 3).tolist() == []
