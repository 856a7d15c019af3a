"""Small views made of given or drawn numbers, on which queries, trust rules and methods can be tried."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from actune.core.classifier import Moments, Readout
from actune.core.streams import Streams
from actune.core.strings import Strings
from actune.core.view import Outputs, View
from actune.models.sampling import moments_of


class Drawn(Outputs):
    """Every signal that a method can ask for, from one readout and a seed; counts how often each is computed."""

    def __init__(self, readout: Readout, seed: int = 0) -> None:
        super().__init__(readout)
        self.seed = seed
        self.asked: list[str] = []

    def read(self, head_input: bool) -> Readout:
        self.asked.append("read")
        extra = self.readout.embedding.tanh() if head_input else None
        return Readout(self.readout.log_proba, self.readout.embedding, extra)

    def moments(self, samples: int, rows: torch.Tensor) -> Moments:
        self.asked.append("moments")
        draw = torch.Generator().manual_seed(self.seed)
        given = self.readout.log_proba[rows]

        def one_pass() -> torch.Tensor:
            return (given + torch.randn(given.shape, generator=draw, dtype=given.dtype)).log_softmax(1)

        return Moments(*moments_of(one_pass, samples))

    def perturbed(self, epsilon: float) -> torch.Tensor:
        self.asked.append("perturbed")
        return (self.readout.log_proba * (1 - epsilon / 4)).log_softmax(1)

    def surprisal(self) -> torch.Tensor:
        self.asked.append("surprisal")
        return self._vectors(5).clamp(min=0)

    def frozen(self) -> torch.Tensor:
        self.asked.append("frozen")
        return torch.nn.functional.normalize(self._vectors(7))

    def _vectors(self, width: int) -> torch.Tensor:
        draw = torch.Generator().manual_seed(self.seed + width)
        return torch.randn(len(self.readout.embedding), width, generator=draw).to(self.readout.embedding)


class Stored(Outputs):
    """Dropout passes (passes, pool, classes) that were written down, in their order; the readout is what it is."""

    def __init__(self, readout: Readout, passes: torch.Tensor) -> None:
        super().__init__(readout)
        self.passes = passes

    def moments(self, samples: int, rows: torch.Tensor) -> Moments:
        drawn = iter(self.passes[:, rows].log())
        return Moments(*moments_of(lambda: next(drawn), samples))


def stored_view(passes: torch.Tensor, proba: torch.Tensor | None = None, labelled: Sequence[int] = ()) -> View:
    """A view whose dropout passes are given; the plain prediction is their mean if none is."""
    proba = passes.mean(0) if proba is None else proba
    unlabelled = [row for row in range(len(proba)) if row not in set(labelled)]
    readout = Readout(proba.log(), torch.arange(len(proba)).to(proba)[:, None])
    labels = [0] * len(labelled)
    return View(Stored(readout, passes), unlabelled, labelled, labels=labels, texts=lambda: texts_for(len(proba)))


def view_of(
    proba: torch.Tensor,
    embedding: torch.Tensor | None = None,
    labelled: Sequence[int] = (),
    skipped: Sequence[int] = (),
    seed: int = 0,
    labels: Sequence[int] | None = None,
) -> View:
    """A view of the given outputs; every row that is neither labelled nor skipped is unlabelled."""
    embedding = torch.arange(len(proba)).to(proba)[:, None] if embedding is None else embedding
    unlabelled = [row for row in range(len(proba)) if row not in {*labelled, *skipped}]
    known = [row % proba.shape[1] for row in labelled] if labels is None else labels
    outputs = Drawn(Readout(proba.log(), embedding), seed)
    return View(outputs, unlabelled, labelled, Streams(seed), labels=known, texts=lambda: texts_for(len(proba)))


def texts_for(rows: int) -> Strings:
    """A text for each row, of one to seven words."""
    words = ["what", "is", "the", "name", "of", "this", "thing"]
    return Strings.of(f"{' '.join(words[: 1 + row % len(words)])} {row}" for row in range(rows))


def drawn_view(rows: int = 120, classes: int = 3, seed: int = 0, dtype: torch.dtype = torch.float64) -> View:
    """Six clouds of embeddings, some sure and some unsure; every tenth row is labelled, row 5 is skipped."""
    draw = torch.Generator().manual_seed(seed)
    cloud = torch.randint(6, (rows,), generator=draw)
    embedding = 4 * torch.randn(6, 8, generator=draw)[cloud] + torch.randn(rows, 8, generator=draw)
    logits = (1 + cloud[:, None]) * torch.randn(rows, classes, generator=draw)
    return view_of(logits.to(dtype).softmax(1), embedding.to(dtype), range(0, rows, 10), [5], seed)
