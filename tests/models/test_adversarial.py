"""Adversarial steps on networks of every family: against finite differences, a naive formula, and their laws."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from actune.core.settings import Training
from actune.models.adversarial import (
    adversarial_loss,
    direction,
    perturbed_log_proba,
    perturbing,
    read_perturbed,
)
from actune.models.encoders import load_classifier, load_tokenizer
from actune.models.finetuning import FineTuned
from actune.models.tokens import Tokens, tokenize
from tests.models.tiny import CONFIGS, LIMIT, TEXTS, save_tiny

DEVICE = torch.device("cpu")
Batch = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def folder_of(family: str) -> Path:
        if family not in made:
            made[family] = save_tiny(tmp_path_factory.mktemp(family), family)
        return made[family]

    return folder_of


@pytest.fixture(params=CONFIGS)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def opinionated(folder: Path) -> Any:
    """The tiny network with bigger weights, so that its predictions are no coin tosses."""
    network: Any = load_classifier(folder, 3, DEVICE, seed=1).eval()
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.ndim > 1 and "embedding" not in name:
                weight.mul_(6)
    return network


@pytest.fixture
def network(folders: Callable[[str], Path]) -> Any:
    return opinionated(folders("bert"))


@pytest.fixture(scope="module")
def tokens(folders: Callable[[str], Path]) -> Tokens:
    return tokenize(load_tokenizer(folders("bert")), TEXTS[:10], LIMIT)


def noise_for(batch: Batch, network: Any, seed: int = 0) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(*batch["input_ids"].shape, network.get_input_embeddings().embedding_dim, generator=draw)


def divergence(log_p: torch.Tensor, log_q: torch.Tensor) -> torch.Tensor:
    return (log_p.exp() * (log_p - log_q)).sum(1)


def close(one: torch.Tensor, other: torch.Tensor, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=tolerance)


# the direction


def test_the_direction_is_the_gradient_of_the_divergence(network: Any, tokens: Tokens) -> None:
    network.double()
    text = tokens.batch([5])  # three tokens

    def logits_of(step: torch.Tensor) -> torch.Tensor:
        with perturbing(network, step):
            return network(**{name: tensor.expand(len(step), -1) for name, tensor in text.items()}).logits

    start = noise_for(text, network).double()
    start /= start.norm()
    with torch.no_grad():
        clean = logits_of(torch.zeros_like(start))
        shifts = 1e-6 * torch.eye(start.numel(), dtype=torch.float64).reshape(-1, *start.shape[1:])
        after, before = (logits_of(0.1 * start + shift).log_softmax(1) for shift in (shifts, -shifts))
    reference = clean.log_softmax(1)
    slope = (divergence(reference, after) - divergence(reference, before)).reshape(start.shape)
    close(direction(logits_of, clean, 7 * start, xi=0.1), slope / slope.norm(), 1e-6)


def test_more_steps_find_the_dominant_direction() -> None:
    """Of a linear model whose three curvatures are known: the eigenvector of J^T (diag p - p p^T) J."""
    slopes = torch.tensor([[3.0, 1, 0], [0, 2, 1], [1, 0, 1]], dtype=torch.float64)
    clean = torch.tensor([[0.3, -0.2, 0.5]], dtype=torch.float64)
    proba = clean.softmax(1)[0]
    expected = torch.linalg.eigh(slopes.T @ (proba.diag() - proba.outer(proba)) @ slopes).eigenvectors[:, -1]
    found = direction(lambda step: clean + step @ slopes.T, clean, torch.ones(1, 3).double(), xi=1e-4, steps=40)
    close((found @ expected).abs(), torch.ones(1).double(), 1e-6)


def test_rows_are_normalised_one_by_one_and_stay_where_nothing_is_felt() -> None:
    draw = torch.Generator().manual_seed(0)
    slopes, start = torch.randn(4, 6, generator=draw), torch.randn(5, 2, 3, generator=draw)
    felt = torch.tensor([1.0, 0, 100, 1e-6, 1])[:, None]

    def logits_of(step: torch.Tensor) -> torch.Tensor:
        return felt * (step.flatten(1) @ slopes.T)

    found = direction(logits_of, torch.zeros(5, 4), start, steps=2)
    close(found.flatten(1).norm(dim=1), torch.ones(5))
    close(found[1], start[1] / start[1].norm())
    assert not torch.allclose(found[3], start[3] / start[3].norm(), atol=0.1)


def test_a_confident_rows_direction_is_as_exact_as_others() -> None:
    """One class in ten million: float32 probabilities near 1 cannot tell any step from none."""
    draw = torch.Generator().manual_seed(0)
    slopes, start = torch.randn(3, 8, generator=draw), torch.randn(1, 8, generator=draw)
    clean = torch.tensor([[16.0, 0, -1]])

    def found_in(kind: torch.dtype) -> torch.Tensor:
        given = clean.to(kind)
        return direction(lambda step: given + step @ slopes.to(kind).T, given, start.to(kind), xi=0.01)

    found, exact = found_in(torch.float32), found_in(torch.float64)
    close((found.double() * exact).sum(1), torch.ones(1).double(), 1e-3)


# networks of every family


def test_the_adversarial_step_matters_more_than_random_ones(folders: Callable[[str], Path], family: str) -> None:
    network = opinionated(folders(family))
    batch = tokenize(load_tokenizer(folders(family)), TEXTS[:10], LIMIT).batch(range(10))
    mask = batch["attention_mask"][..., None]
    with torch.no_grad():
        clean = network(**batch).logits.log_softmax(1)
        random = []
        for seed in range(1, 9):
            step = noise_for(batch, network, seed) * mask
            with perturbing(network, 0.1 * step / step.flatten(1).norm(dim=1)[:, None, None]):
                random.append(divergence(clean, network(**batch).logits.log_softmax(1)))
    found = divergence(clean, perturbed_log_proba(network, batch, noise_for(batch, network), 0.1, xi=0.01, steps=2))
    assert found.mean() > 3 * torch.stack(random).mean()


def test_padding_takes_no_step_and_does_not_matter(folders: Callable[[str], Path], family: str) -> None:
    network = opinionated(folders(family))
    tokens = tokenize(load_tokenizer(folders(family)), TEXTS[:10], LIMIT)
    batch = tokens.batch(range(10))
    noise = noise_for(batch, network)
    padded = perturbed_log_proba(network, batch, noise, 0.3)
    for row, length in enumerate(tokens.lengths):
        alone = perturbed_log_proba(network, tokens.batch([row]), noise[row : row + 1, :length], 0.3)
        close(padded[row : row + 1], alone, 1e-4)
    changed = noise.where(batch["attention_mask"][..., None] > 0, 1e6)
    assert torch.equal(perturbed_log_proba(network, batch, changed, 0.3), padded)


def test_a_network_that_looks_at_padding_gets_no_step_there(tokens: Tokens) -> None:
    batch = tokens.batch(range(10))
    seen: list[torch.Tensor] = []

    class Sum(torch.nn.Module):
        """Adds up all word embeddings, padding too."""

        def __init__(self) -> None:
            super().__init__()
            self.words, self.head = torch.nn.Embedding(40, 8), torch.nn.Linear(8, 3)

        def get_input_embeddings(self) -> torch.nn.Module:
            return self.words

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
            seen.append(self.words(input_ids) - self.words.weight[input_ids])
            self.logits = self.head(self.words(input_ids).sum(1))
            return self

    model = Sum()
    perturbed_log_proba(model, batch, noise_for(batch, model), 2.0)
    moved = seen[-1].detach()
    close(moved.flatten(1).norm(dim=1), torch.full((10,), 2.0))
    assert not (moved * (batch["attention_mask"][..., None] == 0)).any()


# the loss


def naive_loss(network: Any, batch: Batch, noise: torch.Tensor, epsilon: float, xi: float) -> torch.Tensor:
    words = network.get_input_embeddings()(batch["input_ids"])
    mask = batch["attention_mask"]

    def log_proba(embeddings: torch.Tensor) -> torch.Tensor:
        return network(inputs_embeds=embeddings, attention_mask=mask).logits.log_softmax(1)

    start = noise * mask[..., None]
    step = (xi * start / start.flatten(1).norm(dim=1)[:, None, None]).requires_grad_()
    clean = log_proba(words).detach()
    (slope,) = torch.autograd.grad(divergence(clean, log_proba(words + step)).sum(), step)
    slope = epsilon * slope / slope.flatten(1).norm(dim=1)[:, None, None]
    return divergence(clean, log_proba(words + slope)).mean()


def test_the_loss_and_its_gradient_are_the_naive_formula(network: Any, tokens: Tokens) -> None:
    batch = tokens.batch(range(10))
    noise = noise_for(batch, network)
    found = adversarial_loss(network, batch, noise, epsilon=0.5, xi=0.1)
    assert all(weight.grad is None for weight in network.parameters())  # the direction leaves no gradients behind
    expected = naive_loss(network, batch, noise, 0.5, 0.1)
    close(found, expected, 1e-4)
    weights = list(network.parameters())
    slopes, wanted = torch.autograd.grad(found, weights), torch.autograd.grad(expected, weights)
    largest = max(float(slope.abs().max()) for slope in wanted)
    for slope, want in zip(slopes, wanted, strict=True):
        close(slope, want, 1e-3 * largest)


def test_the_loss_has_no_dropout_and_leaves_training_as_it_was(network: Any, tokens: Tokens) -> None:
    batch = tokens.batch(range(10))
    noise = noise_for(batch, network)
    calm = adversarial_loss(network, batch, noise)
    network.train()
    network.classifier.eval()
    before = [module.training for module in network.modules()]
    assert torch.equal(adversarial_loss(network, batch, noise), calm)
    assert [module.training for module in network.modules()] == before


def test_the_clean_side_of_the_loss_is_held_fixed(network: Any, tokens: Tokens) -> None:
    """Without a step both sides are equal; only a gradient through both would see the words."""
    loss = adversarial_loss(network, tokens.batch(range(10)), noise_for(tokens.batch(range(10)), network), epsilon=0.0)
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.abs() < 1e-6
    assert all(weight.grad.abs().max() < 1e-4 for weight in network.parameters() if weight.grad is not None)


class Looks(TorchDispatchMode):
    """Counts what would wait for a GPU: values and places that the host asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += func in (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.nonzero.default)
        return func(*args, **(kwargs or {}))


