"""Weights in training: one pass over a row of them is torch's AdamW with clipped gradients."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch
from torch import nn

from actune.core.settings import Training
from actune.models.fast.weights import HalfWeights
from actune.models.weights import Weights

RECIPE = Training(learning_rate=0.05, weight_decay=0.1, clip=1.0)


def network() -> nn.Module:
    """Sizes that fill no row evenly, a table that is not trained, and a weight that no loss reaches."""
    torch.manual_seed(5)
    made = nn.ModuleDict(
        {"table": nn.Embedding(7, 5), "one": nn.Linear(5, 9), "two": nn.Linear(9, 3), "idle": nn.Linear(2, 2)}
    )
    made["table"].requires_grad_(False)
    for parameter in made.parameters():
        parameter.data = parameter.data.bfloat16().float()  # so that both kinds start alike
    return made


def give(weights: Weights, gradients: list[torch.Tensor], of: nn.Module) -> None:
    weights.forget_gradients()
    for parameter, gradient in zip([*of["one"].parameters(), *of["two"].parameters()], gradients, strict=True):
        parameter.grad = gradient.to(parameter.dtype)


def gradients_of(seed: int, of: nn.Module, scale: float) -> list[torch.Tensor]:
    source = torch.Generator().manual_seed(seed)
    shapes = [p.shape for p in (*of["one"].parameters(), *of["two"].parameters())]
    return [(scale * torch.randn(shape, generator=source)).bfloat16().float() for shape in shapes]


@pytest.mark.parametrize("scale", [10.0, 0.01], ids=["clipped", "short"])
def test_a_row_of_weights_moves_as_torch_moves_them(scale: float) -> None:
    plain, halved = network(), network()
    expected, given = Weights(plain, RECIPE), HalfWeights(halved, RECIPE)
    for step in range(12):
        for weights, of in ((expected, plain), (given, halved)):
            weights.set_rate(0.05 / (step + 1))
            give(weights, gradients_of(step, of, scale), of)
            weights.update()
        for name, parameter in halved.named_parameters():
            assert parameter.dtype == torch.bfloat16, name
    given.finish(None)
    moved = plain.state_dict()
    assert not torch.equal(moved["one.weight"], network().state_dict()["one.weight"])
    for name, value in halved.state_dict().items():
        assert value.dtype == torch.float32
        if not name.startswith("idle"):  # it decays here, and torch lets it be
            torch.testing.assert_close(value, moved[name], rtol=1e-5, atol=1e-6)


def test_steps_too_small_for_bfloat16_add_up() -> None:
    tiny = replace(RECIPE, weight_decay=0.0)
    of = network()
    start = copy.deepcopy(of.state_dict())
    weights = HalfWeights(of, tiny)
    weights.set_rate(1e-5)
    for _ in range(200):
        give(weights, [torch.ones_like(g) for g in gradients_of(0, of, 1.0)], of)
        weights.update()
    weights.finish(None)
    torch.testing.assert_close(of.state_dict()["one.weight"], start["one.weight"] - 200e-5, rtol=0, atol=1e-4)


def test_vectors_do_not_decay_in_a_row() -> None:
    of = network()
    start = copy.deepcopy(of.state_dict())
    weights = HalfWeights(of, replace(RECIPE, weight_decay=0.5))
    weights.set_rate(0.1)
    give(weights, [torch.zeros_like(g) for g in gradients_of(0, of, 1.0)], of)
    weights.update()
    weights.finish(None)
    torch.testing.assert_close(of.state_dict()["one.weight"], start["one.weight"] * 0.95)
    assert torch.equal(of.state_dict()["one.bias"], start["one.bias"])


@pytest.mark.parametrize("kind", [Weights, HalfWeights])
def test_what_was_kept_comes_back(kind: type[Weights]) -> None:
    of = network()
    weights = kind(of, RECIPE)
    weights.set_rate(0.1)

    def move(seed: int) -> None:
        give(weights, gradients_of(seed, of, 1.0), of)
        weights.update()

    kept = weights.keep(None)
    move(1)
    kept = weights.keep(kept)
    seen = {name: value.float().clone() for name, value in of.state_dict().items()}
    move(2)
    weights.finish(kept)
    for name, value in of.state_dict().items():
        torch.testing.assert_close(value.bfloat16().float(), seen[name].bfloat16().float(), msg=name)
        assert value.dtype == torch.float32


def test_what_is_not_trained_is_as_it_was() -> None:
    of = network()
    start = copy.deepcopy(of.state_dict())
    weights = HalfWeights(of, replace(RECIPE, weight_decay=0.0))
    weights.set_rate(0.1)
    give(weights, gradients_of(1, of, 1.0), of)
    weights.update()
    weights.finish(None)
    for name in ("table.weight", "idle.weight", "idle.bias"):
        assert torch.equal(of.state_dict()[name], start[name])
