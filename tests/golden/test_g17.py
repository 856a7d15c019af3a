"""Label models against the numbers of METHODS G17: three sources, two classes, accuracies .9, .7 and .6."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from actune.weak.label_models import combine, estimate_chances, posterior
from actune.weak.votes import Votes
from tests.golden.inputs import golden

ACCURACIES = [0.9, 0.7, 0.6]
EVEN = np.array([0.5, 0.5])
CHANCES = np.array([[[a, 1 - a], [1 - a, a], [1.0, 1.0]] for a in ACCURACIES])  # [source, vote or none, class]
PATTERNS = golden("G17.vote_patterns").numpy().astype(np.int64)


def population(times: int = 200) -> NDArray[np.int64]:
    """Every pattern as often as it occurs among so many rows; a multiple of 200 makes these whole numbers."""
    counts = golden("G17.population_pattern_probs").numpy() * times
    return np.repeat(PATTERNS, counts.round().astype(int), axis=0)


def test_posteriors_of_all_patterns() -> None:
    found = posterior(PATTERNS, CHANCES, EVEN)[:, 1]
    np.testing.assert_allclose(found, golden("G17.posterior_P(Y=1|votes)"), atol=1e-8)


def test_posteriors_with_abstention() -> None:
    votes = np.array([[1, -1, -1], [-1, 0, 0], [-1, -1, -1], [0, 1, -1]])
    np.testing.assert_allclose(posterior(votes, CHANCES, EVEN), golden("G17.posterior_with_abstain(-1)"), atol=1e-8)


def test_majority_and_where_the_model_overrules_it() -> None:
    majority = combine("majority", Votes(PATTERNS, ("a", "b", "c")), 2).labels
    model = posterior(PATTERNS, CHANCES, EVEN).argmax(axis=1)
    assert majority.tolist() == golden("G17.majority_vote").tolist()
    assert model.tolist() == golden("G17.label_model_argmax").tolist()
    assert PATTERNS[majority != model].tolist() == golden("G17.patterns_where_they_differ").tolist()


def test_em_recovers_the_accuracies() -> None:
    chances = estimate_chances(population(), 2, smoothing=0, steps=20_000)
    for outcome in (0, 1):
        np.testing.assert_allclose(chances[:, outcome, outcome], golden("G17.EM_accuracies"), atol=1e-6)


@pytest.mark.parametrize("name", ["em", "snorkel"])
def test_models_find_the_order_and_overrule_the_majority(name: str) -> None:
    found = combine(name, Votes(population(20_000), ("a", "b", "c")), 2)
    first, second, third = found.accuracy
    assert first > second > third > 0.5
    rows = {tuple(row): label for row, label in zip(population(20_000).tolist(), found.labels, strict=True)}
    assert [rows[tuple(pattern)] for pattern in PATTERNS.tolist()] == golden("G17.label_model_argmax").tolist()


def test_the_mean_belief_in_a_source_is_its_accuracy() -> None:
    found = combine("em", Votes(population(200_000), ("a", "b", "c")), 2)
    np.testing.assert_allclose(found.accuracy, ACCURACIES, atol=6e-3)  # smoothing still pulls a little towards .7
