"""The rows that are trusted: how many, which, and as what."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch

from actune.methods.memory import Memory
from actune.methods.regions import Calmest, Hottest, Regions
from actune.methods.trust import Anywhere, Pace, Surest
from actune.methods.uncertainty import Cal, entropy
from tests.methods.synthetic import drawn_view, view_of

REGIONS = Regions(entropy, 6, 0.5)
TRAINING = Surest(Memory(entropy), Calmest(REGIONS, 2), growth=5)


def test_trap_7_asked_and_trusted_never_meet_and_trusted_rows_lie_in_calm_regions() -> None:
    view = drawn_view()
    asked = Hottest(REGIONS, 6)(view, 60)
    rest = view.without(asked)
    trusted, _ = Surest(Memory(entropy), Calmest(REGIONS, 2), growth=500)(rest, None, Pace(0, 10))
    calm = set(Calmest(REGIONS, 2)(view).tolist())
    assert set(trusted.rows.tolist()) == calm - set(asked.tolist())
    assert calm & set(asked.tolist())  # so that the subtraction above meant something


def test_trap_7_trusted_rows_are_chosen_anew() -> None:
    """A row that was trusted and is unsure now is trusted no more."""
    sure, unsure = [0.99, 0.01], [0.5, 0.5]
    training = Surest(Memory(entropy, "nothing"), Anywhere(), growth=1)
    first, state = training(view_of(torch.tensor([sure, unsure, unsure])), None, Pace(0, 10))
    second, _ = training(view_of(torch.tensor([unsure, sure, sure])), state, Pace(1, 10))
    assert first.rows.tolist() == [0] and second.rows.tolist() == [1, 2]


@pytest.mark.parametrize("round", range(4))
def test_trusted_rows_grow_with_the_rounds(round: int) -> None:
    trusted, _ = TRAINING(drawn_view(), None, Pace(round, 10))
    assert len(trusted) == 5 * (round + 1)


def test_trusted_rows_are_the_surest_first_with_ties_by_row() -> None:
    view = view_of(torch.tensor([[0.6, 0.4], [0.9, 0.1], [0.1, 0.9], [0.5, 0.5]]))
    trusted, _ = Surest(Memory(entropy), Anywhere(), growth=3)(view, None, Pace(0, 10))
    assert trusted.rows.tolist() == [1, 2, 0] and trusted.targets.tolist() == [0, 1, 0]
    assert trusted.weights.tolist() == [1, 1, 1]
    kinds = [array.dtype.name for array in (trusted.rows, trusted.targets, trusted.weights)]
    assert kinds == ["int64", "int64", "float32"]


def test_the_bank_holds_the_current_model_before_it_chooses() -> None:
    view = view_of(torch.tensor([[0.9, 0.1], [0.5, 0.5]]))
    past = np.array([[0.5, 0.5], [1.0, 0.0]], dtype=np.float32)
    trusted, state = Surest(Memory(entropy, low=0.9, high=0.9), Anywhere(), growth=1)(view, past, Pace(0, 10))
    assert trusted.rows.tolist() == [0]
    np.testing.assert_allclose(state, [[0.9, 0.1], [0.5, 0.5]], rtol=1e-6)  # type: ignore[arg-type]


def test_a_single_predicted_class_may_be_trusted() -> None:
    view = view_of(torch.tensor([[0.9, 0.1]]).repeat(6, 1))
    trusted, _ = Surest(Memory(entropy), Calmest(Regions(entropy, 2, 0.5), 1), 10)(view, None, Pace(0, 10))
    assert len(trusted) > 0 and set(trusted.targets.tolist()) == {0}


def test_nothing_to_trust() -> None:
    view = drawn_view()
    trusted, state = TRAINING(view.without(view.candidates), None, Pace(0, 10))
    assert len(trusted) == 0 and state is not None and len(state) == 120


@pytest.mark.parametrize("memory", [Memory(entropy), Memory(Cal(3), "scores")], ids=["predictions", "scores"])
def test_a_memory_that_was_saved_goes_on_bit_by_bit(memory: Memory) -> None:
    training = Surest(memory, Calmest(REGIONS, 3), growth=7)
    views = [drawn_view(seed=seed, dtype=torch.float32) for seed in range(4)]
    unbroken = resumed = None
    for round, view in enumerate(views):
        expected, unbroken = training(view, unbroken, Pace(round, 4))
        trusted, resumed = training(view, resumed, Pace(round, 4))
        file = io.BytesIO()
        np.save(file, resumed)  # type: ignore[arg-type]
        file.seek(0)
        resumed = np.load(file)
        assert trusted.rows.tolist() == expected.rows.tolist()
        np.testing.assert_array_equal(resumed, unbroken)
