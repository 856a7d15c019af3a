"""Reading many texts with a network: length-sorted batches of a token budget, results in row order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext

import numpy as np
import numpy.typing as npt
import torch

from actune.core.progress import Progress, silent
from actune.models import precision
from actune.models.fast.kept import forget
from actune.models.tokens import NamedTensors, Tokens

# padded tokens in a batch, by device
TOKENS_PER_BATCH = {"cpu": 1024, "cuda": 65536}
TOKENS_WITH_VOCABULARY = {"cpu": 1024, "cuda": 16384}  # logits of a large vocabulary take much memory
TOKENS_WITH_GRADIENTS = {"cpu": 1024, "cuda": 8192}  # what a gradient needs of each token is kept
ELSEWHERE = 4096  # on other devices
ALIGNED = 8  # widths in tokens that a GPU's kernels for masked attention take as they are


def read_tokens(
    forward: Callable[[NamedTensors], tuple[torch.Tensor, ...]],
    tokens: Tokens,
    device: torch.device,
    progress: Progress = silent,
    budget: int | None = None,
    stage: str = "read",
    pack: bool = False,
    one_length: bool = False,
) -> tuple[torch.Tensor, ...]:
    """`forward` over all texts; its outputs in the texts' order, float32, independent of how they were batched.

    It is given texts end to end with `pack`, padded ones otherwise. What does not fit into memory is read in halves.
    With `one_length` texts share a batch only with texts of as many tokens: on a CPU, what is said of a text is then
    the same to the last bit whatever other texts are read.
    """
    results: tuple[torch.Tensor, ...] = ()
    done = 0
    waiting = deque(tokens.batches(budget or tokens_per_batch(device), one_length))
    with torch.inference_mode(), nullcontext() if pack else precision.for_reading(device):
        while waiting:
            rows = waiting.popleft()
            try:
                batch = tokens.packed(rows, device, round_to=_width(device)) if pack else tokens.batch(rows, device)
                outputs = forward(batch)
            except torch.OutOfMemoryError:
                if len(rows) == 1:
                    raise
                forget()
                waiting = deque(_halves([rows, *waiting]))
                continue
            if not results:
                results = tuple(torch.empty((len(tokens), *output.shape[1:]), device=device) for output in outputs)
            places = torch.from_numpy(rows).to(device, non_blocking=True)
            for result, output in zip(results, outputs, strict=True):
                result[places] = output.float()
            done += len(rows)
            progress(stage, done, len(tokens))
    return results


def tokens_per_batch(device: torch.device, limits: Mapping[str, int] = TOKENS_PER_BATCH) -> int:
    """How many padded tokens a batch has at most."""
    return limits.get(device.type, ELSEWHERE)


def _width(device: torch.device) -> int:
    return ALIGNED if device.type == "cuda" else 1


def _halves(batches: Iterable[npt.NDArray[np.int64]]) -> list[npt.NDArray[np.int64]]:
    return [half for batch in batches for half in np.array_split(batch, 2) if len(half)]
