"""The outputs of a session's model, each computed when a method first asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from actune.core.classifier import Classifier, Moments, Readout
from actune.core.streams import Streams
from actune.core.view import Outputs, View
from actune.errors import SettingError
from actune.models.learners import PROBE
from actune.models.probing import Probing
from actune.models.surprisal import surprisal
from actune.session.database import QuestionRow

if TYPE_CHECKING:
    import numpy.typing as npt

    from actune.session.machine import Machine


class ModelOutputs(Outputs):
    """Of a classifier on the session's pool; before the first fit there is none, and only the encoder can speak."""

    def __init__(self, machine: Machine, classifier: Classifier | None, streams: Streams) -> None:
        self.machine = machine
        self.fitted = classifier
        self.streams = streams
        self.progress = machine.session.progress

    @property
    def classifier(self) -> Classifier:
        if self.fitted is None:
            raise SettingError("there is no model yet to choose with: use random, representatives, typiclust or alps")
        return self.fitted

    def read(self, head_input: bool) -> Readout:
        return self.classifier.read(self.machine.inputs, self.progress, head_input)

    def moments(self, samples: int, rows: torch.Tensor) -> Moments:
        seed = self.streams.integer("dropout passes")
        return self.classifier.sample(self.machine.inputs, rows.numpy(), samples, seed, self.progress)

    def perturbed(self, epsilon: float) -> torch.Tensor:
        seed = self.streams.integer("perturbation")
        return self.classifier.perturbed(self.machine.inputs, seed, epsilon, self.progress)

    def surprisal(self) -> torch.Tensor:
        machine = self.machine
        limit, seed = machine.config.settings.max_tokens, machine.config.request.seed  # one draw for all rounds
        return surprisal(machine.folder, machine.session.pool.texts, limit, seed, machine.device, self.progress)

    def frozen(self) -> torch.Tensor:
        machine = self.machine
        classes, limit = len(machine.config.resolved.classes), machine.config.settings.max_tokens
        encoder = Probing(machine.folder, classes, limit, PROBE, machine.device)
        return encoder.prepare(machine.session.pool.texts, self.progress).vectors


def drawn(free: npt.NDArray[np.int64], most: int | None, streams: Streams) -> npt.NDArray[np.int64] | None:
    """The rows that a teacher reads where there are more than it would; None where it reads all."""
    if most is None or len(free) <= most:
        return None
    return np.sort(streams.rng("teacher's rows").choice(free, most, replace=False))


def glimpse(machine: Machine, classifier: Classifier, rows: npt.NDArray[np.int64], streams: Streams) -> View:
    """What a classifier says about some rows of the pool, which are the whole pool to whoever looks at them."""
    few = machine.inputs.only(rows)
    names = [machine.session.pool.ids[row] for row in rows]
    return View(classifier.read(few, machine.session.progress), range(len(rows)), streams=streams, ids=names)


def question_rows(round: int, rows: Sequence[int], log_proba: torch.Tensor | None = None) -> list[QuestionRow]:
    """Questions for these rows, with the model's suggestion where a person will see it."""
    if log_proba is None or not len(rows):
        return [QuestionRow(round, row, None, None) for row in rows]
    best, classes = log_proba[torch.as_tensor(rows, device=log_proba.device)].exp().max(1)
    return [
        QuestionRow(round, row, number, confidence)
        for row, number, confidence in zip(rows, classes.tolist(), best.tolist(), strict=True)
    ]
