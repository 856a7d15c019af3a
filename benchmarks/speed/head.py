"""A training step of the probe's head: by hand, and by autograd with torch's AdamW.

PYTHONPATH=. python benchmarks/speed/head.py

8 labelled rows of 384 numbers, alone and with 32 trusted ones; one thread, as the probe trains. The two take turns, and
the shortest of their rounds counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from actune.core.objective import NO_GATE, PLAIN, Objective
from actune.models.fast.heads import steps_by_hand
from actune.models.heads import Head
from actune.models.learners import PROBE
from actune.models.objectives import training_loss
from actune.models.steps import Step
from actune.models.tokens import NamedTensors
from actune.models.weights import Weights
from benchmarks.speed.common import Results, arguments

STEPS, TURNS, CLASSES = 1000, 5, 6


def batch_of(trusted: int) -> NamedTensors:
    torch.manual_seed(0)
    return {
        "inputs": torch.randn(8 + trusted, 384),
        "labels": torch.randint(0, CLASSES, (8,)),
        "targets": torch.randint(0, CLASSES, (trusted,)),
        "weights": torch.rand(trusted),
    }


def by_autograd(objective: Objective) -> Callable[[NamedTensors], None]:
    network = Head(384, CLASSES)
    weights = Weights(network, PROBE)
    return Step(weights, lambda batch: training_loss(*network(batch["inputs"]), batch, objective))


def by_hand(objective: Objective) -> Callable[[NamedTensors], None]:
    found = steps_by_hand(Head(384, CLASSES), PROBE, objective)
    assert found is not None
    weights, step = found
    weights.set_rate(PROBE.learning_rate)
    return step


def milliseconds(step: Callable[[NamedTensors], None], batch: NamedTensors) -> float:
    start = time.perf_counter()
    for _ in range(STEPS):
        step(batch)
    return 1000 * (time.perf_counter() - start) / STEPS


def main() -> None:
    given = arguments(__doc__).parse_args()
    torch.set_num_threads(1)
    results = Results(given.out, torch.device("cpu"))
    for trusted, objective in ((0, PLAIN), (32, Objective(1.0, NO_GATE))):
        batch, steps = batch_of(trusted), (by_hand(objective), by_autograd(objective))
        turns = [[milliseconds(step, batch) for step in steps] for _ in range(TURNS)]
        ours, usual = (min(turn[place] for turn in turns) for place in (0, 1))
        results.add(
            what="a step of the head",
            rows=8 + trusted,
            by_hand_ms=round(ours, 3),
            by_autograd_ms=round(usual, 3),
            by_hand_is_faster=round(usual / ours, 2),
        )


if __name__ == "__main__":
    main()
