"""Where a learning curve goes: a power law of the error, and how uncertain that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actune.core.facts import Share

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FEWEST = 3  # points of a curve that tell where it goes
DRAWS = 1000
FAR = 100.0  # times the labels so far: beyond that no curve tells anything


@dataclass(frozen=True)
class CurvePoint:
    """The accuracy with so many labels."""

    labels: int
    accuracy: Share


@dataclass(frozen=True)
class Forecast:
    """How many more labels a gain takes, with a 95 % interval; None is more than a curve can tell."""

    gain: float
    labels: int | None
    low: int | None
    high: int | None


def forecast(points: Sequence[CurvePoint], gain: float, rng: np.random.Generator) -> Forecast | None:
    """The labels until the accuracy is higher by `gain`, when the error falls as a power of the number of labels.

    The interval is that of a parametric bootstrap: each point is drawn anew from what its own count allows, as if the
    points were independent. Too few points, or points at fewer than two sizes, tell nothing.
    """
    import numpy as np

    if len(points) < FEWEST or len({point.labels for point in points}) < 2:
        return None
    sizes = np.asarray([point.labels for point in points], np.float64)
    counts = np.asarray([point.accuracy.count for point in points], np.float64)
    wrong = np.asarray([1 - point.accuracy.value for point in points]) * counts
    errors = np.vstack(
        [(wrong + 0.5) / (counts + 1), rng.beta(wrong + 0.5, counts - wrong + 0.5, (DRAWS, len(points)))]
    )
    more = _labels_for(errors, sizes, counts, gain)
    low, high = np.quantile(more[1:], [0.025, 0.975], method="nearest").tolist()
    return Forecast(gain, _whole(more[0]), _whole(low), _whole(high))


def _labels_for(
    errors: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], gain: float
) -> npt.NDArray[np.float64]:
    """For each row of errors the labels beyond the largest size that bring the gain; infinite where none do."""
    import numpy as np

    x, share = np.log(sizes), weights / weights.sum()
    y = np.log(errors)  # (draws, points)
    middle = x @ share
    slope = ((y - (y @ share)[:, None]) * (x - middle)) @ share / (share @ (x - middle) ** 2)
    last = x.max()
    now = np.exp(y @ share + slope * (last - middle))
    wanted = now - gain
    more = np.full(len(errors), np.inf)
    falls = (slope < 0) & (wanted > 0)
    steps = np.log(now[falls] / wanted[falls]) / -slope[falls]
    near = steps < np.log(FAR)
    more[np.flatnonzero(falls)[near]] = np.exp(last) * np.expm1(steps[near])
    return more


def _whole(labels: float) -> int | None:
    return round(labels) if labels != float("inf") else None
