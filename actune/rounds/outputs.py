"""What a model says about the pool: views whose outputs are computed when a method first asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from actune.core.classifier import Classifier, Moments, Readout
from actune.core.labels import Labels
from actune.core.streams import Streams
from actune.core.view import Outputs, View
from actune.errors import SettingError
from actune.models.learners import PROBE
from actune.models.probing import Probing
from actune.models.surprisal import surprisal
from actune.rounds.prepared import PreparedTask

if TYPE_CHECKING:
    import numpy.typing as npt


NEVER = -30.0  # the log-probability of a class that a model does not know or that is there no more


class ModelOutputs(Outputs):
    """Of a classifier on the pool; before the first fit there is none, and only the encoder can speak."""

    def __init__(self, prepared: PreparedTask, classifier: Classifier | None, streams: Streams) -> None:
        self.prepared = prepared
        self.fitted = classifier
        self.streams = streams
        self.progress = prepared.progress

    @property
    def classifier(self) -> Classifier:
        if self.fitted is None:
            raise SettingError(
                "there is no model yet to select texts with: use --first random, representatives, typiclust or alps"
            )
        return self.fitted

    def read(self, head_input: bool) -> Readout:
        return readable(self.prepared, self.classifier.read(self.prepared.pool, self.progress, head_input))

    def moments(self, samples: int, rows: torch.Tensor) -> Moments:
        seed = self.streams.integer("dropout passes")
        found = self.classifier.sample(self.prepared.pool, rows.numpy(), samples, seed, self.progress)
        missing = len(self.prepared.task.pool.classes) - found.mean.shape[1]
        if missing <= 0:
            return found
        mean, variance = (torch.nn.functional.pad(each, (0, missing)) for each in (found.mean, found.variance))
        return Moments(mean, found.entropy, variance)

    def perturbed(self, epsilon: float) -> torch.Tensor:
        seed = self.streams.integer("perturbation")
        found = self.classifier.perturbed(self.prepared.pool, seed, epsilon, self.progress)
        return _of_the_classes(self.prepared, found)

    def surprisal(self) -> torch.Tensor:
        here, seed = self.prepared, self.streams.seed  # one draw for all rounds
        return surprisal(here.folder, here.task.pool.texts, here.max_tokens, seed, here.device, self.progress)

    def frozen(self) -> torch.Tensor:
        here = self.prepared
        encoder = Probing(here.folder, len(here.task.pool.classes), here.max_tokens, PROBE, here.device)
        return encoder.own_embeddings(here.task.pool.texts, self.progress)


def readable(prepared: PreparedTask, readout: Readout) -> Readout:
    """A readout with a column for each class of the task: the model may be older than some, and others are gone."""
    log_proba = _of_the_classes(prepared, readout.log_proba)
    return readout if log_proba is readout.log_proba else replace(readout, log_proba=log_proba)


def _of_the_classes(prepared: PreparedTask, log_proba: torch.Tensor) -> torch.Tensor:
    missing = len(prepared.task.pool.classes) - log_proba.shape[1]
    if missing <= 0 and not prepared.gone:
        return log_proba
    found = torch.nn.functional.pad(log_proba, (0, max(0, missing)), value=NEVER)
    found[:, sorted(prepared.gone)] = NEVER
    return found.log_softmax(1)


def view_of(prepared: PreparedTask, classifier: Classifier | None, labels: Labels, streams: Streams) -> View:
    """What `classifier` says about the pool, with what is known of it so far."""
    labelled = sorted(labels.of_row)
    return View(
        ModelOutputs(prepared, classifier, streams),
        unlabelled=torch.from_numpy(free_rows(prepared, labels)),
        labelled=labelled,
        labels=[labels.of_row[row] for row in labelled],
        streams=streams,
        ids=prepared.task.pool.ids,
        texts=lambda: prepared.task.pool.texts,
    )


def view_of_some(prepared: PreparedTask, classifier: Classifier, rows: npt.NDArray[np.int64], streams: Streams) -> View:
    """What a classifier says about some rows of the pool, which are the whole pool to whoever looks at them."""
    few = prepared.pool.only(rows)
    names = [prepared.task.pool.ids[row] for row in rows]

    def texts() -> Sequence[str]:
        return prepared.task.pool.texts.take(rows)

    return View(classifier.read(few, prepared.progress), range(len(rows)), streams=streams, ids=names, texts=texts)


def free_rows(prepared: PreparedTask, labels: Labels) -> npt.NDArray[np.int64]:
    """The rows that nobody has labelled or skipped."""
    free = np.ones(len(prepared.task.pool), bool)
    free[[*labels.of_row, *labels.skipped]] = False
    return np.flatnonzero(free)
