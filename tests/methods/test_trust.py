"""The rows that are trusted: how many, which, and as what."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
import torch

from actune.core.view import View
from actune.errors import MissingSignal
from actune.methods.features import Propagation
from actune.methods.memory import Memory, Pace
from actune.methods.queries import Top
from actune.methods.regions import Calmest, Hottest, Regions
from actune.methods.trust import Anywhere, Below, Propagated, Surest
from actune.methods.uncertainty import Cal, entropy
from actune.testing.views import drawn_view, stored_view, view_of

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


# below a falling limit: CEAL and BASS


def naive_below(view: View, proba: torch.Tensor, limit: float) -> list[tuple[int, int]]:
    """Row and class of every candidate that is sure enough, the surest first."""
    found = []
    for row in view.candidates.tolist():
        shares = proba[row].tolist()
        uncertain = -sum(share * math.log(share) for share in shares if share) / math.log(len(shares))
        if uncertain < limit:
            found.append((uncertain, row, shares.index(max(shares))))
    return [(row, target) for _, row, target in sorted(found)]


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("round", [0, 1, 4])
def test_trap_11_rows_below_the_limit_have_their_own_class(classes: int, round: int) -> None:
    """Rows are numbers of the pool, never places among the candidates: some rows are labelled and others asked."""
    view = drawn_view(classes=classes)
    rest = view.without(Top(entropy)(view, 15))
    trusted, state = Below(0.4, 0.05)(rest, None, Pace(round, 10))
    expected = naive_below(rest, view.log_proba.exp(), 0.4 - 0.05 * round)
    assert list(zip(trusted.rows.tolist(), trusted.targets.tolist(), strict=True)) == expected
    assert len(expected) > 5 and state is None and (trusted.weights == 1).all()


def test_trap_11_the_limit_is_that_of_the_round_whatever_came_before() -> None:
    view, training = drawn_view(), Below(0.5, 0.04)
    state, in_turn = None, []
    for round in range(6):
        trusted, state = training(view, state, Pace(round, 10))
        in_turn.append(trusted.rows.tolist())
    alone = [training(view, None, Pace(round, 10))[0].rows.tolist() for round in (5, 3, 1, 0, 2, 4)]
    assert [in_turn[round] for round in (5, 3, 1, 0, 2, 4)] == alone
    assert len(in_turn[0]) > len(in_turn[5]) > 0


@pytest.mark.parametrize(("limit", "decay", "round"), [(0.0, 0.0, 0), (0.05, 0.01, 5), (0.05, 0.01, 9)])
def test_no_limit_left_trusts_nothing(limit: float, decay: float, round: int) -> None:
    certain = view_of(torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]]))
    assert len(Below(limit, decay)(certain, None, Pace(round, 10))[0]) == 0


def test_bass_trusts_the_mean_of_its_passes_and_not_the_plain_prediction() -> None:
    draw = torch.Generator().manual_seed(0)
    passes = (4 * torch.randn(1, 60, 3, generator=draw) + torch.randn(5, 60, 3, generator=draw)).double().softmax(2)
    view = stored_view(passes, proba=passes.mean(0).flip(1), labelled=[3, 7])
    trusted, _ = Below(0.3, 0.0, samples=5)(view, None, Pace(0, 10))
    expected = naive_below(view, passes.mean(0), 0.3)
    assert list(zip(trusted.rows.tolist(), trusted.targets.tolist(), strict=True)) == expected and len(expected) > 10
    with pytest.raises(MissingSignal, match="no dropout"):
        Below(0.3, 0.0, samples=5)(View(view.readout, range(60)), None, Pace(0, 10))


# along a graph: REVIVAL


def test_propagated_rows_have_the_class_that_reaches_them_weighted_by_certainty() -> None:
    view = drawn_view()
    rest = view.without(view.candidates[:20])
    trusted, _ = Propagated(Propagation(neighbors=6))(rest, None, Pace(0, 10))
    proba = Propagation(neighbors=6)(view).tolist()
    assert trusted.rows.tolist() == rest.candidates.tolist()
    for row, target, weight in zip(trusted.rows, trusted.targets, trusted.weights, strict=True):
        shares = proba[row]
        uncertain = -sum(share * math.log(share) for share in shares if share) / math.log(3)
        assert target == shares.index(max(shares)) and weight == pytest.approx(1 - uncertain, abs=1e-6)
    assert (trusted.weights >= 0).all() and trusted.weights.max() > trusted.weights.min()


def test_without_labels_nothing_spreads_and_the_model_itself_is_asked() -> None:
    view = view_of(torch.tensor([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]).double())
    trusted, _ = Propagated(Propagation())(view, None, Pace(0, 10))
    assert trusted.targets.tolist() == [0, 0, 1]
    assert trusted.weights[1] == pytest.approx(0, abs=1e-7) and trusted.weights[0] > trusted.weights[2] > 0