def test_the_loss_never_looks_at_its_values(network: Any, tokens: Tokens) -> None:
    batch = tokens.batch(range(10))
    with Looks() as passes:
        network(**batch)
    with Looks() as loss:
        adversarial_loss(network, batch, noise_for(batch, network)).backward()  # type: ignore[no-untyped-call]
    assert loss.count == 3 * passes.count  # one clean pass, one for the direction, one a step away


# reading


def test_no_step_is_the_plain_reading(folders: Callable[[str], Path], family: str) -> None:
    network, tokenizer = opinionated(folders(family)), load_tokenizer(folders(family))
    tokens = tokenize(tokenizer, TEXTS, LIMIT)
    plain = FineTuned(network, tokenizer, DEVICE, Training()).read(tokens).log_proba
    close(read_perturbed(network, tokens, DEVICE, seed=0, epsilon=0.0), plain)
    assert not torch.allclose(read_perturbed(network, tokens, DEVICE, seed=0), plain, atol=1e-3)


def test_a_seed_is_a_reading_whatever_the_batches(network: Any, tokens: Tokens) -> None:
    told: list[tuple[str, int, int]] = []
    read = partial(read_perturbed, network, tokens, DEVICE, epsilon=0.3)
    found = read(seed=3, progress=lambda *facts: told.append(facts))
    assert found.shape == (10, 3) and found.dtype == torch.float32
    assert told[-1] == ("perturb", 10, 10)
    state = torch.get_rng_state()
    assert torch.equal(read(seed=3), found) and torch.equal(torch.get_rng_state(), state)
    assert not torch.allclose(read(seed=4), found, atol=1e-4)
    for budget in (1, 50):
        close(read(seed=3, budget=budget), found, 1e-4)
    rows = np.array([7, 2, 5])
    longest = tokens.only(np.array([6, *rows]))  # the noise has as many places as the longest text
    close(read_perturbed(network, longest, DEVICE, seed=3, epsilon=0.3)[1:], found[rows], 1e-4)


