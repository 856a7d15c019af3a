"""Every number by hand once, and the laws that must hold for all numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actune.bench.statistics import (
    Estimate,
    Wins,
    area_under,
    estimate,
    holm,
    jackknife,
    label_saving,
    labels_needed,
    over_tasks,
    paired_test,
    runs_wanted,
    wilson,
    wins,
)

T2 = 4.302652729911275  # Student's 97.5 % quantile with two degrees of freedom
accuracies = st.lists(st.floats(0, 1), min_size=2, max_size=8)


def test_a_mean_with_its_interval():
    found = estimate([1, 2, 3])
    assert (found.mean, found.runs, found.deviation) == (2, 3, 1)
    assert found.bounds == pytest.approx((2 - T2 / math.sqrt(3), 2 + T2 / math.sqrt(3)))
    assert (found.t, found.p) == pytest.approx((2 * math.sqrt(3), 0.07417990022744853))


def test_too_few_runs_and_runs_that_are_all_alike_have_no_interval():
    assert estimate([0.9]) == Estimate(0.9, 1)
    assert paired_test([0.9, 0.8, 0.7], [0.8, 0.7, 0.6]) == Estimate(pytest.approx(0.1), 3, pytest.approx(0))
    with pytest.raises(ValueError, match="needs a run"):
        estimate([])
    with pytest.raises(ValueError):
        paired_test([1, 2], [1])


def test_several_tasks_count_alike_and_add_their_variances():
    # variances of the two means: 1/3 and 2/2; degrees of freedom (4/3)^2 / ((1/3)^2/2 + 1^2/1) = 32/19
    found = over_tasks([estimate([1, 2, 3]), estimate([2, 4])])
    assert (found.mean, found.runs) == (2.5, 2)
    assert found.t == pytest.approx(2.5 / (math.sqrt(4 / 3) / 2))
    from scipy.stats import t

    assert found.p == pytest.approx(2 * t.sf(found.t, 32 / 19))
    assert found.high - found.low == pytest.approx(2 * t.ppf(0.975, 32 / 19) * math.sqrt(1 / 3))


def test_one_task_is_that_task_and_a_task_without_spread_leaves_none():
    one = estimate([1, 2, 4])
    whole = over_tasks([one])
    assert (whole.mean, *whole.bounds, whole.p) == pytest.approx((one.mean, *one.bounds, one.p))
    assert over_tasks([one, estimate([3])]).bounds is None
    assert over_tasks([estimate([1, 1])]).bounds is None
    assert over_tasks([one, estimate([3, 3])]).bounds is not None


def test_the_jackknife_of_a_squared_mean():
    values = [1, 2, 3]  # left out in turn: 2.5^2, 2^2, 1.5^2, whose mean is 4.1666...
    found = jackknife(lambda seeds: (sum(values[seed] for seed in seeds) / len(seeds)) ** 2, range(3))
    error = math.sqrt(2 / 3 * (2.0833333**2 + 0.1666667**2 + 1.9166667**2))
    assert found.mean == 4
    assert found.bounds == pytest.approx((4 - T2 * error, 4 + T2 * error))


@given(st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=2, max_size=8))
def test_the_jackknife_of_a_mean_is_its_t_interval(values):
    found = jackknife(lambda seeds: math.fsum(values[seed] for seed in seeds) / len(seeds), range(len(values)))
    plain = estimate(values)
    assert (found.bounds is None) == (plain.bounds is None)
    if plain.bounds:
        assert found.bounds == pytest.approx(plain.bounds, abs=1e-9)


def test_what_is_infinite_without_one_seed_has_no_interval():
    found = jackknife(lambda seeds: math.inf if 0 not in seeds else 0.5, [0, 1, 2])
    assert found == Estimate(0.5, 3)
    assert jackknife(lambda seeds: 0.5, [0]) == Estimate(0.5, 1)


def test_holm_by_hand():
    # sorted .005 .01 .03 .04 times 4 3 2 1 are .02 .03 .06 .04; none may be below the one before
    assert holm([0.01, 0.04, None, 0.03, 0.005]) == pytest.approx([0.03, 0.06, None, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == [] and holm([None]) == [None]


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_keeps_the_order_and_never_makes_smaller(values):
    corrected = holm(values)
    pairs = sorted(zip(values, corrected, strict=True))
    assert all(before <= after <= min(1, len(values) * before) + 1e-12 for before, after in pairs)
    assert [after for _, after in pairs] == sorted(corrected)


def test_the_area_is_an_average_over_labels():
    # 100 labels at .6 and 200 at .8 on average
    assert area_under([100, 200, 400], [0.5, 0.7, 0.9]) == pytest.approx(220 / 300)
    assert area_under([100], [0.5]) == 0.5
    with pytest.raises(ValueError, match="needs a point"):
        area_under([], [])


@given(st.floats(0, 1), st.lists(st.integers(0, 5000), min_size=1, max_size=9, unique=True).map(sorted))
def test_the_area_of_a_constant_curve_is_the_constant(level, labels):
    assert area_under(labels, [level] * len(labels)) == pytest.approx(level)


@given(accuracies)
def test_a_curve_saves_nothing_against_itself(values):
    rising = sorted(set(values))
    labels = [100 * (place + 1) for place in range(len(rising))]
    needed = labels_needed(labels, rising, rising[-1])
    assert label_saving(needed, labels[-1]) == pytest.approx(0)


def test_ties_are_half_a_win():
    found = wins([0.9, 0.8, 0.7, 0.6], [0.8, 0.8, 0.8, 0.5])
    assert found == Wins(2, 1, 1)
    assert found.rate == 0.625
    assert wins([0.1 + 0.2], [0.3]) == Wins(0, 1, 0)


def test_how_many_runs_would_do():
    # tables of power say 34 for half a standard deviation at 5 % and a power of 0.8, and 15 for 0.8 of one
    assert runs_wanted(Estimate(1.0, 3, 2.0)) == 34
    assert runs_wanted(Estimate(-0.8, 3, 1.0)) == 15
    assert runs_wanted(Estimate(1.0, 3, 2.0), comparisons=5) > 34
    assert runs_wanted(Estimate(0.01, 3, 2.0)) is None
    assert runs_wanted(Estimate(1.0, 1)) is None and runs_wanted(Estimate(0.0, 3, 1.0)) is None


def test_a_share_of_few_cases_is_wide_even_where_all_are_won():
    assert wilson(7 / 9, 9) == (pytest.approx(0.4526, abs=1e-4), pytest.approx(0.9368, abs=1e-4))
    z = 1.959964
    assert wilson(1.0, 10) == (pytest.approx(1 / (1 + z * z / 10), abs=1e-6), pytest.approx(1))
    assert wilson(0.0, 10) == (pytest.approx(0), pytest.approx(1 - 1 / (1 + z * z / 10), abs=1e-6))
