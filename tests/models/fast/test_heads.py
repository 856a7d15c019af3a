"""The head's steps by hand are those of autograd: the same draws of dropout, the same loss, the same update."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
import torch

from actune.core.objective import NO_GATE, PLAIN, Objective
from actune.core.settings import Training
from actune.models.fast.heads import HeadStep, HeadWeights, steps_by_hand
from actune.models.heads import Head
from actune.models.objectives import training_loss
from actune.models.steps import Step
from actune.models.tokens import NamedTensors
from actune.models.weights import Weights

RECIPE = Training(learning_rate=3e-3, weight_decay=0.1, clip=0.5)
OBJECTIVES = [
    pytest.param(PLAIN, 0, id="labels alone"),
    pytest.param(Objective(0.7, NO_GATE), 16, id="trusted rows"),
    pytest.param(Objective(threshold=0.3, supervised=0.5), 16, id="a gate that some pass"),
    pytest.param(Objective(threshold=0.2, power=0.7), 16, id="generalised cross-entropy"),
]


def batches(trusted: int, steps: int = 20) -> list[NamedTensors]:
    torch.manual_seed(1)
    return [
        {
            "inputs": torch.randn(8 + trusted, 12),
            "labels": torch.randint(0, 3, (8,)),
            "targets": torch.randint(0, 3, (trusted,)),
            "weights": torch.rand(trusted),
        }
        for _ in range(steps)
    ]


def head() -> Head:
    torch.manual_seed(0)
    return Head(12, 3).train()


def trained(network: Head, weights: Weights, step: Callable[[NamedTensors], None], given: list[NamedTensors]) -> None:
    torch.manual_seed(2)
    for number, batch in enumerate(given):
        weights.set_rate(RECIPE.learning_rate / (1 + number))
        step(batch)


@pytest.mark.parametrize(("objective", "trusted"), OBJECTIVES)
def test_steps_by_hand_are_those_of_autograd(objective: Objective, trusted: int) -> None:
    ours, usual = head(), head()
    start = deepcopy(usual.state_dict())
    by_hand = steps_by_hand(ours, RECIPE, objective)
    assert by_hand is not None
    trained(ours, *by_hand, batches(trusted))

    def loss_of(batch: NamedTensors) -> torch.Tensor:
        return training_loss(*usual(batch["inputs"]), batch, objective)

    weights = Weights(usual, RECIPE)
    trained(usual, weights, Step(weights, loss_of), batches(trusted))
    for name, value in usual.state_dict().items():
        moved = (value - start[name]).abs().max()
        assert moved > 1e-3
        torch.testing.assert_close(ours.state_dict()[name], value, rtol=0, atol=1e-3 * float(moved))


def test_the_best_weights_come_back_and_are_the_network_s_own() -> None:
    network = head()
    weights = HeadWeights(network, RECIPE)
    step = HeadStep(network, weights, PLAIN)
    trained(network, weights, step, batches(0)[:5])
    kept, best = weights.keep(None), deepcopy(network.state_dict())
    trained(network, weights, step, batches(0)[5:])
    assert not torch.equal(network.out.weight, best["out.weight"])
    weights.finish(kept)
    assert all(torch.equal(value, best[name]) for name, value in network.state_dict().items())
    assert len({parameter.untyped_storage().data_ptr() for parameter in network.parameters()}) == 4


@pytest.mark.parametrize("part", [{"targets": "soft"}, {"targets": "sharpened"}, {"adversarial": 1.0}])
def test_losses_with_more_parts_are_left_to_autograd(part: dict[str, Any]) -> None:
    assert steps_by_hand(head(), RECIPE, Objective(**part)) is None
    assert steps_by_hand(head(), RECIPE, Objective()) is not None
