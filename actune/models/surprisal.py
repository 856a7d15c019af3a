"""ALPS (Yuan et al. 2020): how much a masked language model is surprised by a text's own tokens, as a vector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from actune.core.progress import Progress, silent
from actune.core.streams import Streams
from actune.errors import MissingSignal
from actune.models.cache import Vectors, cached_array
from actune.models.encoders import load_masked_lm, load_tokenizer, token_limit
from actune.models.masking import SHARE, answers, ask, in_place, ordinary
from actune.models.reader import TOKENS_WITH_VOCABULARY, read_tokens, tokens_per_batch
from actune.models.tokens import NamedTensors, tokenize


def surprisal(
    folder: Path,
    texts: Sequence[str],
    max_tokens: int,
    seed: int,
    device: torch.device,
    progress: Progress = silent,
    share: float = SHARE,
) -> torch.Tensor:  # (texts, positions)
    """Unit rows of -log p at a random share of each text's tokens, 0 elsewhere; a row without any stays 0."""
    limit = token_limit(folder, max_tokens)

    def compute() -> Vectors:
        return normalised(_read(folder, texts, limit, seed, device, progress, share)).cpu().numpy()

    vectors = cached_array("surprisal", folder, texts, f"surprisal {limit} {seed} {share} {device.type}", compute)
    return torch.from_numpy(vectors).to(device)


def normalised(vectors: torch.Tensor) -> torch.Tensor:
    """Rows of length 1; a row of zeros stays."""
    return nn.functional.normalize(vectors, dim=1)


def _read(
    folder: Path, texts: Sequence[str], limit: int, seed: int, device: torch.device, progress: Progress, share: float
) -> torch.Tensor:
    network, has_head = load_masked_lm(folder, device)
    if not has_head:
        raise MissingSignal(
            f"ALPS needs a masked language model, and the encoder in {folder} has none: "
            "add --adapt 200, or use --method badge"
        )
    network.eval()
    tokenizer = load_tokenizer(folder)
    tokens = tokenize(tokenizer, texts, limit)
    chosen = Streams(seed).rng("surprisal").random(len(tokens.flat)) < share
    cloze = ask(tokens, chosen & ordinary(tokens, tokenizer))

    def forward(batch: NamedTensors) -> tuple[torch.Tensor]:
        # a token in plain sight surprises little: bfloat16 would round most of it away
        with torch.autocast(device.type, enabled=False):
            losses = nn.functional.cross_entropy(answers(network, batch), batch["labels"], reduction="none")
        values = in_place(losses, batch)
        return (nn.functional.pad(values, (0, limit - values.shape[1])),)

    budget = tokens_per_batch(device, TOKENS_WITH_VOCABULARY)
    (vectors,) = read_tokens(forward, cloze, device, progress, budget, stage="surprisal")
    return vectors
