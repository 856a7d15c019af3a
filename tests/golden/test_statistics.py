"""Label efficiency and the paired test against the numbers of METHODS G19 and G20."""

from __future__ import annotations

import math

import pytest

from actune.bench.statistics import label_saving, labels_needed, paired_test
from tests.golden.inputs import golden

LABELS = [1000, 1500, 2000, 2500, 3000]
ACCURACIES = [88.0, 88.6, 89.0, 89.4, 89.5]
A, B = [91.0, 91.4, 91.2], [90.3, 90.9, 90.8]


def test_g19_labels_for_an_accuracy_and_what_is_saved() -> None:
    needed = labels_needed(LABELS, ACCURACIES, 89.2)
    assert needed == pytest.approx(golden("G19.N_to_reach_89.2").item(), abs=1e-8)
    assert label_saving(needed, 1000) == pytest.approx(golden("G19.saving").item(), abs=1e-8)


def test_g19_savings_of_the_paper_imply_labels() -> None:
    for saving, needed in zip((0.562, 0.570), golden("G19.N_implied").tolist(), strict=True):
        assert label_saving(needed, 1000) == pytest.approx(saving, abs=1e-8)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param(50.0, 1000, id="below the first point"),
        pytest.param(88.0, 1000, id="at the first point"),
        pytest.param(89.0, 2000, id="at a point"),
        pytest.param(89.5, 3000, id="at the last point"),
        pytest.param(89.6, math.inf, id="never"),
    ],
)
def test_labels_needed_at_the_edges(target: float, expected: float) -> None:
    assert labels_needed(LABELS, ACCURACIES, target) == pytest.approx(expected)


def test_a_curve_that_falls_again_is_met_where_it_first_rises() -> None:
    assert labels_needed([100, 200, 300, 400], [80, 90, 70, 95], 85) == pytest.approx(150)
    assert labels_needed([100, 200, 300, 400], [80, 70, 70, 90], 80) == 100
    assert labels_needed([], [], 1) == math.inf


def test_a_target_that_is_never_reached_saves_everything() -> None:
    assert label_saving(math.inf, 1000) == 1 and label_saving(1000, 1000) == 0 and label_saving(500, 1000) == -1


def test_g20_the_paired_test() -> None:
    found = paired_test(A, B)
    assert (found.t, found.p) == pytest.approx(golden("G20.t,p").tolist(), abs=1e-8)
    assert (found.mean, found.deviation) == pytest.approx((1.6 / 3, math.sqrt(0.07 / 3)))
    alone = paired_test(A, [0.0, 0.0, 0.0])
    assert (alone.mean, alone.deviation) == pytest.approx(golden("G20.mean,std").tolist(), abs=1e-8)


def test_the_test_is_paired_and_has_a_direction() -> None:
    there, back = paired_test(A, B), paired_test(B, A)
    assert (back.mean, back.t, back.p) == pytest.approx((-there.mean, -there.t, there.p))
    assert paired_test(A, [B[2], B[0], B[1]]).p != pytest.approx(there.p, rel=0.1)
