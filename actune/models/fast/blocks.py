"""One layer of an encoder over texts that lie end to end: attention inside each text, then a feed-forward part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.nn import functional as F

from actune.models.fast.compiling import fused

SHORT = 64  # tokens: up to here the kernel with the smaller tiles is faster
Affine = tuple[torch.Tensor, torch.Tensor]  # weight and bias


class Layout(NamedTuple):
    """Where texts lie. Behind them there may be filler, which is a text of its own and belongs to no grid."""

    bounds: torch.Tensor  # (texts + 1,), one more with filler: where each begins and the last one ends
    place: torch.Tensor  # (tokens,) in a grid of one text a line; -1 of filler
    source: torch.Tensor  # (texts, longest) which token lies here; -1 for none

    @property
    def present(self) -> torch.Tensor:
        return self.source >= 0

    @property
    def even(self) -> bool:
        """All texts are equally long and there is no filler: the packed tokens are the grid."""
        return len(self.place) == self.source.numel() and len(self.bounds) == len(self.source) + 1

    def grid(self, tokens: torch.Tensor) -> torch.Tensor:
        """(tokens, ...) as (texts, longest, ...), zero where there is none."""
        cells = tokens if self.even else _Taken.apply(tokens, self.source.flatten(), self.place)  # type: ignore[no-untyped-call]
        return cells.view(*self.source.shape, *tokens.shape[1:])

    def tokens(self, grid: torch.Tensor) -> torch.Tensor:
        """(texts, longest, ...) as (tokens, ...)."""
        cells = grid.flatten(0, 1)
        return cells if self.even else _Taken.apply(cells, self.place, self.source.flatten())  # type: ignore[no-untyped-call]


class _Taken(torch.autograd.Function):
    """Rows by number, zero for -1; `back` says where each row went, so that gradients are taken and never added up."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, index: torch.Tensor, back: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(index, back)
        return _taken(rows, index)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        _, back = ctx.saved_tensors
        return _taken(gradient, back), None, None


