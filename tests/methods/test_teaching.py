"""What a teacher passes on: UST's balanced draw of easy rows, and HAST's agreement among neighbours."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels
from actune.core.view import View
from actune.errors import MissingSignal
from actune.methods import teaching
from actune.methods.memory import Pace
from actune.methods.teaching import (
    Agreement,
    EasyDraw,
    EvenDraw,
    balanced_draw,
    easiness,
    equal_quotas,
    looked_at,
    rarity,
    steadiness,
    vote,
)
from actune.testing.views import drawn_view, stored_view, view_of

FIRST = Pace(0, 10)


# UST: quotas and the draw


@settings(max_examples=300)
@given(st.lists(st.integers(0, 40), max_size=8), st.integers(0, 200))
def test_quotas_are_equal_among_groups_that_are_not_exhausted(sizes: list[int], n: int) -> None:
    quotas = equal_quotas(sizes, n)
    assert sum(quotas) == min(n, sum(sizes))
    assert all(0 <= quota <= size for quota, size in zip(quotas, sizes, strict=True))
    open_ = [quota for quota, size in zip(quotas, sizes, strict=True) if quota < size]
    if open_:
        assert max(open_) - min(open_) <= 1
        assert max(quotas) <= max(open_) + 1  # an exhausted group never had more than its share


@pytest.mark.parametrize(
    ("sizes", "n", "expected"),
    [
        pytest.param([9, 9, 9], 6, [2, 2, 2], id="equal"),
        pytest.param([9, 9, 9], 7, [3, 2, 2], id="the first takes the remainder"),
        pytest.param([1, 9, 9], 9, [1, 4, 4], id="a small group gives what it has"),
        pytest.param([30, 5, 30], 25, [10, 5, 10], id="and takes no part in a remainder"),
        pytest.param([1, 2, 9], 9, [1, 2, 6], id="and the rest is shared again"),
        pytest.param([0, 4], 3, [0, 3], id="an empty group"),
        pytest.param([3, 3], 99, [3, 3], id="more than there is"),
        pytest.param([], 5, [], id="no groups"),
    ],
)
def test_quotas(sizes: list[int], n: int, expected: list[int]) -> None:
    assert equal_quotas(sizes, n) == expected


def test_trap_12_classes_that_nothing_is_predicted_as_get_no_quota() -> None:
    classes = np.array([0] * 30 + [3] * 5 + [6] * 30)
    places = balanced_draw(np.ones(65), classes, 25, np.random.default_rng(0))
    assert len(set(places.tolist())) == 25 and Counter(classes[places].tolist()) == {0: 10, 3: 5, 6: 10}
    assert balanced_draw(np.ones(0), classes[:0], 25, np.random.default_rng(0)).tolist() == []


def test_a_draw_by_weight_is_unbiased() -> None:
    """Two of four rows: as often as when one after the other is drawn by its share of what is left."""
    easy = np.array([0.1, 0.2, 0.3, 0.4])
    expected = np.zeros(4)
    for first, second in permutations(range(4), 2):
        expected[[first, second]] += easy[first] * easy[second] / (1 - easy[first])
    rng, counts = np.random.default_rng(1), np.zeros(4)
    for _ in range(20_000):
        counts[balanced_draw(easy, np.zeros(4, np.int64), 2, rng)] += 1
    np.testing.assert_allclose(counts / 20_000, expected, atol=0.015)  # 4 standard errors


def test_rows_that_are_not_easy_at_all_come_last() -> None:
    easy = np.array([0.0, 1.0, 0.0, 1e-9, 0.5])
    for seed in range(50):
        rng = np.random.default_rng(seed)
        assert set(balanced_draw(easy, np.zeros(5, np.int64), 3, rng).tolist()) == {1, 3, 4}


def test_easiness_is_cut_at_none_and_where_none_is_easy_all_are() -> None:
    assert easiness(torch.tensor([0.2, 1.0, 1.3])).tolist() == pytest.approx([0.8, 0, 0])
    assert easiness(torch.tensor([1.0, 1.3])).tolist() == [1, 1]


def test_a_variance_of_none_has_the_largest_weight() -> None:
    weights = steadiness(torch.tensor([0.0, 1e-6, 0.25, 1.0], dtype=torch.float64), 0.1).tolist()
    assert weights[0] == pytest.approx(-0.1 * math.log(1e-10)) == pytest.approx(2.302585, abs=1e-6)
    assert weights == sorted(weights, reverse=True) and weights[3] == pytest.approx(0, abs=1e-9)


# UST as a whole


def passes_of(rows: int = 90, classes: int = 3) -> torch.Tensor:
    draw = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(1, rows, classes, generator=draw) + torch.randn(7, rows, classes, generator=draw)
    return logits.double().softmax(2)


def test_ust_draws_as_many_rows_of_every_class() -> None:
    view = stored_view(passes_of(), labelled=[0, 50])
    found, state = EasyDraw(samples=7, keep=30)(view, None, FIRST)
    assert found.rows.tolist() == sorted(set(found.rows.tolist())) and len(found) == 30 and state is None
    assert set(found.rows.tolist()) <= set(view.candidates.tolist())
    assert found.targets.tolist() == view.log_proba.argmax(1)[found.rows].tolist()
    assert set(Counter(found.targets.tolist()).values()) == {10}


def test_trap_12_the_weight_is_by_the_variance_of_the_predicted_class() -> None:
    """Not of class 0, as the reference has it; and the class is the plain prediction's, not that of the mean pass."""
    passes = passes_of()
    plain = passes.mean(0).roll(1, 1)
    found, _ = EasyDraw(samples=7, keep=1000)(stored_view(passes, plain), None, FIRST)
    variance = passes.numpy().var(0)
    expected = [-0.1 * math.log(variance[row, target] + 1e-10) for row, target in enumerate(plain.argmax(1).tolist())]
    assert found.rows.tolist() == list(range(90))
    np.testing.assert_allclose(found.weights, expected, rtol=1e-5)
    assert not np.allclose(found.weights, -0.1 * np.log(variance[:, 0] + 1e-10), atol=0.05)


