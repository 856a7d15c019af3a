"""Encoders that turn queries and keys by position (ModernBERT): their own layers run on texts that lie end to end.

Only attention is ours: inside each text, and in some layers no further than a window.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from transformers import AttentionInterface

from actune.models.fast.blocks import Layout, flash, in_place
from actune.models.tokens import NamedTensors

FAMILIES = ("modernbert",)
NAME = "actune_end_to_end"


@contextmanager
def packed(network: nn.Module, inputs: NamedTensors, layout: Layout) -> Iterator[dict[str, Any]]:
    """Inside, the network takes what this yields; its body gives texts in a grid again, for whatever the head does."""
    body: Any = network.base_model

    def before(_: nn.Module, args: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        kinds = dict.fromkeys(set(body.config.layer_types))
        return args, given | {"attention_mask": kinds, "layout": layout}  # no mask for any kind of layer

    def after(_: nn.Module, __: Any, output: Any) -> Any:
        output.last_hidden_state = layout.grid(output.last_hidden_state[0])
        return output

    usual, body.config._attn_implementation = body.config._attn_implementation, NAME
    hooks = [body.register_forward_pre_hook(before, with_kwargs=True), body.register_forward_hook(after, prepend=True)]
    try:
        yield inputs | {"attention_mask": layout.present}
    finally:
        body.config._attn_implementation = usual
        for hook in hooks:
            hook.remove()


def attend(
    module: nn.Module,
    query: torch.Tensor,  # (1, heads, tokens, width of a head), as are the others
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: None,
    layout: Layout,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """What transformers calls in place of its own attention."""
    asking, asked, answers = (part[0].transpose(0, 1) for part in (query, key, value))  # (tokens, heads, width)
    reach = -1 if sliding_window is None else sliding_window - 1
    if in_place(asking, None):
        return flash(asking, asked, answers, layout.bounds, layout.source.shape[1], dropout, reach)[None], None
    asking, asked, answers = (layout.grid(part).transpose(1, 2) for part in (asking, asked, answers))
    mask = layout.present[:, None, None]
    if reach >= 0:
        place = torch.arange(mask.shape[-1], device=mask.device)
        mask = mask & ((place[:, None] - place).abs() <= reach)
    found = F.scaled_dot_product_attention(asking, asked, answers, mask, dropout).transpose(1, 2)
    return layout.tokens(found)[None], None


AttentionInterface.register(NAME, attend)
