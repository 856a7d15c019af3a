"""Regions, the rows asked in hot ones and the rows allowed in calm ones."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.core.view import View
from actune.errors import Diverged, SettingError
from actune.methods.queries import Top
from actune.methods.regions import Calmest, Hottest, Regions, heat, shares
from actune.methods.uncertainty import Cal, entropy
from actune.testing.views import drawn_view, view_of


@given(st.integers(0, 500), st.integers(0, 130))
@settings(max_examples=30, deadline=None)
def test_one_region_is_no_region(seed: int, n: int) -> None:
    view = drawn_view(seed=seed)
    assert Hottest(Regions(entropy, 1, 0.5), 1)(view, n).tolist() == Top(entropy)(view, n).tolist()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.integers(1, 10), st.integers(0, 60))
def test_shares_add_up(sizes: list[int], m: int, n: int) -> None:
    taken = shares(sizes, m, n)
    assert sum(taken) == min(n, sum(sizes))
    assert all(0 <= count <= size for count, size in zip(taken, sizes, strict=True))


@pytest.mark.parametrize(
    ("sizes", "m", "n", "expected"),
    [
        pytest.param([9, 9, 9], 3, 6, [2, 2, 2], id="equal shares"),
        pytest.param([9, 9, 9], 3, 8, [3, 3, 2], id="the first take the remainder"),
        pytest.param([9, 9, 9], 2, 1, [1, 0, 0], id="fewer rows than regions"),
        pytest.param([1, 9, 9], 2, 6, [1, 5, 0], id="a small region passes its shortage on"),
        pytest.param([0, 9, 9], 2, 6, [0, 6, 0], id="an empty region too"),
        pytest.param([2, 2, 9], 2, 8, [2, 2, 4], id="and on below the m-th"),
        pytest.param([9, 1, 1], 2, 8, [6, 1, 1], id="at last what is left above"),
        pytest.param([2, 2, 2], 2, 99, [2, 2, 2], id="the pool ends"),
        pytest.param([4, 4], 7, 4, [2, 2], id="more regions asked for than there are"),
        pytest.param([4, 4], 2, 0, [0, 0], id="nothing"),
        pytest.param([], 2, 5, [], id="no regions"),
    ],
)
def test_trap_2_shares(sizes: list[int], m: int, n: int, expected: list[int]) -> None:
    assert shares(sizes, m, n) == expected


def test_trap_2_no_slice_ends_at_minus_zero() -> None:
    """A region whose share is nothing gives nothing, not everything."""
    view = drawn_view()
    assert len(Hottest(Regions(entropy, 6, 0.5), 6)(view, 2)) == 2
    for m in (0, -1):
        with pytest.raises(SettingError, match="at least 1"):
            Calmest(Regions(entropy, 6, 0.5), m)


def test_regions_cover_the_unlabelled_rows_and_no_others() -> None:
    view = drawn_view()
    parts = Regions(entropy, 6, 0.5)(view)
    inside = parts.region >= 0
    assert inside.nonzero().flatten().tolist() == view.unlabelled.tolist()
    assert torch.unique(parts.region[inside]).tolist() == list(range(len(parts.heat)))
    assert parts.heat[parts.order].tolist() == sorted(parts.heat.tolist(), reverse=True)


def test_regions_are_those_of_all_unlabelled_rows_whatever_was_asked() -> None:
    regions = Regions(entropy, 6, 0.5)
    view = drawn_view()
    asked = Hottest(regions, 2)(view, 10)
    assert regions(view.without(asked)) is regions(view)
    fresh = drawn_view()
    assert torch.equal(regions(fresh.without(asked)).region, regions(view).region)


def test_only_candidates_are_asked_about() -> None:
    regions = Regions(entropy, 6, 0.5)
    view = drawn_view()
    first = Hottest(regions, 2)(view, 10)
    second = Hottest(regions, 2)(view.without(first), 10)
    assert len(second) == 10 and not set(first.tolist()) & set(second.tolist())


def test_the_calmest_regions_are_the_coldest() -> None:
    view = drawn_view()
    regions = Regions(entropy, 6, 0.5)
    parts = regions(view)
    coldest = set(parts.heat.sort().indices[:2].tolist())
    expected = [row for row in view.candidates.tolist() if int(parts.region[row]) in coldest]
    assert Calmest(regions, 2)(view).tolist() == expected


def test_more_regions_used_than_there_are_is_all() -> None:
    view = drawn_view()
    regions = Regions(entropy, 3, 0.5)
    assert torch.equal(Calmest(regions, 50)(view), view.candidates)
    assert torch.equal(Hottest(regions, 50)(view, 9), Hottest(regions, 3)(view, 9))


def test_hot_and_calm_may_overlap_and_still_share_no_row() -> None:
    """2M > K."""
    regions = Regions(entropy, 3, 0.5)
    view = drawn_view()
    asked = Hottest(regions, 3)(view, 20)
    calm = Calmest(regions, 3)(view.without(asked))
    assert len(calm) == 87 and not set(asked.tolist()) & set(calm.tolist())


def test_more_regions_than_distinct_texts_warns_and_stays_a_number() -> None:
    embedding = torch.tensor([[0.0], [0.0], [1.0], [1.0]])
    view = view_of(torch.tensor([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5], [0.6, 0.4]]), embedding)
    with pytest.warns(UserWarning, match="only 2 of 10 regions could be formed"):
        parts = Regions(entropy, 10, 0.5)(view)
    assert torch.isfinite(parts.heat).all() and len(parts.heat) == 2
    assert Hottest(Regions(entropy, 10, 0.5), 5)(view, 2).tolist() == [2, 1]


def test_one_predicted_class_adds_nothing_to_the_heat() -> None:
    scores, region = torch.tensor([1.0, 3.0, 5.0]), torch.tensor([0, 0, 1])
    assert heat(scores, torch.tensor([1, 1, 1]), region, 4, beta=9.0).tolist() == [2, 5]


def test_no_rows_have_no_heat() -> None:
    nothing = torch.empty(0, dtype=torch.int64)
    assert heat(torch.empty(0), nothing, nothing, 3, 0.5).tolist() == []


@pytest.mark.parametrize("classes", [[0.5, 0.5], [1.0, 0.0]], ids=["all scores equal", "all scores zero"])
def test_equal_scores_are_plain_kmeans_and_ties_by_row(classes: list[float]) -> None:
    proba = torch.tensor(classes).repeat(12, 1)
    view = view_of(proba, torch.randn(12, 2, generator=torch.Generator().manual_seed(0)))
    weighted, plain = Regions(entropy, 3, 0.5), Regions(entropy, 3, 0.5, weighted=False)
    assert torch.equal(weighted(view).region, plain(view).region)
    rows = Hottest(weighted, 1)(view, 3)
    assert rows.tolist() == sorted(rows.tolist())
    assert weighted(view).order.tolist() == [0, 1, 2]


def test_weights_draw_the_regions_towards_unsure_rows() -> None:
    view = drawn_view(rows=400)
    assert not torch.equal(Regions(entropy, 8, 0.5)(view).region, Regions(entropy, 8, 0.5, False)(view).region)


def test_heat_of_a_region_is_mean_score_plus_spread_of_classes() -> None:
    view = drawn_view()
    parts = Regions(Cal(3), 4, 0.7)(view)
    scores, predicted = Cal(3)(view), view.log_proba.argmax(1)
    for region, found in enumerate(parts.heat.tolist()):
        rows = (parts.region == region).nonzero().flatten()
        shares_ = [float((predicted[rows] == kind).double().mean()) for kind in range(3)]
        spread = -sum(share * math.log(share) for share in shares_ if share)
        assert found == pytest.approx(float(scores[rows].mean()) + 0.7 * spread)


def test_a_score_that_is_no_number_never_reaches_kmeans() -> None:
    def broken(view: View) -> torch.Tensor:
        return torch.tensor([0.1, float("nan"), 1.0])

    with pytest.raises(Diverged, match="rows 1"):
        Regions(broken, 2, 0.5)(view_of(torch.full((3, 2), 0.5)))


def test_nobody_left_to_ask_about_or_trust() -> None:
    regions = Regions(entropy, 4, 0.5)
    labelled = view_of(torch.full((4, 2), 0.5), labelled=range(4))
    drained = drawn_view()
    for view in (labelled, drained.without(drained.candidates)):
        assert Hottest(regions, 2)(view, 3).tolist() == [] and Calmest(regions, 2)(view).tolist() == []