def test_steady_rows_are_drawn_more_often() -> None:
    steady = torch.tensor([[0.9, 0.1]] * 2)
    torn = torch.tensor([[0.98, 0.02], [0.6, 0.4]])  # BALD of about 0.15
    passes = torch.stack([steady] * 20 + [torn] * 20, 1).double()  # (2 passes, 40 rows, 2 classes)
    counts = np.zeros(40)
    for round in range(300):
        view = stored_view(passes)
        view.streams = Streams(0, round)
        counts[EasyDraw(samples=2, keep=10)(view, None, FIRST)[0].rows] += 1
    assert 1.05 < counts[:20].sum() / counts[20:].sum() < 1.5


def test_without_dropout_there_is_nothing_to_draw_by() -> None:
    with pytest.raises(MissingSignal, match="no dropout"):
        EasyDraw()(View(drawn_view().readout, range(120)), None, FIRST)


# HAST


def naive_agreement(view: View, rule: Agreement) -> dict[int, tuple[int, float]]:
    """Class and weight of every row that is kept, by loops."""
    points = view.embedding / view.embedding.norm(dim=1, keepdim=True)
    predicted, confidence = view.log_proba.argmax(1).tolist(), view.log_proba.exp().amax(1).tolist()
    rows = view.candidates.tolist()
    kept = []
    for row in rows:
        distance = (points - points[row]).norm(dim=1).tolist()
        others = sorted((other for other in rows if other != row), key=distance.__getitem__)
        votes = Counter(predicted[other] for other in others[: rule.neighbors - 1])
        winner = min(votes, key=lambda name: (-votes[name], name))
        share = votes[winner] / votes.total()
        if winner == predicted[row] and confidence[row] > rule.confidence and share > 0.5:
            kept.append(row)
    counts = Counter(predicted[row] for row in kept)
    mean = len(kept) // view.log_proba.shape[1]
    weights = {name: rule.beta * 10 / (1 + math.exp(-(mean - count) / count)) for name, count in counts.items()}
    return {row: (predicted[row], weights[predicted[row]]) for row in kept}


def clustered(seed: int) -> View:
    """Neighbours are mostly, but not always, predicted alike."""
    draw = torch.Generator().manual_seed(seed)
    kind = torch.randint(3, (150,), generator=draw)
    embedding = 2 * torch.eye(3)[kind].repeat(1, 2) + torch.randn(150, 6, generator=draw)
    logits = 2 * torch.eye(3)[kind] + torch.randn(150, 3, generator=draw)
    return view_of(logits.double().softmax(1), embedding.double(), labelled=range(0, 150, 15))


def plain(found: PseudoLabels) -> dict[int, tuple[int, float]]:
    return {
        row: (target, weight)
        for row, target, weight in zip(found.rows.tolist(), found.targets.tolist(), found.weights.tolist(), strict=True)
    }


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("neighbors", [2, 6, 15])
def test_agreement_is_its_rule(seed: int, neighbors: int) -> None:
    view = clustered(seed)
    rest = view.without(view.candidates[::7])
    rule = Agreement(neighbors)
    found, _ = rule(rest, None, FIRST)
    expected = naive_agreement(rest, rule)
    assert found.rows.tolist() == sorted(expected) and 20 < len(expected) < len(rest.candidates) - 5
    for row, (target, weight) in plain(found).items():
        assert target == expected[row][0] and weight == pytest.approx(expected[row][1], rel=1e-6)


