"""The outputs of a session's model, each computed when a method first asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from actune.core.classifier import Classifier, Moments, Readout
from actune.core.streams import Streams
from actune.core.view import Outputs
from actune.errors import SettingError
from actune.models.learners import PROBE
from actune.models.probing import Probing
from actune.models.surprisal import surprisal

if TYPE_CHECKING:
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
        return encoder.prepare(machine.session.pool.texts, self.progress)