def test_a_callers_autocast_is_obeyed_and_results_are_float32(network: Any, tokens: Tokens) -> None:
    batch = tokens.batch(range(10))
    noise = noise_for(batch, network)
    exact = perturbed_log_proba(network, batch, noise, 0.0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rounded = perturbed_log_proba(network, batch, noise, 0.0)
        loss = adversarial_loss(network, batch, noise)
    assert rounded.dtype == loss.dtype == torch.float32
    assert not torch.equal(rounded, exact) and (rounded.exp() - exact.exp()).abs().max() < 0.1


# what is left behind


@pytest.mark.parametrize("breaks", [False, True])
def test_nothing_is_left_behind(network: Any, tokens: Tokens, breaks: bool) -> None:
    """Nor when the network breaks in its second pass, the first with a step."""
    network.train()
    network.classifier.eval()
    network.classifier.weight.requires_grad_(False)
    modes = [module.training for module in network.modules()]
    trainable = [weight.requires_grad for weight in network.parameters()]
    passes: list[tuple[bool, bool]] = []

    def spy(module: Any, inputs: Any) -> None:
        weights = any(weight.requires_grad for weight in network.parameters())
        passes.append((weights, any(module.training for module in network.modules())))
        if breaks and len(passes) == 2:
            raise KeyError("broken")

    with network.register_forward_pre_hook(spy), pytest.raises(KeyError) if breaks else nullcontext():
        read_perturbed(network, tokens, DEVICE, seed=0)
    assert set(passes) == {(False, False)} and len(passes) == (2 if breaks else 3)
    assert [module.training for module in network.modules()] == modes
    assert [weight.requires_grad for weight in network.parameters()] == trainable
    assert all(weight.grad is None for weight in network.parameters())
    assert not any(module._forward_hooks for module in network.modules())
