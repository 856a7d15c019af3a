"""Encoders on texts laid end to end: no product is spent on padding, and none on tokens that nobody will look at.

The layers of some well-known families are run from their own weights by `blocks.layer`; the last one computes only what
the first token needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from transformers.activations import GELUActivation

from actune.core.settings import Training
from actune.models import fast
from actune.models.encoders import COUNT_FROM_TWO
from actune.models.fast import rotary
from actune.models.fast.blocks import DropoutMasks, LayerSettings, Layout, Parts, in_place, layer
from actune.models.fast.compiling import of_any_length
from actune.models.middle import Middle, summed
from actune.models.tokens import NamedTensors, Tokens

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
FILL_TO = 64  # tokens in a step are filled up to a multiple of this on a GPU, so that few shapes recur
GRID_TO = 32
LAYOUT = Layout._fields
NO_LAYERS = Middle(range(0))


def packs(network: nn.Module, tokens: Tokens, recipe: Training) -> bool:
    """Whether the network is to run on these texts end to end: of a text without tokens there is no first one."""
    return fast.enabled(recipe) and packable(network) and bool(tokens.lengths.all())


def packable(network: nn.Module) -> bool:
    """Whether the network's layers are of a kind that runs here."""
    config: Any = network.config
    if config.model_type in rotary.FAMILIES:
        return hasattr(network.base_model, "rotary_emb")  # older versions of transformers build it otherwise
    absolute = getattr(config, "position_embedding_type", None) in (None, "absolute")
    return config.model_type in FAMILIES and absolute and not getattr(config, "is_decoder", False)


def few_shapes(network: nn.Module) -> tuple[int, int]:
    """To which multiples packed batches are filled and a grid is widened, so that few shapes recur."""
    config: Any = network.config
    return FILL_TO, GRID_TO if config.model_type == "mpnet" else FILL_TO


@contextmanager
def packed(
    network: nn.Module, batch: NamedTensors, every: bool = False, middle: Middle | None = None
) -> Iterator[NamedTensors]:
    """Inside, the network takes what this yields, and its last layer gives first tokens alone (texts, 1, width).

    With `every` it gives all tokens, padded with zeros (texts, longest, width); `middle` adds up some layers.
    """
    body: Any = network.base_model
    layout = Layout(*(batch[name] for name in LAYOUT))
    if body.config.model_type in rotary.FAMILIES:
        with rotary.packed(network, _given(body, batch), layout) as inputs, summed(network, middle or NO_LAYERS):
            yield inputs
        if middle is not None and middle.sum is not None:
            middle.sum = layout.grid(middle.sum[0])
        return
    stack = body.transformer if body.config.model_type == "distilbert" else body.encoder

    def forward(hidden_states: torch.Tensor, *_: Any, **__: Any) -> Any:
        return _Hidden(_run(stack, hidden_states[0], layout, body.config, every, middle or NO_LAYERS))

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


def _given(body: Any, batch: NamedTensors) -> NamedTensors:
    inputs = {name: tensor for name, tensor in batch.items() if name not in LAYOUT}
    if "inputs_embeds" in inputs:  # of lower layers, which were kept in a precision of their own
        inputs["inputs_embeds"] = inputs["inputs_embeds"].to(next(body.parameters()).dtype)
    return inputs


def _inputs(body: Any, batch: NamedTensors) -> NamedTensors:
    inputs = _given(body, batch)
    if body.config.model_type in COUNT_FROM_TWO:
        inputs["position_ids"] = inputs["position_ids"] + 2
    if hasattr(body.embeddings, "token_type_embeddings"):
        inputs["token_type_ids"] = torch.zeros_like(inputs["position_ids"])
    inputs["attention_mask"] = torch.zeros(1, 1, 1, 1, device=batch["place"].device)  # one with four axes is left alone
    return inputs


def _run(stack: Any, states: torch.Tensor, layout: Layout, config: Any, every: bool, middle: Middle) -> torch.Tensor:
    mask = _mask(stack, states, layout, config.model_type)
    parts = [
        {name: attrgetter(path)(layer) for name, path in FAMILIES[config.model_type].items()} for layer in stack.layer
    ]
    activate = parts[0]["activate"]  # one for all, so that they are seen to compute alike
    of_any_length(layout.bounds, 0)
    of_any_length(layout.place, 0)
    of_any_length(layout.source, 0, 1)
    of_any_length(mask, 0, 2, 3)
    firsts = layout.bounds[: len(layout.source)]
    of_any_length(firsts, 0)
    all_settings = [_layer_settings(part, activate, config) for part in parts]
    backwards = states.is_cuda and torch.is_grad_enabled()
    masks = draw_dropout_masks(all_settings, states) if backwards else [DropoutMasks(None, None)] * len(parts)
    for number, (part, settings, kept) in enumerate(zip(parts, all_settings, masks, strict=True), 1):
        of_any_length(states, 0)
        weights = Parts(*((part[name].weight, part[name].bias) for name in Parts._fields))
        wanted = firsts if number == len(parts) and not every else None
        states = layer(states, weights, settings, layout, mask, wanted, kept)
        middle.add(number, states)
    if middle.sum is not None:
        middle.sum = layout.grid(middle.sum)
    return layout.grid(states) if every else states[:, None]


def draw_dropout_masks(all_settings: Sequence[LayerSettings], states: torch.Tensor) -> list[DropoutMasks]:
    """What dropout leaves in each layer: drawn at once for all, and before what a GPU runs compiled.

    A compiler may draw anew in the backward pass, and then torch 2.13 draws other numbers (pytorch issue 198333).
    """
    shares = [share for settings in all_settings for share in (settings.drop_out, settings.drop_down)]
    found: list[torch.Tensor | None] = [None] * len(shares)
    for share in sorted(set(shares) - {0.0}):
        places = [place for place, each in enumerate(shares) if each == share]
        masks = torch.empty((len(places), *states.shape), dtype=torch.bool, device=states.device).bernoulli_(1 - share)
        for place, mask in zip(places, masks.unbind(), strict=True):
            of_any_length(mask, 0)
            found[place] = mask
    return [DropoutMasks(out, down) for out, down in zip(found[::2], found[1::2], strict=True)]


def _mask(stack: Any, states: torch.Tensor, layout: Layout, family: str) -> torch.Tensor | None:
    """What attention in a grid may not look at, and the bias by distance that some families add."""
    mask = None if layout.even else layout.present[:, None, None]
    if family == "mpnet":
        bias: torch.Tensor = stack.compute_position_bias(states.new_empty(1, layout.source.shape[1], 1))
        return bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    return None if in_place(states, None) else mask


def _layer_settings(part: dict[str, Any], activate: Any, config: Any) -> LayerSettings:
    def share(name: str) -> float:
        """What is dropped now."""
        drop = part.get(name)
        return float(drop.p) if drop is not None and drop.training else 0.0

    smooth = isinstance(activate, GELUActivation)
    return LayerSettings(
        heads=config.num_attention_heads,
        epsilon=part["norm"].eps,
        activate=F.gelu if smooth else activate,
        smooth=smooth,
        drop_attention=share("drop_attention"),
        drop_out=share("drop_out"),
        drop_down=share("drop_down"),
    )
