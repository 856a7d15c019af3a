"""BADGE and BALD against the numbers of METHODS G3 and G4, worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from actune.core import kmeans
from actune.core.classifier import Readout
from actune.core.view import View
from actune.methods.features import gradient_factors
from actune.methods.queries import Spread, Top
from actune.methods.uncertainty import Bald, entropy_of, least_confidence
from actune.testing.views import stored_view, view_of
from tests.golden.inputs import GOLDEN, PASSES, golden, tensor

PROBA = tensor([[0.7, 0.2, 0.1], [0.4, 0.35, 0.25], [0.98, 0.01, 0.01], [0.34, 0.33, 0.33]])
HEAD = tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 4.0], [-1.0, 0.0]])


def close(found: torch.Tensor, name: str) -> None:
    torch.testing.assert_close(found, golden(name), rtol=0, atol=1e-8)


def badge_view() -> View:
    """The encoder's own embedding is something else: BADGE must not look at it."""
    return View(Readout(PROBA.log(), HEAD.flip(0) + 7, HEAD), range(4))


def outer(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return (left[:, :, None] * right[:, None, :]).flatten(1)  # one block of the layer's input for each class


def test_g3_the_factors_of_a_gradient() -> None:
    left, right = gradient_factors(badge_view())
    close(left, "G3.scale(p-onehot)")
    embedding = outer(left, right)
    close(embedding, "G3.grad_embedding")
    close(embedding.norm(dim=1), "G3.norm")
    close(left.norm(dim=1) * right.norm(dim=1), "G3.norm_factorised")
    close((embedding[:, None] - embedding).square().sum(2), "G3.sq_dist")


def test_g3_every_next_row_is_drawn_by_squared_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    """The draw is replaced by the largest mass, as the golden numbers have it, and shows what it was given."""
    masses: list[torch.Tensor] = []

    def largest(mass: torch.Tensor, rng: np.random.Generator) -> int:
        masses.append(mass.clone())
        return int(mass.argmax())

    monkeypatch.setattr(kmeans, "draw_index", largest)
    found = Spread(gradient_factors)(badge_view(), 3).tolist()
    assert found[0] == GOLDEN["G3.first_centre_argmax_norm"]
    assert found[1] == GOLDEN["G3.second_centre_greedy(argmax variant)"]
    torch.testing.assert_close(masses[0], golden("G3.sq_dist")[found[0]], rtol=0, atol=1e-8)
    close(masses[0] / masses[0].sum(), "G3.second_centre_probs")
    close(masses[1] / masses[1].sum(), "G3.third_centre_probs")


def test_trap_8_badge_is_the_gradient_of_the_last_layer() -> None:
    """Cross-entropy at the predicted class, differentiated by autograd, for logits of any linear layer."""
    layer = torch.nn.Linear(2, 3, dtype=torch.float64)
    log_proba = layer(HEAD).log_softmax(1)
    left, right = gradient_factors(View(Readout(log_proba.detach(), HEAD * 0, HEAD), range(4)))
    for row in range(4):
        (gradient,) = torch.autograd.grad(-log_proba[row].max(), layer.weight, retain_graph=True)
        torch.testing.assert_close(left[row, :, None] * right[row], gradient)


def test_trap_8_rows_are_not_normalised_and_the_largest_gradient_comes_first() -> None:
    left, right = gradient_factors(badge_view())
    normalised = golden("G3.L2_normalised_embedding")
    assert not torch.allclose(outer(left, right), normalised)
    assert Spread(gradient_factors)(badge_view(), 1).tolist() == [int(outer(left, right).norm(dim=1).argmax())]


def test_g4_moments_of_three_passes() -> None:
    moments = stored_view(PASSES).moments(3)
    close(entropy_of(moments.mean.log()), "G4.predictive_entropy")
    close(moments.entropy, "G4.expected_entropy")
    close(moments.variance, "G4.var_per_class(ddof=0)")
    close(least_confidence(view_of(moments.mean)), "G4.maxprob_variation_ratio")


def test_g4_bald() -> None:
    view = stored_view(PASSES)
    close(Bald(3)(view), "G4.bald_nats")
    close(Bald(3)(view) / math.log(2), "G4.bald_bits")
    assert Top(Bald(3))(view, 4).tolist() == GOLDEN["G4.rank"]
