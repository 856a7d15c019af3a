"""The forecast of a learning curve."""

from __future__ import annotations

import numpy as np

from actune.core.curves import CurvePoint, forecast
from actune.core.facts import Share


def curve(sizes: list[int], power: float, count: int = 100_000) -> list[CurvePoint]:
    return [CurvePoint(size, Share.of(round(count * (1 - size**-power)), count)) for size in sizes]


def test_an_exact_power_law_is_found_again() -> None:
    """With an error of n ** -0.5, 100 labels have an error of 0.1; one of 0.09 takes (1 / 0.09) ** 2 = 123.46."""
    found = forecast(curve([25, 50, 75, 100], 0.5), 0.01, np.random.default_rng(0))
    assert found is not None and found.labels in (23, 24)
    assert found.low is not None and found.high is not None and 20 <= found.low <= 23 <= found.high <= 27


def test_fewer_cases_make_the_interval_wider() -> None:
    few, many = (forecast(curve([25, 50, 75, 100], 0.5, n), 0.01, np.random.default_rng(0)) for n in (300, 30_000))
    assert few is not None and many is not None and few.low is not None and many.low is not None
    assert many.high is not None and (few.high is None or few.high - few.low > many.high - many.low)


def test_a_curve_that_does_not_rise_tells_no_number() -> None:
    flat = [CurvePoint(size, Share.of(500, 1000)) for size in (20, 40, 60)]
    found = forecast(flat, 0.01, np.random.default_rng(0))
    assert found is not None and found.high is None
    falling = [CurvePoint(size, Share.of(900 - size, 1000)) for size in (20, 40, 60)]
    assert forecast(falling, 0.01, np.random.default_rng(0)).labels is None  # type: ignore[union-attr]


def test_too_few_points_tell_nothing() -> None:
    assert forecast(curve([25, 50], 0.5), 0.01, np.random.default_rng(0)) is None
    assert forecast(curve([25, 25, 25], 0.5), 0.01, np.random.default_rng(0)) is None
