"""What is trusted, by CEAL, UST, ST, BASS and HAST, against METHODS G14, G15, G22, G23 and 13.1."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from actune.methods.memory import Pace
from actune.methods.queries import Top
from actune.methods.teaching import EasyDraw, balanced_draw, easiness, rarity, steadiness, vote
from actune.methods.trust import Below, falling
from actune.methods.uncertainty import Bald, entropy_of
from actune.models.training import ramp
from actune.testing.views import stored_view, view_of
from tests.golden.inputs import GOLDEN, PASSES, golden, tensor

SURE = tensor([[0.995, 0.005], [0.99, 0.01], [0.9, 0.1], [0.5, 0.5]])
FIRST = Pace(0, 10)


def close(found: torch.Tensor, name: str) -> None:
    torch.testing.assert_close(found, golden(name), rtol=0, atol=1e-8)


def test_g14_the_limit_falls_from_its_start() -> None:
    close(tensor([falling(0.05, 0.0033, round) for round in range(6)]), "G14.delta_paper_t0..5")
    assert falling(0.05, 0.0033, 20) == GOLDEN["G14.delta_clipped_at_zero_t=20"]


def test_trap_11_the_limit_does_not_fall_with_the_square_of_the_rounds() -> None:
    found = tensor([falling(0.05, 0.0033, round) for round in range(6)])
    wrong = golden("G14.delta_inplace_variant_t0..5")
    assert not torch.allclose(found[1:3], wrong[1:3], rtol=0, atol=1e-4)
    assert found[5] > 1.5 * wrong[5]


def test_g14_rows_below_the_limit() -> None:
    close(entropy_of(SURE.log()), "G14.entropy")
    in_nats, _ = Below(0.05 / math.log(2), 0)(view_of(SURE), None, FIRST)
    assert in_nats.rows.tolist() == GOLDEN["G14.high_conf_at_delta=.05"]
    share, _ = Below(0.1, 0)(view_of(SURE), None, FIRST)
    assert share.rows.tolist() == GOLDEN["G14.high_conf_normalised_entropy_delta=.1(log C)"]


def test_trap_11_the_limit_is_a_share_of_ln_c() -> None:
    """0.056 nats of two classes are 0.081 of ln 2, so a limit of 0.06 stands between the two readings."""
    assert Below(0.06, 0)(view_of(SURE), None, FIRST)[0].rows.tolist() == [0]


def test_g15_easy_rows_and_their_chances() -> None:
    easy = easiness(Bald(3)(stored_view(PASSES)))
    close(easy / easy.sum(), "G15.easy_scores")
    close(easy / easy.sum(), "G15.class0_sampling_probs")  # every row is predicted class 0


def test_g15_the_first_row_of_a_draw_has_those_chances() -> None:
    easy = golden("G15.class0_sampling_probs").numpy()
    rng = np.random.default_rng(0)
    draws = np.array([balanced_draw(easy, np.zeros(4, np.int64), 1, rng)[0] for _ in range(20_000)])
    np.testing.assert_allclose(np.bincount(draws) / len(draws), easy, atol=0.012)  # 4 standard errors


def test_g15_weights() -> None:
    view = stored_view(PASSES, golden("G23.mc_mean"))
    assert view.log_proba.argmax(1).tolist() == GOLDEN["G15.pred"]
    close(steadiness(view.moments(3).variance[:, 0], 0.1), "G15.weight")
    found, _ = EasyDraw(samples=3, keep=4, alpha=0.1)(view, None, FIRST)
    assert found.rows.tolist() == [0, 1, 2, 3] and found.targets.tolist() == GOLDEN["G15.pred"]
    np.testing.assert_allclose(found.weights, GOLDEN["G15.weight=-log(var+1e-10)*0.1"], rtol=1e-6)


def test_g22_the_ramp() -> None:
    steps = (0, 99, 100, 350, 599, 600, 1000)
    assert [ramp(step) for step in steps] == pytest.approx(GOLDEN["G22.alpha(0,99,100,350,599,600,1000)"], abs=1e-8)


def test_g23_bass_trusts_the_mean_of_its_passes() -> None:
    plain = tensor([[0.5, 0.5], [0.99, 0.01], [0.99, 0.01], [0.5, 0.5]])  # is not asked
    view = stored_view(PASSES, plain)
    close(view.moments(3).mean, "G23.mc_mean")
    close(entropy_of(view.moments(3).mean.log()), "G23.mc_entropy")
    assert Top(Bald(3))(view, 1).tolist() == GOLDEN["G23.query_top1_by_bald"]
    found, _ = Below(0.95, 0, samples=3)(view, None, FIRST)
    assert found.rows.tolist() == GOLDEN["G23.pseudo_bottom2_by_mc_entropy"]
    assert found.targets.tolist() == golden("G23.mc_mean").argmax(1)[found.rows].tolist()


def test_hast_votes_and_weighs() -> None:
    winner, share = vote(torch.tensor([[0, 0, 1, 0, 2]]), 3)
    assert winner.tolist() == [0] and share.tolist() == pytest.approx([0.6])
    assert rarity(torch.tensor([30, 10])).tolist() == pytest.approx([4.174298, 7.310586], abs=1e-6)
