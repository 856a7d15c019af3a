"""A bootstrap over seeds and test texts, resampled alike for all methods that are compared."""

from __future__ import annotations

import numpy as np

from actune.bench.statistics import CONFIDENCE
from actune.core.streams import Streams

BOOTSTRAP_DRAWS = 2000
DRAWS_AT_ONCE = 200  # a draw of texts is a number for each of them


def resampled(right: np.ndarray, draws: int = BOOTSTRAP_DRAWS, seed: int = 0) -> np.ndarray:
    """Accuracies of every method in every draw of seeds and, within it, of texts: (draws, methods).

    `right` says which predictions are: (methods, seeds, texts). A draw is shared by all methods, so that differences
    of two columns are paired.
    """
    # scipy.stats.bootstrap draws along one axis, and here seeds and texts are drawn independently
    _, seeds, texts = right.shape
    values, rng = right.astype(np.float32), Streams(seed).rng("bootstrap")
    found = []
    for first in range(0, draws, DRAWS_AT_ONCE):
        count = min(DRAWS_AT_ONCE, draws - first)
        of_seeds = _counts(rng, count, seeds)  # (draws, seeds)
        of_texts = _counts(rng, count, texts)  # (draws, texts)
        summed = [((of_seeds @ method) * of_texts).sum(1, dtype=np.float64) for method in values]
        found.append(np.stack(summed, 1) / (seeds * texts))
    return np.concatenate(found)


def bounds(values: np.ndarray) -> tuple[float, float]:
    """The middle of what was drawn, as an interval."""
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def _counts(rng: np.random.Generator, draws: int, things: int) -> np.ndarray:
    """How often each thing occurs in each draw of as many, with replacement."""
    drawn = rng.integers(things, size=(draws, things)) + things * np.arange(draws)[:, None]
    return np.bincount(drawn.ravel(), minlength=draws * things).reshape(draws, things).astype(np.float32)
