"""Votes with a known truth: rules that each know one class, with different coverages and accuracies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from actune.weak.votes import ABSTAIN, Votes

CLASSES = 8


def one_class_rules(seed: int = 0, rows: int = 3000, rules: int = 12) -> tuple[Votes, NDArray[np.int64]]:
    """Rule r votes for class r mod 8 and for nothing else; between half and nine tenths of its votes are right."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(CLASSES, size=rows)
    matrix = np.full((rows, rules), ABSTAIN, dtype=np.int64)
    for rule in range(rules):
        number, right, coverage = rule % CLASSES, rng.uniform(0.5, 0.9), rng.uniform(0.05, 0.12)
        votes = round(coverage * rows)
        hits = rng.choice(np.flatnonzero(truth == number), round(votes * right), replace=False)
        alarms = rng.choice(np.flatnonzero(truth != number), round(votes * (1 - right)), replace=False)
        matrix[np.concatenate([hits, alarms]), rule] = number
    return Votes(matrix, tuple(f"rule {rule}" for rule in range(rules))), truth
