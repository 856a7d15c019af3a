"""Small views made of given or drawn numbers, for the tests of methods."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from actune.core.classifier import Readout
from actune.core.streams import Streams
from actune.core.view import View


def view_of(
    proba: torch.Tensor,
    embedding: torch.Tensor | None = None,
    labelled: Sequence[int] = (),
    skipped: Sequence[int] = (),
    seed: int = 0,
) -> View:
    """A view of the given outputs; every row that is neither labelled nor skipped is unlabelled."""
    embedding = torch.arange(len(proba)).to(proba)[:, None] if embedding is None else embedding
    unlabelled = [row for row in range(len(proba)) if row not in {*labelled, *skipped}]
    return View(Readout(proba.log(), embedding), unlabelled, labelled, Streams(seed))


def drawn_view(rows: int = 120, classes: int = 3, seed: int = 0, dtype: torch.dtype = torch.float64) -> View:
    """Six clouds of embeddings, some sure and some unsure; every tenth row is labelled, row 5 is skipped."""
    draw = torch.Generator().manual_seed(seed)
    cloud = torch.randint(6, (rows,), generator=draw)
    embedding = 4 * torch.randn(6, 8, generator=draw)[cloud] + torch.randn(rows, 8, generator=draw)
    logits = (1 + cloud[:, None]) * torch.randn(rows, classes, generator=draw)
    return view_of(logits.to(dtype).softmax(1), embedding.to(dtype), range(0, rows, 10), [5], seed)
