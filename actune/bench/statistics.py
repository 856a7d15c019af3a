"""What several runs say together: means with intervals, labels that an accuracy costs, whether two methods differ.

Numbers go in and numbers come out; where there are too few runs for a number there is None, never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

CONFIDENCE = 0.95  # of every interval
POWER = 0.8  # of the estimate of how many runs would do
FEWEST_SEEDS = 3  # that a verdict needs
MOST_RUNS = 100  # a larger number is no advice
ROUNDING = 1e-9  # runs that deviate by less differ by rounding alone


@dataclass(frozen=True)
class Estimate:
    """A mean over runs. Without two runs that differ there is no interval and no test of it."""

    mean: float
    runs: int
    deviation: float | None = None  # of a sample: divided by n - 1
    low: float | None = None
    high: float | None = None
    t: float | None = None
    p: float | None = None  # two-sided, of a mean of zero

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The interval, where there is one."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of independent runs with its t-interval, and Student's test of whether it is zero."""
    count = len(values)
    if not count:
        raise ValueError("a mean needs a run")
    mean = math.fsum(values) / count
    if count < 2:
        return Estimate(mean, count)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    return _tested(Estimate(mean, count, deviation), deviation / math.sqrt(count), count - 1)


def paired_test(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """a - b of two methods whose results stand in the same order of seeds."""
    return estimate([one - other for one, other in zip(a, b, strict=True)])


def over_tasks(parts: Sequence[Estimate]) -> Estimate:
    """The mean over these tasks, each counting alike, of means over runs; degrees of freedom by Satterthwaite.

    It speaks of these tasks alone: only the luck of seeds is in its interval. `runs` is the fewest of a task.
    """
    if not parts:
        raise ValueError("a mean over tasks needs a task")
    whole = Estimate(math.fsum(part.mean for part in parts) / len(parts), min(part.runs for part in parts))
    variances = [part.deviation**2 / part.runs for part in parts if part.deviation is not None]
    if len(variances) < len(parts) or not (total := math.fsum(variances)):
        return whole
    shares = [variance**2 / (part.runs - 1) for variance, part in zip(variances, parts, strict=True)]
    return _tested(whole, math.sqrt(total) / len(parts), total**2 / math.fsum(shares))


def jackknife(statistic: Callable[[Sequence[int]], float], seeds: Sequence[int]) -> Estimate:
    """A statistic of all seeds; its interval from what becomes of it when each seed in turn is left out.

    For a mean this is the t-interval. Where leaving a seed out makes the statistic infinite there is no interval.
    """
    whole = Estimate(statistic(seeds), len(seeds))
    if len(seeds) < 2:
        return whole
    without = [statistic([seed for seed in seeds if seed != left_out]) for left_out in seeds]
    if not all(map(math.isfinite, [whole.mean, *without])):
        return whole
    count, middle = len(seeds), math.fsum(without) / len(seeds)
    error = math.sqrt((count - 1) / count * math.fsum((value - middle) ** 2 for value in without))
    return _tested(replace(whole, deviation=error * math.sqrt(count)), error, count - 1)


def _tested(found: Estimate, error: float, degrees: float) -> Estimate:
    """The estimate with interval and test, by the standard error of its mean."""
    if error < ROUNDING:
        return found
    # not scipy.stats.ttest_1samp, which takes a sample: a jackknife and a mean over tasks have only a standard error
    from scipy.special import stdtr, stdtrit

    half = float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) * error
    t = found.mean / error
    return replace(found, low=found.mean - half, high=found.mean + half, t=t, p=2 * float(stdtr(degrees, -abs(t))))


def wilson(share: float, count: int) -> tuple[float, float]:
    """Wilson's interval of a share of so many cases. It has a width even where all or none of them were won."""
    # not scipy.stats.binomtest, which counts whole successes: a tie is half a win here
    from scipy.special import ndtri

    square = float(ndtri((1 + CONFIDENCE) / 2)) ** 2 / count
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def runs_wanted(found: Estimate, comparisons: int = 1) -> int | None:
    """How many runs in all would probably tell such a mean from zero: a rough estimate from a few runs.

    With a power of 0.8, and as strictly as the first of so many comparisons is tested. None where nothing is known of
    the spread, or where it would take more than MOST_RUNS.
    """
    from scipy.special import stdtrit

    if not found.deviation or abs(found.mean) < ROUNDING:
        return None
    certain = 1 - (1 - CONFIDENCE) / (2 * comparisons)
    for runs in range(2, MOST_RUNS + 1):
        quantiles = float(stdtrit(runs - 1, certain)) + float(stdtrit(runs - 1, POWER))
        if runs >= (quantiles * found.deviation / found.mean) ** 2:
            return runs
    return None


def holm(values: Sequence[float | None]) -> list[float | None]:
    """p-values of one family after Holm's correction, in their order; what has no p is not in the family."""
    # SciPy corrects for the false discovery rate alone
    known = sorted((value, place) for place, value in enumerate(values) if value is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (value, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * value))
        corrected[place] = largest
    return corrected


def labels_needed(labels: Sequence[float], accuracies: Sequence[float], target: float) -> float:
    """The labels at which a curve first reaches the target, on a line between two points; infinite if it never does."""
    points = list(zip(labels, accuracies, strict=True))
    if points and points[0][1] >= target:
        return float(points[0][0])
    for (before, below), (after, reached) in pairwise(points):
        if reached >= target:
            return float(before + (after - before) * (target - below) / (reached - below))
    return math.inf


def label_saving(needed: float, labels: float) -> float:
    """The share of labels that a method saves which got by with `labels` where another needed more."""
    return 1 - labels / needed


def area_under(labels: Sequence[float], accuracies: Sequence[float]) -> float:
    """The area under a curve over its range of labels, which is its average accuracy."""
    if not labels or len(labels) != len(accuracies):
        raise ValueError("an area needs a point, and as many accuracies as labels")
    if len(labels) == 1:
        return float(accuracies[0])
    from scipy.integrate import trapezoid

    return float(trapezoid(accuracies, labels)) / (labels[-1] - labels[0])


@dataclass(frozen=True)
class Wins:
    """In how many comparisons a method was ahead, level and behind."""

    ahead: int
    level: int
    behind: int

    @property
    def count(self) -> int:
        return self.ahead + self.level + self.behind

    @property
    def rate(self) -> float:
        """The share won. A tie is half a win: on a small test set equal numbers are common."""
        return (self.ahead + self.level / 2) / self.count


def wins(a: Sequence[float], b: Sequence[float]) -> Wins:
    """How often `a` is ahead of `b`, compared place by place."""
    gaps = [one - other for one, other in zip(a, b, strict=True)]
    ahead, behind = sum(gap > ROUNDING for gap in gaps), sum(gap < -ROUNDING for gap in gaps)
    return Wins(ahead, len(gaps) - ahead - behind, behind)
