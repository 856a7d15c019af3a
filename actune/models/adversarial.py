"""Virtual adversarial steps (Miyato et al. 2017): the small moves of word embeddings that a network minds most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn.functional import kl_div
from torch.utils.hooks import RemovableHandle

from actune.core.progress import Progress, silent
from actune.models.reader import TOKENS_WITH_GRADIENTS, read_tokens, tokens_per_batch
from actune.models.tokens import NamedTensors, Tokens


def direction(
    logits_of: Callable[[torch.Tensor], torch.Tensor],  # of a step away from the texts
    clean: torch.Tensor,  # (rows, classes): the logits without a step
    start: torch.Tensor,  # (rows, ...)
    xi: float = 0.1,
    steps: int = 1,
) -> torch.Tensor:  # (rows, ...), of length 1
    """The way r that raises KL(f(e) || f(e + r)) fastest, by power iteration; `start` where nothing is felt."""
    found = _unit(start, start)
    before = clean.detach().double().softmax(1)
    for _ in range(steps):
        step = (xi * found).detach().requires_grad_()
        with torch.enable_grad():
            logits = logits_of(step)
        # The divergence's gradient for the logits. In float32 it would be rounding alone for a confident row.
        pull = logits.detach().double().softmax(1) - before  # (rows, classes)
        (slope,) = torch.autograd.grad(logits, step, _unit(pull, pull).to(logits.dtype))
        found = _unit(slope, found)
    return found


def perturbing(network: nn.Module, step: torch.Tensor) -> RemovableHandle:
    """Adds a step (rows, tokens, width) to the word embeddings of every pass inside `with`."""
    words: nn.Module = network.get_input_embeddings()  # type: ignore[operator]
    return words.register_forward_hook(lambda _, __, output: output + step)


def perturbed_log_proba(
    network: nn.Module, batch: NamedTensors, noise: torch.Tensor, epsilon: float = 1.0, xi: float = 0.1, steps: int = 1
) -> torch.Tensor:  # (rows, classes)
    """What the network says, without dropout, a step of length `epsilon` away in the adversarial direction."""
    with _off(network.modules(), "training"), torch.no_grad():
        return _divergent(network, batch, noise, epsilon, xi, steps)[1]


def adversarial_loss(
    network: nn.Module, batch: NamedTensors, noise: torch.Tensor, epsilon: float = 1.0, xi: float = 0.1, steps: int = 1
) -> torch.Tensor:
    """Mean KL(f(e) || f(e + r)), f(e) held fixed. Without dropout: two masks would drown the step."""
    with _off(network.modules(), "training"):
        clean, perturbed = _divergent(network, batch, noise, epsilon, xi, steps)
    return kl_div(perturbed, clean, reduction="batchmean", log_target=True)


def read_perturbed(
    network: nn.Module,
    tokens: Tokens,
    device: torch.device,
    seed: int,
    progress: Progress = silent,
    epsilon: float = 1.0,
    budget: int | None = None,
) -> torch.Tensor:  # (texts, classes)
    """`perturbed_log_proba` of all texts. All start from one noise, so that batches change nothing."""
    words: Any = network.get_input_embeddings()  # type: ignore[operator]
    draw = torch.Generator().manual_seed(seed)
    noise = torch.randn(int(tokens.lengths.max()), words.embedding_dim, generator=draw).to(device)

    @torch.inference_mode(False)  # the reader's own mode knows no gradients
    def forward(batch: NamedTensors) -> tuple[torch.Tensor]:
        copy = {name: tensor.clone() for name, tensor in batch.items()}
        return (perturbed_log_proba(network, copy, noise[: copy["input_ids"].shape[1]], epsilon),)

    with _off(network.parameters(), "requires_grad"):
        budget = budget or tokens_per_batch(device, TOKENS_WITH_GRADIENTS)
        (log_proba,) = read_tokens(forward, tokens, device, progress, budget, stage="perturb")
    return log_proba


def _divergent(
    network: nn.Module, batch: NamedTensors, noise: torch.Tensor, epsilon: float, xi: float, steps: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probabilities of the texts as they are, held fixed, and a step away; padding takes no step."""
    mask = batch["attention_mask"][..., None].to(noise.dtype)

    def logits_of(step: torch.Tensor) -> torch.Tensor:
        with perturbing(network, step * mask):
            return network(**batch).logits.float()  # type: ignore[no-any-return]

    with torch.no_grad():
        clean = network(**batch).logits.float()
    step = epsilon * direction(logits_of, clean, noise * mask, xi, steps)
    return clean.log_softmax(1), logits_of(step).log_softmax(1)


def _unit(vectors: torch.Tensor, otherwise: torch.Tensor) -> torch.Tensor:
    """Each row, over all its axes, at length 1; another in place of a row of zeros."""
    length = torch.linalg.vector_norm(vectors, dim=tuple(range(1, vectors.ndim)), keepdim=True)
    return torch.where(length > 0, vectors / length, otherwise)


@contextmanager
def _off(things: Iterable[Any], flag: str) -> Iterator[None]:
    """A flag of each of these is off inside, and again what it was afterwards."""
    before = [(thing, getattr(thing, flag)) for thing in things]
    for thing, _ in before:
        setattr(thing, flag, False)
    try:
        yield
    finally:
        for thing, value in before:
            setattr(thing, flag, value)
