"""What several runs say together: how many labels an accuracy costs, and whether two methods differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


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


@dataclass(frozen=True)
class Paired:
    """How two methods differ over the same seeds: a - b, its spread over seeds, and Student's test of it."""

    mean: float
    deviation: float  # of a sample: divided by n - 1
    t: float
    p: float  # two-sided


def paired_test(a: Sequence[float], b: Sequence[float]) -> Paired:
    """The difference of two methods whose results stand in the same order of seeds."""
    import numpy as np
    from scipy.stats import ttest_rel

    difference = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    found = ttest_rel(a, b)
    return Paired(float(difference.mean()), float(difference.std(ddof=1)), float(found.statistic), float(found.pvalue))
