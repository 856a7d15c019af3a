"""A learner of our own, as somebody else's package would add one: the nearest class centre of frozen embeddings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from actune.core.classifier import Moments, Readout
from actune.core.objective import Objective
from actune.core.training_set import TrainingSet
from actune.errors import MissingSignal
from actune.models.learners import PROBE, LearnerKind
from actune.models.probing import Embeddings, Probing
from actune.models.sources import encoder_digest


class Centroids(Probing):
    """Prepares texts as the probe does."""

    def fit(  # type: ignore[override]
        self, inputs: Embeddings, training: TrainingSet, objective: Objective, *_: Any, **__: Any
    ) -> Nearest:
        rows, labels = training.rows, training.labels
        if objective.uses_pseudo_labels:
            rows = np.concatenate([rows, training.pseudo_labels.rows])
            labels = np.concatenate([labels, training.pseudo_labels.targets])
        members = torch.nn.functional.one_hot(torch.from_numpy(labels), self.classes).float()
        sums = members.T @ inputs.only(rows).vectors
        return Nearest(sums / members.sum(0).clamp(min=1)[:, None], self)

    def load(self, folder: Path) -> Nearest:  # type: ignore[override]
        return Nearest(torch.tensor(json.loads((folder / "centroids.json").read_text())["centres"]), self)


class Nearest:
    def __init__(self, centres: torch.Tensor, learner: Centroids) -> None:
        self.centres, self.learner = centres, learner

    def read(self, inputs: Embeddings, progress: Any = None, head_input: bool = False) -> Readout:
        log_proba = (10 * inputs.vectors @ self.centres.T).log_softmax(1)
        return Readout(log_proba, inputs.vectors, inputs.vectors if head_input else None)

    def sample(self, *_: Any, **__: Any) -> Moments:
        raise MissingSignal("this model has no dropout to sample")

    def perturbed(self, *_: Any, **__: Any) -> torch.Tensor:
        raise MissingSignal("this model has no words to perturb")

    def save(self, folder: Path, classes: Sequence[str], card: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        facts = {"classes": list(classes), "encoder": encoder_digest(self.learner.folder)}
        (folder / "centroids.json").write_text(json.dumps({**facts, "centres": self.centres.tolist()}))


CENTROIDS = LearnerKind(
    name="centroids",
    help="takes the class whose mean embedding is nearest",
    make=Centroids,
    recipe=lambda device: PROBE,
    saved_file="centroids.json",
    is_frozen_encoder=True,
)