def _taken(rows: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    found = rows.index_select(0, index.clamp(min=0))
    # not in place: compiled by torch 2.11, a function of autograd that fills in place has no gradient
    return found.masked_fill((index < 0).view(-1, *[1] * (rows.ndim - 1)), 0)


class Parts(NamedTuple):
    """The weights of a layer."""

    query: Affine
    key: Affine
    value: Affine
    out: Affine
    norm: Affine
    up: Affine
    down: Affine
    last_norm: Affine


class LayerSettings(NamedTuple):
    """How a layer computes: what is the same for all layers and texts."""

    heads: int
    epsilon: float
    activate: Callable[[torch.Tensor], torch.Tensor]
    smooth: bool  # the activation is GELU
    drop_attention: float
    drop_out: float
    drop_down: float


class DropoutMasks(NamedTuple):
    """What dropout leaves behind attention and behind the feed-forward part; without it a layer draws for itself."""

    out: torch.Tensor | None  # (tokens, width), bool
    down: torch.Tensor | None


@fused
def layer(
    states: torch.Tensor,  # (tokens, width)
    parts: Parts,
    settings: LayerSettings,
    layout: Layout,
    mask: torch.Tensor | None,
    firsts: torch.Tensor | None,
    kept: DropoutMasks,
) -> torch.Tensor:
    """All tokens, or the first of each text alone. A mask is for texts in a grid; without one they stay in place."""
    if firsts is None:
        asking = states
        query, key, value = _projected(states, settings.heads, parts.query, parts.key, parts.value)
    else:
        asking = states.index_select(0, firsts)
        (query,) = _projected(asking, settings.heads, parts.query)
        key, value = _projected(states, settings.heads, parts.key, parts.value)
    if in_place(states, mask):
        mixed = _in_place(query, key, value, layout, settings.drop_attention, firsts is None)
    else:
        mixed = _in_a_grid(query, key, value, layout, mask, settings.drop_attention, firsts is None)
    mixed = mixed.flatten(1)
    mixed = _dropped(F.linear(mixed, *parts.out), settings.drop_out, kept.out)
    asking = _normed(asking + mixed, parts.norm, settings)
    fed = _dropped(F.linear(_risen(asking, parts.up, settings), *parts.down), settings.drop_down, kept.down)
    return _normed(asking + fed, parts.last_norm, settings)


def in_place(states: torch.Tensor, mask: torch.Tensor | None) -> bool:
    """Whether there is a kernel that is told where texts end: on a GPU, in half precision, without a mask."""
    return states.is_cuda and states.dtype == torch.bfloat16 and mask is None


def _projected(states: torch.Tensor, heads: int, *parts: Affine) -> tuple[torch.Tensor, ...]:
    """(tokens, heads, width of a head) for each part."""
    if states.is_cuda and len(parts) > 1:  # one large product is faster than three
        weight, bias = (torch.cat(same) for same in zip(*parts, strict=True))
        return F.linear(states, weight, bias).view(len(states), len(parts), heads, -1).unbind(1)
    return tuple(F.linear(states, *part).view(len(states), heads, -1) for part in parts)


def _risen(states: torch.Tensor, up: Affine, settings: LayerSettings) -> torch.Tensor:
    weight, bias = up
    if states.is_cuda and settings.smooth and states.dtype == torch.bfloat16 and not torch.is_grad_enabled():
        return torch._addmm_activation(bias, states, weight.t(), use_gelu=True)  # inside the product
    return settings.activate(F.linear(states, weight, bias))


def _dropped(states: torch.Tensor, share: float, kept: torch.Tensor | None) -> torch.Tensor:
    if not share:
        return states
    return F.dropout(states, share) if kept is None else states * kept[: len(states)] * (1 / (1 - share))


def _normed(states: torch.Tensor, norm: Affine, settings: LayerSettings) -> torch.Tensor:
    weight, bias = norm
    return F.layer_norm(states, weight.shape, weight, bias, settings.epsilon)


def _in_place(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, layout: Layout, dropout: float, whole: bool
) -> torch.Tensor:
    bounds, (texts, longest) = layout.bounds, layout.source.shape  # filler is never longer
    asking, most = bounds, longest
    if not whole:  # one token of each text, and none of filler
        asking, most = torch.arange(len(bounds), dtype=torch.int32, device=bounds.device).clamp(max=texts), 1
    if longest <= SHORT:
        alone = (part[None] for part in (query, key, value))
        found = torch.ops.aten._efficient_attention_forward(
            *alone, None, asking, bounds, most, longest, dropout, 0, compute_log_sumexp=torch.is_grad_enabled()
        )
        return found[0][0]  # type: ignore[no-any-return]
    return flash(query, key, value, bounds, longest, dropout, asking=asking, most=most)


def flash(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bounds: torch.Tensor,
    longest: int,
    dropout: float,
    reach: int = -1,
    asking: torch.Tensor | None = None,
    most: int | None = None,
) -> torch.Tensor:
    """Attention inside each text, and there as far as `reach`; `asking` bounds the tokens that ask, if not all do."""
    found = torch.ops.aten._flash_attention_forward(
        query,
        key,
        value,
        bounds if asking is None else asking,
        bounds,
        longest if most is None else most,
        longest,
        dropout,
        is_causal=False,
        return_debug_mask=False,
        window_size_left=reach,
        window_size_right=reach,
    )
    return found[0]  # type: ignore[no-any-return]


def _in_a_grid(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    layout: Layout,
    mask: torch.Tensor | None,
    dropout: float,
    whole: bool,
) -> torch.Tensor:
    asking = layout.grid(query) if whole else query[:, None]
    given = mask if whole or mask is None else mask[:, :, :1]
    if given is not None and given.dtype != torch.bool:
        given = given.to(asking.dtype)
    asking, asked, answers = (part.transpose(1, 2) for part in (asking, layout.grid(key), layout.grid(value)))
    found = F.scaled_dot_product_attention(asking, asked, answers, given, dropout).transpose(1, 2)
    return layout.tokens(found) if whole else found[:, 0]
