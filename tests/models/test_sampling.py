"""Passes with dropout on: their moments, and the mode of the network before, meanwhile and after."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from actune.errors import MissingSignal
from actune.models.sampling import dropout_layers, dropout_on, moments_of

POINTS = torch.randn(30, 6, generator=torch.Generator().manual_seed(7))


def network(dropout: float = 0.5) -> nn.Sequential:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(dropout), nn.Linear(8, 3)).eval()


def drawn_passes(seed: int, passes: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return (3 * torch.randn(passes, 9, 4, generator=draw, dtype=dtype)).log_softmax(2)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 9999), st.integers(1, 12))
def test_moments_are_their_formulas(seed: int, passes: int) -> None:
    stored = drawn_passes(seed, passes)
    drawn: Iterator[torch.Tensor] = iter(stored)
    mean, entropy, variance = moments_of(lambda: next(drawn), passes)
    proba = stored.exp().numpy()
    np.testing.assert_allclose(mean, proba.mean(0), atol=1e-12)
    np.testing.assert_allclose(entropy, -(proba * np.log(proba)).sum(2).mean(0), atol=1e-12)
    np.testing.assert_allclose(variance, proba.var(0), atol=1e-12)
    assert next(drawn, None) is None  # as many passes as were asked for


def test_passes_that_agree_have_a_variance_of_exactly_zero() -> None:
    one = drawn_passes(0, 1, torch.float32)[0]
    mean, _, variance = moments_of(lambda: one, 30)
    assert torch.equal(mean, one.exp()) and not variance.any()


def test_a_class_that_a_pass_rules_out_adds_no_entropy() -> None:
    certain = torch.tensor([[0.0, -float("inf")]])
    mean, entropy, variance = moments_of(lambda: certain, 3)
    assert mean.tolist() == [[1, 0]] and entropy.tolist() == [0] and variance.tolist() == [[0, 0]]


def test_trap_9_dropout_is_on_and_everything_else_reads() -> None:
    """A batch norm that trained would use this batch's statistics and keep some of them."""
    net = network()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    with dropout_on(net, seed=0), torch.no_grad():
        assert [module.training for module in net] == [True, False, True, True]  # only batch norm behaves otherwise
        alone, together = net[:2](POINTS[:1]), net[:2](POINTS)
        torch.testing.assert_close(alone, together[:1])
        assert not torch.equal(net(POINTS), net(POINTS))
    assert not any(module.training for module in net.modules())
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())


def test_the_seed_decides_the_passes_and_the_global_generator_rests() -> None:
    net = network()

    def passes(seed: int) -> torch.Tensor:
        with dropout_on(net, seed), torch.no_grad():
            return torch.stack([net(POINTS) for _ in range(3)])

    torch.manual_seed(11)
    before = torch.get_rng_state()
    first = passes(0)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(12)
    assert torch.equal(first, passes(0)) and not torch.equal(first, passes(1))


class Attending(nn.Module):
    """Drops attention as encoders do that are not run end to end: by a number, when its module is in training."""

    def __init__(self) -> None:
        super().__init__()
        self.value = nn.Linear(6, 6)
        self.dropout = nn.Dropout(0.5)

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        share = self.dropout.p if self.training else 0.0
        return nn.functional.scaled_dot_product_attention(points, points, self.value(points), dropout_p=share)


def test_attention_that_asks_its_own_module_drops_too() -> None:
    net = nn.Sequential(Attending()).eval()
    with dropout_on(net, seed=0), torch.no_grad():
        assert not torch.equal(net(POINTS), net(POINTS))
    assert torch.equal(net(POINTS), net(POINTS))


def test_an_error_meanwhile_leaves_the_network_reading() -> None:
    net = network().train()
    with pytest.raises(KeyError), dropout_on(net, seed=0):
        raise KeyError
    assert not any(module.training for module in net.modules())


def test_without_dropout_there_is_nothing_to_sample() -> None:
    with (
        pytest.raises(MissingSignal, match="use margin instead of BALD, or st instead of UST"),
        dropout_on(network(dropout=0.0), seed=0),
    ):
        pass


def test_layers_that_drop_nothing_do_not_count() -> None:
    inner = nn.Dropout(0.2)
    net = nn.Sequential(nn.Dropout(0.0), nn.Sequential(inner), nn.ReLU())
    assert dropout_layers(net) == [inner]
