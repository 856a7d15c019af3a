"""A saved model, ready for new texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from actune.core.view import checked
from actune.models.starting import saved_learner
from actune.rounds.prepared import PreparedTask


@dataclass(frozen=True)
class Prediction:
    """What the model says about one text."""

    label: str
    probabilities: dict[str, float]


Predictor = Callable[[Sequence[str]], list[Prediction]]


def predictor(prepared: PreparedTask, folder: Path) -> Predictor:
    """The model in `folder`, ready for any number of new texts; one with an encoder of its own brings that."""
    kind = saved_learner(folder)
    encoder = prepared.folder if kind.is_frozen_encoder else folder
    learner = prepared.make_learner(kind.name, encoder, replace(prepared.recipe, train_layers=0))
    classifier, names, progress = learner.load(folder), prepared.task.pool.classes, prepared.progress

    def predict(texts: Sequence[str]) -> list[Prediction]:
        readout = checked(classifier.read(learner.prepare(texts, progress), progress))
        return [
            Prediction(names[int(np.argmax(row))], dict(zip(names, row, strict=True)))
            for row in readout.log_proba.exp().cpu().tolist()
        ]

    return predict
