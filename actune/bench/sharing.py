"""What cells have in common is computed once: the first model of a data set and seed, its reads, prepared texts."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from actune.bench.cells import version_of
from actune.core.classifier import Classifier, Moments, Readout
from actune.core.files import locked, replacing, replacing_folder, storage_sentences
from actune.core.objective import Objective
from actune.core.progress import Progress, silent
from actune.core.training_set import TrainingSet
from actune.models.learners import find_learner
from actune.rounds.prepared import PreparedTask
from actune.session.config import Config

MOST_PREPARED = 6  # splits in memory: pool, dev and test of two data sets
_prepared: OrderedDict[tuple[Any, ...], tuple[Sequence[str], Any]] = OrderedDict()


class SharedFits:
    """First models and their reads in a folder: who comes first computes, others wait and read."""

    def __init__(self, folder: Path, config: Config) -> None:
        self.folder = folder
        self.config = config

    def prepared(self, by: PreparedTask, texts: Sequence[str], prepare: Callable[[], Any]) -> Any:
        """Texts as the learner wants them, kept in this process as long as the next cells may want them too."""
        if not find_learner(by.learner_name).keeps_prepared_pool(by.recipe):
            return prepare()
        how = by.recipe.fast, torch.get_num_threads()
        key = (id(texts), by.folder, by.learner_name, by.max_tokens, by.device, *how)
        if key not in _prepared:
            _prepared[key] = texts, prepare()  # with the texts, so that no other ones get their id
            if len(_prepared) > MOST_PREPARED:
                _prepared.popitem(last=False)
        return _prepared[key][1]

    def first(
        self, by: PreparedTask, training: TrainingSet, objective: Objective, fit: Callable[[], Classifier]
    ) -> Classifier:
        """The model of labelled rows alone in the first round."""
        return SharedFirstModel(by, self.folder / _key(self.config, by, training, objective), fit)


def _key(config: Config, by: PreparedTask, training: TrainingSet, objective: Objective) -> str:
    """All that decides such a fit. Of an objective only what labelled rows feel: an adversarial one pads its texts."""
    facts = {
        "data": config.resolved.fingerprint,
        "encoder": [config.request.model, config.request.adapt],
        "seed": config.request.seed,
        "learner": by.learner_name,
        "recipe": asdict(by.recipe),
        "tokens": by.max_tokens,
        "objective": [objective.supervised, bool(objective.adversarial)],
        "machine": [str(by.device), config.resolved.threads, config.resolved.precision, dict(config.versions)],
        "rows": sha256(training.rows.tobytes() + training.labels.tobytes()).hexdigest(),
        **version_of(by.learner_name),
    }
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


class SharedFirstModel:
    """A classifier whose weights and reads lie on the disk; the weights are loaded only where a read is not enough."""

    def __init__(self, by: PreparedTask, folder: Path, fit: Callable[[], Classifier]) -> None:
        self.by = by
        self.folder = folder
        with _alone(folder):
            if not (folder / "model").is_dir():
                self.model = fit()
                self._keep("model", lambda scratch: self.model.save(scratch, by.task.pool.classes, ""))

    @cached_property
    def model(self) -> Classifier:
        return self.by.learner.load(self.folder / "model")

    @property
    def network(self) -> Any:
        """What a student begins with that its teacher hands over to."""
        return self.model.network  # type: ignore[attr-defined]

    def read(self, inputs: Any, progress: Progress = silent, head_input: bool = False) -> Readout:
        file = self._file(inputs)
        if file is None:
            return self.model.read(inputs, progress, head_input)
        with _alone(self.folder):
            if file.is_file():
                found = load_file(file, device=str(self.by.device))
                # copied to where torch itself puts tensors: how they lie in memory decides the last bits of products
                return Readout(**{name: value.clone() for name, value in found.items()})
            readout = self.model.read(inputs, progress, head_input=True)  # whoever reads next may want it
            # cloned, for a probe's embedding is its head's input, and one tensor cannot be written twice
            tensors = {name: value.clone() for name, value in vars(readout).items()}
            self._keep(file.name, lambda scratch: save_file(tensors, scratch))
            return readout

    def sample(
        self, inputs: Any, rows: np.ndarray[Any, Any], samples: int, seed: int, progress: Progress = silent
    ) -> Moments:
        return self.model.sample(inputs, rows, samples, seed, progress)

    def perturbed(self, inputs: Any, seed: int, epsilon: float, progress: Progress = silent) -> torch.Tensor:
        return self.model.perturbed(inputs, seed, epsilon, progress)

    def save(self, folder: Path, classes: Sequence[str], card: str) -> None:
        self.model.save(folder, classes, card)

    def _file(self, inputs: Any) -> Path | None:
        """Where a read is kept, if it is of the pool or of test."""
        test = self.by.test
        part = "pool" if inputs is self.by.pool else "test" if test and inputs is test.inputs else None
        return self.folder / f"{part}.safetensors" if part else None

    def _keep(self, name: str, write: Callable[[Path], None]) -> None:
        """All or nothing; a disk that is full costs time and never a cell."""
        place = self.folder / name
        # each library has its own way to say that the disk is full
        with suppress(Exception), replacing(place) if place.suffix else replacing_folder(place) as scratch:
            write(scratch)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time; the others wait. A killed one leaves no lock behind."""
    with storage_sentences(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, "sharing", wait=True):
        yield
