"""An encoder under a linear head on its own pooled embedding, which begins as a probe on the pretrained encoder."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load, save_file
from torch import nn

from actune.core.places import open_regular
from actune.errors import ModelError
from actune.models.encoders import load_encoder, pool, pooling_mode
from actune.models.fast.packing import packed
from actune.models.folders import POOLED_HEAD, read_json, refused, shown
from actune.models.heads import MOST_BYTES, check_outputs
from actune.models.tokens import NamedTensors

WEIGHTS = "head.safetensors"
MODES = ("cls", "max", "mean")
LARGEST_SCALE = 1e6
STRENGTH = 1.0  # C of the logistic regression, the inverse of its penalty


@dataclass(frozen=True)
class Said:
    """What transformers' own classifiers give, as far as anybody asks."""

    logits: torch.Tensor
    embedding: torch.Tensor  # of length one


class PooledNetwork(nn.Module):
    """The encoder, its pooling and the head; the names are those of transformers' own classifiers."""

    base_model_prefix = "body"

    def __init__(self, body: nn.Module, mode: str, classes: int, scale: float) -> None:
        super().__init__()
        self.body = body
        self.mode = mode
        self.scale = scale
        config: Any = body.config
        config.num_labels = classes
        self.config = config
        self.head = nn.Linear(int(config.hidden_size), classes)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    @property
    def base_model(self) -> nn.Module:
        return self.body

    def get_input_embeddings(self) -> nn.Module:
        return self.body.get_input_embeddings()  # type: ignore[operator, no-any-return]

    def said(self, batch: NamedTensors) -> Said:
        """The logits and embeddings of padded or packed texts."""
        if "bounds" in batch:
            with packed(self, batch, every=True) as inputs:
                hidden, mask = self.body(**inputs)[0], batch["source"] >= 0
        else:
            hidden, mask = self.body(**batch)[0], batch["attention_mask"]
        embedding = pool(hidden, mask, self.mode)
        return Said(self.head((embedding * self.scale).to(self.head.weight.dtype)), embedding)

    def forward(self, **batch: torch.Tensor) -> Said:
        return self.said(batch)

    @torch.no_grad()
    def begin_as_probe(self, embedding: npt.NDArray[np.float32], labels: npt.NDArray[np.int64]) -> None:
        """Starts the head from a logistic regression on embeddings; classes without a label start at nothing."""
        from sklearn.linear_model import LogisticRegression

        found = np.unique(labels)
        if len(found) < 2:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it takes few labels of many classes for a mistake
            fitted = LogisticRegression(C=STRENGTH, max_iter=1000).fit(embedding * self.scale, labels)
        weight, bias = fitted.coef_, fitted.intercept_
        if len(found) == 2:  # one row for two classes
            weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
        places = torch.from_numpy(found)
        self.head.bias.fill_(float(bias.min()) if len(found) < len(self.head.bias) else 0.0)
        self.head.weight[places] = torch.from_numpy(weight).to(self.head.weight)
        self.head.bias[places] = torch.from_numpy(bias).to(self.head.bias)


def new_pooled(folder: Path, classes: int, device: torch.device, scale: float) -> PooledNetwork:
    """The pretrained encoder in `folder` under a head that says nothing yet."""
    body = load_encoder(folder, device).requires_grad_(True)
    if isinstance(getattr(body, "pooler", None), nn.Module):
        body.pooler.requires_grad_(False)  # nobody looks at what it gives
    return PooledNetwork(body, pooling_mode(folder), classes, scale).to(device)


def is_pooled(folder: Path) -> bool:
    """Whether a saved classifier is one of this kind."""
    return (folder / POOLED_HEAD).is_file()


def save_pooled(network: PooledNetwork, folder: Path) -> None:
    """The encoder as transformers saves it, the head, and how they go together."""
    network.body.save_pretrained(folder)  # type: ignore[operator]
    head = {name: value.cpu().contiguous() for name, value in network.head.state_dict().items()}
    save_file(head, folder / WEIGHTS)
    facts = {"pooling": network.mode, "scale": network.scale}
    (folder / POOLED_HEAD).write_text(json.dumps(facts, indent=1), encoding="utf-8")


def load_pooled(folder: Path, classes: int, device: torch.device) -> PooledNetwork:
    """What `save_pooled` has written, or a sentence for what is not whole."""
    file = folder / POOLED_HEAD
    facts, head = read_json(file), read_linear(folder)
    mode, scale = facts.get("pooling"), facts.get("scale")
    if mode not in MODES or not isinstance(scale, float) or not 0 < scale < LARGEST_SCALE:
        raise ModelError(f"{shown(file)} does not say how the head stands on the encoder: save it again")
    check_outputs(folder, len(head["bias"]), classes)
    network = PooledNetwork(load_encoder(folder, device), mode, classes, scale)
    with refused(f"the head in {shown(folder)} does not fit its encoder"):
        network.head.load_state_dict(head)
    return network.to(device).eval()


def read_linear(folder: Path) -> dict[str, torch.Tensor]:
    """The weights of the head."""
    file = folder / WEIGHTS
    with open_regular(file, ModelError) as stream, refused(f"{shown(file)} is not a whole head"):
        weights = load(stream.read(MOST_BYTES))
        if set(weights) != {"weight", "bias"} or not all(value.isfinite().all() for value in weights.values()):
            raise ModelError(f"{shown(file)} has no usable weights: save the classifier again")
    return weights
