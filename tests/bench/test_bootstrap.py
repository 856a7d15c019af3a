"""Draws of seeds and texts: by hand, against a plain loop, and whether the interval covers what was planted."""

from __future__ import annotations

import numpy as np
import pytest

from actune.bench.bootstrap import DRAWS_AT_ONCE, bounds, resampled
from actune.core.streams import Streams


def test_one_seed_and_two_texts_give_a_half_twice_as_often_as_none_or_both():
    draws = resampled(np.array([[[1, 0]]]), draws=20_000)
    shares = [(draws == value).mean() for value in (0, 0.5, 1)]
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.015)


def test_it_is_the_plain_loop():
    rng = np.random.default_rng(1)
    right = rng.random((2, 3, 17)) < 0.7
    found, plain = resampled(right, draws=DRAWS_AT_ONCE + 5, seed=4), []
    stream = Streams(4).rng("bootstrap")
    for count in (DRAWS_AT_ONCE, 5):
        seeds, texts = stream.integers(3, size=(count, 3)), stream.integers(17, size=(count, 17))
        plain += [[right[m][s][:, t].mean() for m in (0, 1)] for s, t in zip(seeds, texts, strict=True)]
    assert found == pytest.approx(np.array(plain))


def test_the_same_numbers_again_and_others_from_another_seed():
    right = np.random.default_rng(0).random((2, 3, 40)) < 0.5
    assert (resampled(right, 50) == resampled(right, 50)).all()
    assert (resampled(right, 50) != resampled(right, 50, seed=1)).any()


def test_a_method_never_differs_from_itself():
    right = np.random.default_rng(0).random((1, 3, 40)) < 0.5
    draws = resampled(np.concatenate([right, right]))
    assert bounds(draws[:, 0] - draws[:, 1]) == (0, 0)


def test_both_kinds_of_luck_count():
    texts = np.random.default_rng(0).random(400) < 0.5
    same_in_every_seed = np.stack([[texts, texts, texts]])
    same_for_every_text = np.stack([[np.zeros(400), np.ones(400), np.ones(400)]])
    for right in (same_in_every_seed, same_for_every_text):
        low, high = bounds(resampled(right)[:, 0])
        assert low < right.mean() - 0.02 and high > right.mean() + 0.02


def test_the_interval_covers_what_was_planted():
    planted, covered = 0.06, 0
    for trial in range(120):
        rng = np.random.default_rng(trial)
        luck = rng.normal(0, 0.02, (2, 6, 1))
        level = np.array([0.8 + planted, 0.8])[:, None, None] + luck
        hard = rng.random((1, 1, 300))  # the same texts are hard for both
        noise = rng.random((2, 6, 300))
        right = np.where(noise < 0.5, hard, noise * 2 - 1) < level
        draws = resampled(right, draws=400, seed=trial)
        low, high = bounds(draws[:, 0] - draws[:, 1])
        covered += low <= planted <= high
    assert covered >= 100