def test_neighbours_vote_and_the_row_itself_does_not() -> None:
    """One of class 1 between two of class 0: its own vote would make it two to two of four."""
    proba = torch.tensor([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.4, 0.6], [0.45, 0.55]])
    angles = torch.tensor([0.0, 0.05, 0.1, 1.5, 1.55])
    view = view_of(proba, torch.stack([angles.cos(), angles.sin()], 1))
    assert plain(Agreement(neighbors=2)(view, None, FIRST)[0]).keys() == {3, 4}


def test_copies_of_a_row_vote() -> None:
    view = view_of(torch.tensor([[0.9, 0.1]] * 5), torch.ones(5, 2))
    assert Agreement(neighbors=3)(view, None, FIRST)[0].rows.tolist() == [0, 1, 2, 3, 4]


def test_a_vote_that_is_even_goes_to_the_smaller_class_and_is_no_majority() -> None:
    winner, share = vote(torch.tensor([[2, 1, 1, 2], [2, 2, 2, 0]]), 3)
    assert winner.tolist() == [1, 2] and share.tolist() == [0.5, 0.75]
    winner, share = vote(torch.empty((2, 0), dtype=torch.int64), 3)
    assert winner.tolist() == [-1, -1] and share.tolist() == [0, 0]


def test_rare_classes_weigh_more_and_absent_ones_nothing() -> None:
    weights = rarity(torch.tensor([50, 10, 0, 20])).tolist()
    assert weights[1] > weights[3] > weights[0] > 0 == weights[2]
    assert weights[3] == pytest.approx(5)  # as many as the mean
    assert rarity(torch.tensor([0, 0])).tolist() == [0, 0]


# a large pool


def test_no_more_rows_are_looked_at_than_a_round_can_afford(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teaching, "READ_AT_MOST", 40)
    view = drawn_view()
    rows = looked_at(view, "easy rows")
    assert len(rows) == 40 and rows.tolist() == sorted(set(rows.tolist()) & set(view.candidates.tolist()))
    assert torch.equal(rows, looked_at(drawn_view(), "easy rows"))
    assert not torch.equal(rows, looked_at(view, "agreeing rows"))
    for rule in (EasyDraw(samples=3, keep=10), Agreement()):
        found, _ = rule(view, None, FIRST)
        seen = looked_at(view, "easy rows" if isinstance(rule, EasyDraw) else "agreeing rows")
        assert len(found) and set(found.rows.tolist()) <= set(seen.tolist())
    few = view.without(view.candidates[30:])
    assert torch.equal(looked_at(few, "easy rows"), few.candidates)


# the even draw of thrifty


def lopsided(rows: int = 200) -> View:
    """Nine rows of ten are predicted as class 0, with every lead of that class from none to nearly all."""
    lead = torch.linspace(0.01, 0.99, rows)
    high, low = (1 + lead) / 2, (1 - lead) / 2
    first = torch.arange(rows) % 10 > 0
    return view_of(torch.stack([high.where(first, low), low.where(first, high)], 1), labelled=[3])


def test_an_even_draw_has_equally_many_rows_of_each_class() -> None:
    found, _ = EvenDraw(30)(lopsided(), None, FIRST)
    assert Counter(found.targets.tolist()) == {0: 15, 1: 15} and set(found.weights.tolist()) == {1.0}
    assert 3 not in found.rows and sorted(found.rows.tolist()) == found.rows.tolist()
    everything, _ = EvenDraw(1000)(lopsided(), None, FIRST)
    assert len(everything) == 199


def test_an_even_draw_prefers_no_row_of_a_class() -> None:
    counts = np.zeros(200)
    for seed in range(300):
        view = lopsided()
        view.streams = Streams(seed)
        counts[EvenDraw(40)(view, None, FIRST)[0].rows] += 1
    common = counts[(np.arange(200) % 10 > 0) & (np.arange(200) != 3)]
    assert abs(common[:90].mean() - common[-90:].mean()) < 5  # sure rows and unsure ones alike, of about 34


def test_an_even_draw_from_the_surer_half_takes_no_row_of_the_other_half() -> None:
    view = lopsided()
    found, _ = EvenDraw(40, surer=0.5)(view, None, FIRST)
    sure = view.log_proba.amax(1)
    half = sorted(view.candidates.tolist(), key=lambda row: (-float(sure[row]), row))[:100]  # of 199
    assert set(found.rows.tolist()) <= set(half) and Counter(found.targets.tolist())[1] > 5
    assert len(EvenDraw(1000, surer=0.5)(view, None, FIRST)[0]) == 100


def test_another_generation_draws_other_rows() -> None:
    first, second = lopsided(), lopsided()
    second.streams = replace(first.streams, generation=1)
    ones, others = (EvenDraw(40)(view, None, FIRST)[0].rows.tolist() for view in (first, second))
    assert ones != others and len(ones) == len(others)
