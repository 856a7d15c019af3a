"""Hand-tuned code that makes training and reading faster, and the switch that turns all of it off.

What is here: encoder layers that run on texts laid end to end, without padding (`packing`, `blocks`, `rotary`);
functions that are compiled for a GPU (`compiling`); training steps that are replayed from CUDA graphs (`graphs`);
fused AdamW and bfloat16 weights (`weights`); the steps of the probe's head without autograd (`heads`). No other package
makes private calls of torch.

The plain code is everything else in `actune.models`: padded batches through the network's own forward pass, autograd,
and `torch.optim.AdamW`. It gives the same numbers up to rounding, but for the dropout of an encoder: the random stream
is the same and falls on other places, because padding draws too.
"""

from __future__ import annotations

import os

from actune.core.settings import Training

VARIABLE = "ACTUNE_FAST"


def enabled(recipe: Training) -> bool:
    """Whether fast code may run: the setting `fast` is true and the environment does not say `ACTUNE_FAST=0`."""
    return recipe.fast and os.environ.get(VARIABLE, "1") != "0"


def mark(recipe: Training) -> str:
    """What tells results of the plain code from those of the fast code in the name of a file that keeps them."""
    return "" if enabled(recipe) else " plain"
