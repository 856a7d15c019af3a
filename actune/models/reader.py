"""Reading many texts with a network: length-sorted batches of a token budget, results in row order."""

from __future__ import annotations

from collections.abc import Callable

import torch

from actune.core.progress import Progress, silent
from actune.models import precision
from actune.models.tokens import Tokens

BUDGET = {"cpu": 1024, "cuda": 65536}  # padded tokens in a batch


def read_tokens(
    forward: Callable[[dict[str, torch.Tensor]], tuple[torch.Tensor, ...]],
    tokens: Tokens,
    device: torch.device,
    progress: Progress = silent,
    budget: int | None = None,
    stage: str = "read",
) -> tuple[torch.Tensor, ...]:
    """`forward` over all texts; its outputs in the texts' order, float32, independent of how they were batched."""
    results: tuple[torch.Tensor, ...] = ()
    done = 0
    with torch.inference_mode(), precision.for_reading(device):
        for rows in tokens.batches(budget or BUDGET.get(device.type, 4096)):
            outputs = forward(tokens.batch(rows, device))
            if not results:
                results = tuple(torch.empty((len(tokens), *o.shape[1:]), device=device) for o in outputs)
            places = torch.from_numpy(rows).to(device)
            for result, output in zip(results, outputs, strict=True):
                result[places] = output.float()
            done += len(rows)
            progress(stage, done, len(tokens))
    return results
