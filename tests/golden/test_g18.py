"""REVIVAL's ingredients against the numbers of METHODS G18, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actune.core.graph import neighbor_graph, propagate, solve
from actune.methods.features import Propagation
from actune.methods.memory import Pace
from actune.methods.trust import Propagated
from actune.models.adversarial import direction
from actune.testing.views import view_of
from tests.golden.inputs import golden, tensor

POINTS = tensor([[1.0, 0.0], [0.9, 0.1], [0.6, 0.6], [0.1, 0.9], [0.0, 1.0]])
ROWS, LABELS = np.array([0, 4]), np.array([0, 1])
WEIGHTS = tensor([[2.0, 0.0], [0.0, 1.0]])
TEXT = tensor([[0.5, 0.8]])


def close(found: np.ndarray, name: str) -> None:
    np.testing.assert_allclose(found, golden(name).numpy(), rtol=0, atol=1e-8)


def test_the_graph() -> None:
    close(neighbor_graph(POINTS, 2).toarray(), "G18.W")


@pytest.mark.parametrize(("alpha", "ending"), [(0.99, ""), (0.5, "_alpha0.5")])
def test_labels_spread(alpha: float, ending: str) -> None:
    graph = neighbor_graph(POINTS, 2)
    close(solve(graph, np.eye(2)[[0, 0, 0, 1, 1]] * [[1], [0], [0], [0], [1]], alpha), f"G18.Z{ending}")
    close(propagate(graph, ROWS, LABELS, 2, alpha), f"G18.virtual_label_distribution{ending}")


def test_certainty_is_the_weight_of_a_virtual_label() -> None:
    view = view_of(torch.full((5, 2), 0.5).double(), POINTS, ROWS.tolist(), labels=LABELS.tolist())
    given, _ = Propagated(Propagation(neighbors=2))(view, None, Pace(0, 10))
    assert given.rows.tolist() == [1, 2, 3]
    np.testing.assert_allclose(given.weights, golden("G18.certainty_weight").numpy()[[1, 2, 3]], rtol=0, atol=1e-6)


def test_the_adversarial_direction_of_a_linear_model() -> None:
    clean = TEXT @ WEIGHTS.T
    close(clean.softmax(1)[0].numpy(), "G18.p(x)")

    found = direction(lambda step: (TEXT + step) @ WEIGHTS.T, clean, tensor([[1.0, 0.0]]), xi=1e-6, steps=3)
    sign = float((found @ golden("G18.r_adv_direction")).sign())
    close(sign * found[0].numpy(), "G18.r_adv_direction")

    proba = clean.softmax(1)
    moved = torch.cat([TEXT + sign * found, TEXT - sign * found]) @ WEIGHTS.T
    close((proba * (proba.log() - moved.log_softmax(1))).sum(1).numpy(), "G18.KL(p||p(x+r))")
