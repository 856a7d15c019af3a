"""Whether an encoder and a learner can give what a method needs, asked before a run begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from actune.errors import MissingSignal
from actune.models.learners import find_learner


def check_signals(method: str, needs: Sequence[str], learner: str, folder: Path, train_layers: int = 0) -> None:
    """One sentence for a signal that is not to be had, with what to use instead."""
    if "word embeddings" in needs and train_layers:
        raise MissingSignal(f"{method} needs word embeddings, which --train-layers leaves out: train all layers")
    kind = find_learner(learner)
    if "word embeddings" in needs and not kind.perturbs_words:
        raise MissingSignal(
            f"{method} needs word embeddings, which the learner {learner!r} does not train: use --learner finetune"
        )
    if "dropout" in needs and not kind.has_dropout(folder):
        raise MissingSignal(
            f"{method} needs dropout, and the encoder in {folder} has none: "
            "use margin instead of bald, st instead of ust, or another --model"
        )
    if "masked language model" in needs and not has_masked_lm(folder):
        raise MissingSignal(
            f"{method} needs a masked language model, and the encoder in {folder} has none: "
            "add --adapt 200 to train one on the pool, or use badge"
        )


def check_layers(folder: Path, count: int) -> None:
    """One sentence for an encoder whose upper layers cannot be trained alone."""
    import torch

    from actune.models.encoders import outline
    from actune.models.layers import layers_of

    with torch.device("meta"):
        layers_of(outline(folder), count)


def has_masked_lm(folder: Path) -> bool:
    """Whether the folder's weights include a head that fills in masked tokens."""
    import torch

    from actune.models.encoders import load_masked_lm

    return load_masked_lm(folder, torch.device("cpu"))[1]
