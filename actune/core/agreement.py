"""How far people agree: Cohen's kappa of two, and Krippendorff's alpha of any number with its interval by text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from actune.core.facts import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DRAWS, CONFIDENCE = 2000, 0.95
DRAWS_AT_ONCE = 200  # a draw of texts is a number for each of them


def cohens_kappa(answers: Iterable[tuple[int, int]]) -> float | None:
    """Agreement beyond chance of two people, from the classes that both gave the same texts.

    None where there is no such text, or where chance alone would make them agree, as with a single class.
    """
    pairs = list(answers)
    if not pairs:
        return None
    one, other = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    agreed = sum(first == second for first, second in pairs)
    expected = sum(count * other[label] for label, count in one.items())  # times the number of texts
    if expected == len(pairs) ** 2:
        return None
    return (agreed * len(pairs) - expected) / (len(pairs) ** 2 - expected)


def krippendorffs_alpha(answers: Sequence[Mapping[str, int]]) -> float | None:
    """Agreement beyond chance of any number of people, for nominal classes; not everybody answers every text.

    Each text has the class that each person gave it. Texts with one answer say nothing about agreement. None where no
    text has two answers, or where all answers name one class.
    """
    import numpy as np

    counts = _counted(answers)
    (found,) = _alphas(counts, np.ones((1, len(counts)), np.int64))
    return None if np.isnan(found) else float(found)


def alpha_with_interval(answers: Sequence[Mapping[str, int]], rng: np.random.Generator) -> Interval | None:
    """The same with its 95 % interval, by a bootstrap that draws texts."""
    import numpy as np

    value = krippendorffs_alpha(answers)
    if value is None:
        return None
    counts, found = _counted(answers), []
    for _ in range(DRAWS // DRAWS_AT_ONCE):
        drawn = rng.integers(len(counts), size=(DRAWS_AT_ONCE, len(counts)))
        places = drawn + len(counts) * np.arange(DRAWS_AT_ONCE)[:, None]
        times = np.bincount(places.ravel(), minlength=DRAWS_AT_ONCE * len(counts)).reshape(drawn.shape)
        found.append(_alphas(counts, times))
    known = np.concatenate(found)
    known = known[~np.isnan(known)]  # a draw with a single class tells nothing
    low, high = np.quantile(known, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(value, float(low), float(high))


def _counted(answers: Sequence[Mapping[str, int]]) -> npt.NDArray[np.float64]:
    """How often each class was given to each text that has two answers or more: (texts, classes)."""
    import numpy as np

    paired = [Counter(each.values()) for each in answers if len(each) > 1]
    classes = {label: place for place, label in enumerate(sorted({label for each in paired for label in each}))}
    counts = np.zeros((len(paired), len(classes)))
    for row, each in enumerate(paired):
        for label, count in each.items():
            counts[row, classes[label]] = count
    return counts


def _alphas(counts: npt.NDArray[np.float64], times: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Alpha where each text is taken so many times: `times` is (draws, texts). NaN where all answers are of one class.

    alpha = 1 - observed / expected disagreement. The observed one of a text with m answers, n_c of them for class c, is
    (m^2 - sum of n_c^2) / (m - 1). Of all n answers, N_c of them for class c, it is (n^2 - sum of N_c^2) / (n - 1).
    """
    import numpy as np

    answers = counts.sum(1)
    differ = (answers**2 - (counts**2).sum(1)) / (answers - 1)
    of_class = times @ counts  # (draws, classes)
    total = of_class.sum(1)
    expected = total**2 - (of_class**2).sum(1)
    observed = (total - 1) * (times @ differ)
    return np.where(expected > 0, 1 - observed / np.where(expected > 0, expected, 1), np.nan)
