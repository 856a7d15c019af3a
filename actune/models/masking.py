"""Texts with gaps: which tokens a masked language model is asked for, what it sees there, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from actune.models.tokens import NamedTensors, Tokens

SHARE = 0.15
IGNORED = -100  # where no token is asked for
FEW_COUNTS = 128  # asked tokens of a batch come in multiples of this where widths are rounded too
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Cloze(Tokens):
    """Texts as the model sees them, and beside each of their tokens the one it is asked for."""

    asked: npt.NDArray[np.int32]  # IGNORED at most places

    def batch(
        self, rows: Sequence[int] | npt.NDArray[np.int64], device: torch.device | None = None, round_to: int = 1
    ) -> NamedTensors:
        """These rows padded, the places of the asked tokens among all of the batch, and those tokens as labels."""
        shown = super().batch(rows, device, round_to)
        asked = Tokens(self.asked, self.offsets, IGNORED, 0).batch(rows, round_to=round_to)["input_ids"].flatten()
        places = (asked != IGNORED).nonzero()[:, 0]
        spare = 0 if round_to == 1 else -len(places) % FEW_COUNTS
        found = {
            "places": nn.functional.pad(places, (0, spare)),
            "labels": nn.functional.pad(asked[places], (0, spare), value=IGNORED),
        }
        return shown | {name: tensor.to(device, non_blocking=True) for name, tensor in found.items()}


def ordinary(tokens: Tokens, tokenizer: Any) -> Flags:
    """Which tokens stand for text; the unknown token stands for none."""
    return ~np.isin(tokens.flat, tokenizer.all_special_ids)


def ask(tokens: Tokens, chosen: Flags) -> Cloze:
    """The texts in full, with the chosen tokens asked for."""
    asked = np.where(chosen, tokens.flat, np.int32(IGNORED))
    return Cloze(tokens.flat, tokens.offsets, tokens.pad, tokens.cut, asked)


def hide(tokens: Tokens, tokenizer: Any, rng: np.random.Generator, share: float = SHARE) -> Cloze:
    """Asks for a share of the ordinary tokens, at least for one.

    Of these 80 % show the mask, 10 % a random token and 10 % themselves.
    """
    draws = np.where(ordinary(tokens, tokenizer), rng.random(len(tokens.flat)), np.inf)
    chosen = draws < max(share, np.nextafter(draws.min(), 1))
    fate = rng.random(len(tokens.flat))
    words = np.setdiff1d(list(tokenizer.get_vocab().values()), tokenizer.all_special_ids).astype(np.int32)
    shown = np.where(chosen & (fate < 0.8), np.int32(tokenizer.mask_token_id), tokens.flat)
    swapped = chosen & (fate >= 0.9)
    shown[swapped] = rng.choice(words, swapped.sum())
    return Cloze(shown, tokens.offsets, tokens.pad, tokens.cut, ask(tokens, chosen).asked)


def answers(network: nn.Module, batch: NamedTensors) -> torch.Tensor:  # (places, vocabulary)
    """The masked language model's logits at the asked places.

    Only their hidden states reach the projection to the vocabulary, which is most of the memory.
    """
    body: Any = network.base_model
    gathered = False

    def gather(_body: nn.Module, _inputs: Any, output: Any) -> None:
        nonlocal gathered
        output.last_hidden_state = output.last_hidden_state.flatten(0, 1).index_select(0, batch["places"])[None]
        gathered = True

    with body.register_forward_hook(gather):
        logits = network(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    if gathered:
        return logits[0].float()  # type: ignore[no-any-return]
    return logits.flatten(0, 1).index_select(0, batch["places"]).float()  # type: ignore[no-any-return]


def in_place(values: torch.Tensor, batch: NamedTensors) -> torch.Tensor:  # (texts, tokens)
    """What was found for each asked token, where it stands in its text; 0 elsewhere."""
    shape = batch["input_ids"].shape
    return values.new_zeros(shape.numel()).index_add(0, batch["places"], values).view(shape)
