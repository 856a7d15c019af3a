"""Encoders on texts laid end to end: no product is spent on padding, and none on tokens that nobody will look at.

The layers of some well-known families are run here from their own modules: products and norms over tokens alone,
attention over a grid as wide as the longest text, and in the last layer only what the first token needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from actune.models.encoders import COUNT_FROM_TWO

Tensors = dict[str, torch.Tensor]
Attend = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, float], torch.Tensor]

_BERT = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "drop_attention": "attention.self.dropout",
    "out": "attention.output.dense",
    "drop_out": "attention.output.dropout",
    "norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "activate": "intermediate.intermediate_act_fn",
    "down": "output.dense",
    "drop_down": "output.dropout",
    "last_norm": "output.LayerNorm",
}
_MPNET = _BERT | {
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "drop_attention": "attention.attn.dropout",
    "out": "attention.attn.o",
    "drop_out": "attention.dropout",
    "norm": "attention.LayerNorm",
}
_DISTILBERT = {
    "query": "attention.q_lin",
    "key": "attention.k_lin",
    "value": "attention.v_lin",
    "drop_attention": "attention.dropout",
    "out": "attention.out_lin",
    "norm": "sa_layer_norm",
    "up": "ffn.lin1",
    "activate": "ffn.activation",
    "down": "ffn.lin2",
    "drop_down": "ffn.dropout",
    "last_norm": "output_layer_norm",
}
FAMILIES = {
    "bert": _BERT,
    "camembert": _BERT,
    "distilbert": _DISTILBERT,
    "electra": _BERT,
    "mpnet": _MPNET,
    "roberta": _BERT,
    "xlm-roberta": _BERT,
}
LAYOUT = ("begin", "place", "present")


def packable(network: nn.Module) -> bool:
    """Whether the network's layers are of a kind that runs here; on a GPU padded batches are read and recorded."""
    config: Any = network.config
    here = next(network.parameters()).device.type == "cpu"
    absolute = getattr(config, "position_embedding_type", None) in (None, "absolute")
    return here and config.model_type in FAMILIES and absolute and not getattr(config, "is_decoder", False)


@contextmanager
def packed(network: nn.Module, batch: Tensors, every: bool = False) -> Iterator[Tensors]:
    """Inside, the network takes what this yields, and its last layer gives first tokens alone (texts, 1, width).

    With `every` it gives all tokens, padded with zeros (texts, longest, width).
    """
    body: Any = network.base_model
    layout = Layout(*(batch[name] for name in LAYOUT))
    stack = body.transformer if body.config.model_type == "distilbert" else body.encoder

    def forward(hidden_states: torch.Tensor, *_: Any, **__: Any) -> Any:
        return _Hidden(_run(stack, hidden_states[0], layout, body.config, every))

    stack.forward = forward
    try:
        yield _inputs(body, batch)
    finally:
        del stack.forward


class _Hidden(tuple[torch.Tensor]):
    """What transformers expects of a stack of layers: the hidden states by place and by name."""

    past_key_values = hidden_states = attentions = cross_attentions = None

    def __new__(cls, states: torch.Tensor) -> _Hidden:
        return super().__new__(cls, (states,))

    @property
    def last_hidden_state(self) -> torch.Tensor:
        return self[0]


def _inputs(body: Any, batch: Tensors) -> Tensors:
    inputs = {name: tensor for name, tensor in batch.items() if name not in LAYOUT}
    if "inputs_embeds" in inputs:  # of lower layers, which were kept in a precision of their own
        inputs["inputs_embeds"] = inputs["inputs_embeds"].to(next(body.parameters()).dtype)
    if body.config.model_type in COUNT_FROM_TWO:
        inputs["position_ids"] = inputs["position_ids"] + 2
    if hasattr(body.embeddings, "token_type_embeddings"):
        inputs["token_type_ids"] = torch.zeros_like(inputs["position_ids"])
    inputs["attention_mask"] = torch.zeros(1, 1, 1, 1, device=batch["place"].device)  # one with four axes is left alone
    return inputs


