"""Fine-tuning of the upper layers alone: what the frozen lower ones say about a text is computed once and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from actune.core.files import replacing
from actune.core.progress import Progress, silent
from actune.core.streams import Streams
from actune.errors import MissingSignal, ModelError, StorageError
from actune.models import precision
from actune.models.cache import cache_folder, name_of
from actune.models.encoders import load_encoder
from actune.models.finetuning import FineTuned, FineTuning
from actune.models.reader import tokens_per_batch
from actune.models.tokens import NamedTensors, Tokens, moved

Rows = npt.NDArray[np.int64]
States = npt.NDArray[np.float16]  # (tokens, width)
ABOVE = ("pooler", "final_norm")  # of an encoder, beside its upper layers


@dataclass(frozen=True)
class HiddenStates(Tokens):
    """Tokens with what the lower layers say about each, end to end like the tokens themselves."""

    states: States

    def only(self, rows: Rows) -> HiddenStates:
        tokens = super().only(rows)
        return HiddenStates(tokens.flat, tokens.offsets, tokens.pad, tokens.cut, self.states[self.places(rows)])

    def batch(self, rows: Sequence[int] | Rows, device: torch.device | None = None, round_to: int = 1) -> NamedTensors:
        mask = super().batch(rows, None, round_to)["attention_mask"]
        states = np.zeros((*mask.shape, self.states.shape[1]), np.float16)
        states[mask.numpy() > 0] = self.states[self.places(rows)]
        given = moved({"inputs_embeds": states, "attention_mask": mask.numpy()}, device)
        return given | {"inputs_embeds": given["inputs_embeds"].float()}

    def _packed_inputs(self, rows: Sequence[int] | Rows, filler: int) -> dict[str, npt.NDArray[Any]]:
        states = self.states[self.places(rows)].astype(np.float32)
        return {"inputs_embeds": np.concatenate([states, np.zeros((filler, states.shape[1]), np.float32)])[None]}


@dataclass(frozen=True)
class Recomputed(Tokens):
    """Tokens whose lower layers run anew for every batch, where keeping their outputs would take too much room."""

    lower: Callable[[NamedTensors], torch.Tensor]

    def only(self, rows: Rows) -> Recomputed:
        tokens = super().only(rows)
        return Recomputed(tokens.flat, tokens.offsets, tokens.pad, tokens.cut, self.lower)

    def batch(self, rows: Sequence[int] | Rows, device: torch.device | None = None, round_to: int = 1) -> NamedTensors:
        batch = super().batch(rows, device, round_to)
        return {"inputs_embeds": self.lower(batch), "attention_mask": batch["attention_mask"]}

    def _packed_inputs(self, rows: Sequence[int] | Rows, filler: int) -> dict[str, npt.NDArray[Any]]:
        batch = super().batch(rows)
        states = self.lower(batch).cpu().numpy()[batch["attention_mask"].numpy() > 0]
        return {"inputs_embeds": np.concatenate([states, np.zeros((filler, states.shape[1]), np.float32)])[None]}


class UpperLayers(FineTuning):
    """Trains the last `recipe.train_layers` layers and the head; everything below is read from a file."""

    def prepare(self, texts: Sequence[str], progress: Progress = silent) -> HiddenStates | Recomputed:
        tokens = super().prepare(texts, progress)
        gigabytes = len(tokens.flat) * self.width * 2 / 1e9
        if gigabytes > self.recipe.cache_limit:
            limit = f"more than cache_limit = {self.recipe.cache_limit:g}"
            self.notes.append(
                f"the outputs of the lower layers would take {gigabytes:.1f} GB, {limit}, so they are recomputed when "
                "needed"
            )
            return Recomputed(tokens.flat, tokens.offsets, tokens.pad, tokens.cut, self._lower)
        name = name_of(self.folder, texts, f"below {self.recipe.train_layers} {self.limit} {self.device.type}")
        file = cache_folder() / "layers" / f"{name}.npy"
        if not file.exists():
            self.notes.append(
                f"the outputs of the lower layers for {len(tokens):,} texts take {gigabytes:.2f} GB in the cache"
            )
        states = _cached(file, lambda: self._all_lower(tokens, progress))
        return HiddenStates(tokens.flat, tokens.offsets, tokens.pad, tokens.cut, states)

    @cached_property
    def encoder(self) -> nn.Module:
        return load_encoder(self.folder, self.device)

    @property
    def width(self) -> int:
        return int(self.encoder.config.hidden_size)  # type: ignore[union-attr, arg-type]

    def load(self, folder: Path) -> Upper:
        return Upper(self._upper(self._trained(folder)), self)

    def _fresh(self, streams: Streams) -> Upper:
        return Upper(self._upper(self._network(streams)), self)

    def whole(self) -> nn.Module:
        """The pretrained encoder under an untrained head of the same kind, on the CPU."""
        return self._network(Streams(0)).cpu()

    def _upper(self, network: nn.Module) -> nn.Module:
        return upper(network, self.recipe.train_layers)

    def _lower(self, batch: NamedTensors) -> torch.Tensor:
        """What reaches the first trained layer (texts, tokens, width)."""
        here = {name: tensor.to(self.device) for name, tensor in batch.items()}
        first = layers_of(self.encoder, self.recipe.train_layers)[0][-self.recipe.train_layers]
        with torch.no_grad(), precision.for_reading(self.device):
            return _reaching(first, self.encoder, here).half().float()  # as it would be kept

    def _all_lower(self, tokens: Tokens, progress: Progress) -> States:
        """The same for every token of every text, end to end."""
        states: States = np.empty((len(tokens.flat), self.width), np.float16)
        stage, done = f"lower layers, {states.nbytes / 1e9:.2f} GB", 0
        progress(stage, done, len(tokens))  # the size before the wait
        for rows in tokens.batches(tokens_per_batch(self.device)):
            batch = tokens.batch(rows)
            places = np.concatenate([np.arange(tokens.offsets[row], tokens.offsets[row + 1]) for row in rows])
            states[places] = self._lower(batch).cpu().numpy()[batch["attention_mask"].numpy() > 0]
            done += len(rows)
            progress(stage, done, len(tokens))
        return states


class Upper(FineTuned):
    """The trained upper layers; saved, they stand on the pretrained lower ones again."""

    def __init__(self, network: nn.Module, learner: UpperLayers) -> None:
        super().__init__(network, learner.tokenizer, learner.device, learner.recipe)
        self.learner = learner

    def perturbed(self, inputs: Tokens, seed: int, epsilon: float, progress: Progress = silent) -> torch.Tensor:
        raise MissingSignal("with --train-layers there are no word embeddings to perturb: train all layers")

    def save(self, folder: Path, classes: Sequence[str], card: str) -> None:
        whole = self.learner.whole()
        count = self.learner.recipe.train_layers
        below = len(layers_of(whole, count)[0]) - count
        prefix = f"{layers_of(whole, count)[1]}."
        trained = self.network.state_dict()
        for name, value in whole.state_dict().items():
            own = name
            if name.startswith(prefix):
                number, _, rest = name.removeprefix(prefix).partition(".")
                own = f"{prefix}{int(number) - below}.{rest}"
            if own in trained:
                value.copy_(trained[own])
        FineTuned(whole, self.tokenizer, self.device, self.recipe).save(folder, classes, card)


class PassThrough(nn.Module):
    """Stands in for embeddings and lower layers: it hands on what it is given."""

    def forward(self, *given: Any, **named: Any) -> torch.Tensor:
        found = [value for value in (*given, *named.values()) if isinstance(value, torch.Tensor) and value.ndim == 3]
        return found[0]


def upper(network: nn.Module, count: int) -> nn.Module:
    """The network from its last `count` layers on. What these share with the lower ones stays as it is."""
    body: Any = network.base_model
    layers, name = layers_of(network, count)
    parent = network.get_submodule(name.rpartition(".")[0])
    setattr(parent, name.rpartition(".")[2], nn.ModuleList(layers[-count:]))
    body.embeddings = PassThrough()
    if hasattr(body, "embeddings_project"):
        body.embeddings_project = nn.Identity()
    prefix = f"{network.base_model_prefix}."
    for each, parameter in network.named_parameters():
        inside = each.startswith(f"{name}.") or not each.startswith(prefix)
        parameter.requires_grad_(inside or any(word in each.split(".") for word in ABOVE))
    return network


def layers_of(network: nn.Module, count: int) -> tuple[nn.ModuleList, str]:
    """The encoder's stack of layers and its name in the network."""
    stacks = [(module, name) for name, module in network.named_modules() if isinstance(module, nn.ModuleList)]
    layers, name = max(stacks, key=lambda found: len(found[0]), default=(nn.ModuleList(), ""))
    if not hasattr(network.base_model, "embeddings") or len(layers) <= 1:
        raise ModelError("the layers of this encoder cannot be trained separately: leave out --train-layers")
    if count >= len(layers):
        raise ModelError(f"this encoder has {len(layers)} layers: --train-layers must be below {len(layers)}")
    return layers, name


class _Enough(Exception):
    """What was looked for is found: the rest of the pass is of no use."""


def _reaching(layer: nn.Module, network: nn.Module, batch: NamedTensors) -> torch.Tensor:
    """The hidden states that a layer is given in a pass."""
    seen: list[torch.Tensor] = []

    def stop(_: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen.append(given[0] if given else named["hidden_states"])
        raise _Enough

    with layer.register_forward_pre_hook(stop, with_kwargs=True), suppress(_Enough):
        network(**batch)
    return seen[0]


def _cached(file: Path, compute: Callable[[], States]) -> States:
    """`compute()`, or what an earlier call has kept; from the disk page by page."""
    with suppress(OSError, ValueError):
        found: States = np.load(file, mmap_mode="r", allow_pickle=False)
        return found
    states = compute()
    with suppress(OSError, StorageError):  # a cache that cannot be written costs time, never the run
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # they tell much about the texts
        with replacing(file) as scratch, scratch.open("wb") as stream:
            np.save(stream, states)
    return states
