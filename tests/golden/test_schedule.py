"""The learning rate against METHODS G21: the golden's from the end of the warm-up on, and one step earlier before."""

from __future__ import annotations

import pytest

from actune.core.settings import Training
from actune.models.training import learning_rates
from tests.golden.inputs import GOLDEN

RATE = learning_rates(2000, Training(), trusting=False)
GOLDEN_RATES = {int(step): rate for step, rate in GOLDEN["G21.lr"].items()}
RISE = 200


@pytest.mark.parametrize("step", [step for step in GOLDEN_RATES if step >= RISE])
def test_the_rate_falls_as_the_golden_does(step: int) -> None:
    assert RATE(step) == pytest.approx(GOLDEN_RATES[step], rel=1e-12, abs=1e-20)


@pytest.mark.parametrize("step", [step for step in GOLDEN_RATES if 0 < step <= RISE])
def test_the_rate_rises_as_the_golden_does_one_step_earlier(step: int) -> None:
    assert RATE(step - 1) == pytest.approx(GOLDEN_RATES[step], rel=1e-12)


def test_no_step_is_wasted() -> None:
    """The golden's first step has a rate of 0; ours learns from the first step to the last."""
    assert GOLDEN_RATES[0] == 0 < min(RATE(step) for step in range(2000))
    assert max(RATE(step) for step in range(2000)) == pytest.approx(GOLDEN_RATES[RISE])