@dataclass(frozen=True)
class Layout:
    """Where texts lie among their tokens, and in a grid as wide as the longest."""

    begin: torch.Tensor  # (texts,)
    place: torch.Tensor  # (tokens,) in the grid
    present: torch.Tensor  # (texts, longest)

    @property
    def even(self) -> bool:
        """All texts are equally long: the packed tokens are the grid."""
        return len(self.place) == self.present.numel()

    def grid(self, tokens: torch.Tensor) -> torch.Tensor:
        """(tokens, ...) as (texts, longest, ...), zero where there is none."""
        if not self.even:
            tokens = tokens.new_zeros(self.present.numel(), *tokens.shape[1:]).index_copy(0, self.place, tokens)
        return tokens.reshape(*self.present.shape, *tokens.shape[1:])

    def tokens(self, grid: torch.Tensor) -> torch.Tensor:
        """(texts, longest, ...) as (tokens, ...)."""
        cells = grid.flatten(0, 1)
        return cells if self.even else cells.index_select(0, self.place)


def _run(stack: Any, states: torch.Tensor, layout: Layout, config: Any, every: bool) -> torch.Tensor:
    longest = layout.present.shape[1]
    bias = stack.compute_position_bias(states.new_empty(1, longest, 1)) if config.model_type == "mpnet" else None
    attend = _attention(layout, bias)
    layers = [_Layer(layer, FAMILIES[config.model_type], config.num_attention_heads) for layer in stack.layer]
    for layer in layers if every else layers[:-1]:
        states = layer(states, attend)
    return layout.grid(states) if every else layers[-1](states, attend, layout.begin)[:, None]


class _Layer:
    """One layer: attention and a feed-forward part, each with dropout, residual and norm."""

    def __init__(self, layer: nn.Module, names: dict[str, str], heads: int) -> None:
        self.of = {name: attrgetter(path)(layer) for name, path in names.items()}
        self.heads = heads

    def __call__(self, states: torch.Tensor, attend: Attend, firsts: torch.Tensor | None = None) -> torch.Tensor:
        """All tokens, or the first of each text alone."""
        if firsts is None:
            asking = states
            query, key, value = self._project(states, "query", "key", "value")
        else:
            asking = states.index_select(0, firsts)
            (query,), (key, value) = self._project(asking, "query"), self._project(states, "key", "value")
        drop = self.of["drop_attention"]
        mixed = attend(query, key, value, drop.p if drop.training else 0.0)
        mixed = self._dropped("drop_out", self.of["out"](mixed.flatten(1)))
        asking = self.of["norm"](asking + mixed)
        return self.of["last_norm"](asking + self._dropped("drop_down", self._fed(asking)))  # type: ignore[no-any-return]

    def _project(self, states: torch.Tensor, *names: str) -> tuple[torch.Tensor, ...]:
        """(tokens, heads, width of a head) for each name."""
        return tuple(self.of[name](states).view(len(states), self.heads, -1) for name in names)

    def _fed(self, states: torch.Tensor) -> torch.Tensor:
        return self.of["down"](self.of["activate"](self.of["up"](states)))  # type: ignore[no-any-return]

    def _dropped(self, name: str, states: torch.Tensor) -> torch.Tensor:
        return self.of[name](states) if name in self.of else states


def _attention(layout: Layout, bias: torch.Tensor | None) -> Attend:
    """Attention inside each text, over the grid; some families add a bias by distance."""
    mask = None if layout.even else layout.present[:, None, None]
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)

    def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, dropout: float) -> torch.Tensor:
        whole = len(query) == len(key)
        asking = layout.grid(query) if whole else query[:, None]
        given = mask if whole or mask is None else mask[:, :, :1]
        if given is not None and given.dtype != torch.bool:
            given = given.to(asking.dtype)
        asking, asked, answers = (part.transpose(1, 2) for part in (asking, layout.grid(key), layout.grid(value)))
        found = F.scaled_dot_product_attention(asking, asked, answers, given, dropout).transpose(1, 2)
        return layout.tokens(found) if whole else found[:, 0]

    return attend
