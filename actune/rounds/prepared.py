"""A task as one learner reads it: the learner, and each split as it wants it, made when first needed and then kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from actune.core.classifier import Classifier, Labelled, Learner
from actune.core.progress import Progress, silent
from actune.models.learners import find_learner, make_learner

if TYPE_CHECKING:
    import numpy.typing as npt
    import torch

    from actune.core.objective import Objective
    from actune.core.pool import Pool
    from actune.core.settings import Training
    from actune.core.task import Task
    from actune.core.training_set import TrainingSet


class Shared(Protocol):
    """What the runs of an experiment compute once for all of them; a run of its own shares nothing."""

    def prepared(self, by: PreparedTask, texts: Sequence[str], prepare: Callable[[], Any]) -> Any: ...

    def first(
        self, by: PreparedTask, training: TrainingSet, objective: Objective, fit: Callable[[], Classifier]
    ) -> Classifier: ...


class PreparedTask:
    """A learner on an encoder, and the texts that it reads. It holds nothing that a restart would miss."""

    def __init__(
        self,
        task: Task,
        learner: str,
        find_encoder: Callable[[], Path],  # called once, when the encoder's files are first needed
        recipe: Training,
        device: torch.device,
        max_tokens: int,
        progress: Progress = silent,
        shared: Shared | None = None,
        checkpoints: Path | None = None,  # a folder for the state of long fits
        distinct: float = 0.0,  # the similarity of texts of which only one is asked about in a batch; 0 for none
    ) -> None:
        self.task = task
        self.learner_name = learner
        self.recipe = recipe
        self.device = device
        self.max_tokens = max_tokens
        self.progress = progress
        self.shared = shared
        self.checkpoints = checkpoints
        self.distinct = distinct
        self.gone: frozenset[int] = frozenset()  # classes that no text can be given any more
        self.held_out: tuple[Any, Any] | None = None  # what rounds/cross_validating.py found last, and of which answers
        self._find_encoder = find_encoder

    @cached_property
    def folder(self) -> Path:
        """The encoder's files."""
        return self._find_encoder()

    @cached_property
    def learner(self) -> Learner:
        learner: Any = self.make_learner(self.learner_name, self.folder, self.recipe)
        if self.checkpoints and find_learner(self.learner_name).keeps_checkpoints:
            learner.checkpoints = self.checkpoints
        made: Learner = learner
        return made

    def make_learner(self, name: str, folder: Path, recipe: Training) -> Learner:
        """Another learner for the same classes."""
        return make_learner(name, folder, len(self.task.pool.classes), self.max_tokens, recipe, self.device)

    def load(self, folder: Path, classes: int) -> Classifier:
        """The classifier in a folder, which may be older than some classes of the task."""
        if classes == len(self.task.pool.classes):
            return self.learner.load(folder)
        older = make_learner(self.learner_name, self.folder, classes, self.max_tokens, self.recipe, self.device)
        return older.load(folder)

    @cached_property
    def pool(self) -> Any:
        return self._prepare(self.task.pool.texts)

    @cached_property
    def group_of(self) -> npt.NDArray[np.int64] | None:
        """The group of near-duplicates of each text of the pool, where the run asks about one of each at a time."""
        from actune.data.duplicates import near_duplicates

        return near_duplicates(self.task.pool.texts, self.distinct) if self.distinct else None

    @cached_property
    def dev(self) -> Labelled | None:
        return self._labelled(self.task.dev)

    @cached_property
    def test(self) -> Labelled | None:
        return self._labelled(self.task.test)

    def _labelled(self, split: Pool | None) -> Labelled | None:
        if split is None or not len(split):
            return None
        return Labelled(self._prepare(split.texts), np.asarray(split.labels, np.int64))

    def _prepare(self, texts: Sequence[str]) -> Any:
        def prepare() -> Any:
            return self.learner.prepare(texts, self.progress)

        return self.shared.prepared(self, texts, prepare) if self.shared else prepare()
