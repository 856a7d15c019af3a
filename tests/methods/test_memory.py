"""The running means: what they rank by, what they label by, and which row is which."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.errors import SettingError
from actune.methods.memory import Memory, Pace, momentum
from actune.methods.trust import Anywhere, Surest
from actune.methods.uncertainty import Bald, Cal, entropy, entropy_of
from actune.testing.views import drawn_view, stored_view, view_of


def drawn(seed: int, rows: int = 20, classes: int = 3) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return (3 * torch.randn(rows, classes, generator=draw, dtype=torch.float64)).softmax(1)


@given(st.integers(0, 99), st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=5))
@settings(max_examples=30, deadline=None)
def test_remembered_predictions_stay_on_the_simplex(seed: int, momenta: list[tuple[float, float]]) -> None:
    state = None
    for round, (low, high) in enumerate(momenta):
        state = Memory(entropy, low=low, high=high).update(view_of(drawn(seed + round)), state, Pace(round, 10))
        assert state is not None and (state >= 0).all()
        np.testing.assert_allclose(state.sum(1), 1, atol=1e-12)


@given(st.integers(0, 999), st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_remembering_never_makes_surer_than_the_mean_of_scores(seed: int, share: float) -> None:
    before, now = drawn(seed), drawn(seed + 1)
    view = view_of(now)
    memory = Memory(entropy, low=share, high=share)
    remembered = memory.ranking(view, memory.update(view, before.numpy(), Pace(1, 10)))
    mean = share * entropy_of(now.log()) + (1 - share) * entropy_of(before.log())
    assert (remembered >= mean - 1e-12).all()


@given(st.integers(0, 999), st.sampled_from(["predictions", "scores"]))
@settings(max_examples=20, deadline=None)
def test_momentum_one_is_no_memory(seed: int, remembers: str) -> None:
    view, old = drawn_view(seed=seed), drawn_view(seed=seed + 1)
    memory = Memory(entropy, remembers, low=1.0, high=1.0)  # type: ignore[arg-type]
    nothing = Memory(entropy, "nothing")
    state = memory.update(view, memory.update(old, None, Pace(0, 10)), Pace(3, 10))
    torch.testing.assert_close(memory.ranking(view, state), nothing.ranking(view, None), rtol=0, atol=1e-12)
    assert torch.equal(memory.targets(view, state), nothing.targets(view, None))
    assert nothing.update(view, state, Pace(4, 10)) is None


def test_momentum_zero_forgets_the_present() -> None:
    memory = Memory(entropy, low=0.0, high=0.0)
    before = drawn(0)
    state = memory.update(view_of(drawn(1)), before.numpy(), Pace(5, 10))
    np.testing.assert_array_equal(state, before.numpy())


@pytest.mark.parametrize(("round", "expected"), [(0, 0.8), (5, 0.85), (10, 0.9), (25, 0.9)])
def test_trap_5_momentum_by_round(round: int, expected: float) -> None:
    assert momentum(round, 10, 0.8, 0.9) == pytest.approx(expected)
    assert momentum(round, 0, 0.8, 0.9) == 0.9


@pytest.mark.parametrize("remembers", ["predictions", "scores"])
def test_trap_5_the_first_round_takes_what_it_sees(remembers: str) -> None:
    memory = Memory(entropy, remembers)  # type: ignore[arg-type]
    view = drawn_view()
    expected = view.log_proba.exp() if remembers == "predictions" else entropy(view)
    for state, round in [(None, 0), (None, 7), (np.zeros_like(expected.numpy()), 0)]:
        np.testing.assert_array_equal(memory.update(view, state, Pace(round, 10)), expected.numpy())


@pytest.mark.parametrize("remembers", ["predictions", "scores"])
def test_trap_5_a_row_keeps_its_memory_when_others_leave_the_pool(remembers: str) -> None:
    memory = Memory(entropy, remembers)  # type: ignore[arg-type]
    rounds = [drawn(0), drawn(1), drawn(2)]
    full = shrinking = None
    for round, proba in enumerate(rounds):
        full = memory.update(view_of(proba), full, Pace(round, 10))
        shrinking = memory.update(view_of(proba, labelled=range(5 * round)), shrinking, Pace(round, 10))
    np.testing.assert_array_equal(full, shrinking)


@pytest.mark.parametrize("remembers", ["predictions", "scores"])
def test_trap_5_rows_that_join_later_enter_fresh(remembers: str) -> None:
    memory = Memory(entropy, remembers, low=0.5, high=0.5)  # type: ignore[arg-type]
    old, new = view_of(drawn(0, rows=4)), view_of(drawn(1, rows=6))
    state = memory.update(new, memory.update(old, None, Pace(0, 10)), Pace(1, 10))
    before, now = (
        (view.log_proba.exp() if remembers == "predictions" else entropy(view)).numpy() for view in (old, new)
    )
    assert state is not None and len(state) == 6
    np.testing.assert_allclose(state[:4], 0.5 * now[:4] + 0.5 * before)
    np.testing.assert_array_equal(state[4:], now[4:])


def test_trap_6_which_quantity_ranks_and_which_labels() -> None:
    view = view_of(torch.tensor([[0.45, 0.55], [0.1, 0.9]]).double())
    past = torch.tensor([[1.0, 0.0], [0.5, 0.5]]).double()
    predictions, scores = Memory(entropy, "predictions", 0.5, 0.5), Memory(entropy, "scores", 0.5, 0.5)
    kept = predictions.update(view, past.numpy(), Pace(1, 10))
    torch.testing.assert_close(
        predictions.ranking(view, kept), entropy_of(torch.tensor([[0.725, 0.275], [0.3, 0.7]]).double().log())
    )
    assert predictions.targets(view, kept).tolist() == [0, 1]
    values = scores.update(view, entropy_of(past.log()).numpy(), Pace(1, 10))
    torch.testing.assert_close(scores.ranking(view, values), (entropy(view) + entropy_of(past.log())) / 2)
    assert scores.targets(view, values).tolist() == [1, 1]


def test_remembered_predictions_rank_by_their_entropy_whatever_the_score() -> None:
    view = drawn_view()
    memory = Memory(Cal(3), "predictions")
    torch.testing.assert_close(memory.ranking(view, memory.update(view, None, Pace(0, 10))), entropy(view))


@pytest.mark.parametrize("remembers", ["predictions", "scores"])
def test_neither_the_view_nor_the_old_state_changes(remembers: str) -> None:
    memory = Memory(entropy, remembers)  # type: ignore[arg-type]
    view = drawn_view()
    log_proba, scores = view.log_proba.clone(), entropy(view).clone()
    first = memory.update(view, None, Pace(0, 10))
    assert first is not None
    first[:] = 0.5  # a session may do with its state what it likes
    second = memory.update(view, first, Pace(1, 10))
    assert (first == 0.5).all() and second is not first
    assert torch.equal(view.log_proba, log_proba) and torch.equal(entropy(view), scores)


def test_the_state_keeps_the_precision_of_the_model() -> None:
    state = Memory(entropy).update(drawn_view(dtype=torch.float32), None, Pace(0, 10))
    assert state is not None and state.dtype == np.float32


def test_a_row_that_no_score_was_given_for_comes_back_as_it_is_now() -> None:
    """BALD says nothing of labelled rows; a row may be labelled, and its label taken back two rounds later."""
    passes = [torch.stack([drawn(10 * round + number, rows=6) for number in range(3)]) for round in range(4)]
    labelled = [(), (2,), (2,), ()]
    training = Surest(Memory(Bald(3), "scores", low=0.5, high=0.5), Anywhere(), growth=9)
    state = None
    for round in range(4):
        view = stored_view(passes[round], labelled=labelled[round])
        trusted, state = training(view, state, Pace(round, 10))
        assert sorted(trusted.rows.tolist()) == view.candidates.tolist()
        assert state is not None and np.isnan(state).nonzero()[0].tolist() == list(labelled[round])
    scores = [Bald(3)(stored_view(given)).numpy() for given in passes]
    assert state is not None and state[2] == scores[3][2]
    assert state[0] == pytest.approx(0.5 * scores[3][0] + 0.25 * scores[2][0] + 0.125 * (scores[1][0] + scores[0][0]))


def test_a_memory_of_something_else_is_refused() -> None:
    with pytest.raises(SettingError, match="did you mean 'scores'"):
        Memory(entropy, "score")  # type: ignore[arg-type]
