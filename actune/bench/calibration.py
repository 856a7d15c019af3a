"""What training, reading, embedding and choosing take on this machine, measured on a few texts in a few seconds."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from actune.core.pool import Pool
from actune.core.task import Task
from actune.models.learners import find_learner

if TYPE_CHECKING:
    import torch

    from actune.core.classifier import Classifier
    from actune.core.settings import Training
    from actune.rounds.prepared import PreparedTask

SAMPLE, FEW = 256, 32  # texts that are read: of a frozen encoder, and of one that is trained
STEPS, FEW_STEPS = 24, 6  # of training; the first third warms up
ENOUGH = 5.0  # seconds after which no further method is measured: it is taken for the slowest of the others
VARIABLE = "ACTUNE_CACHE"


@dataclass(frozen=True)
class Measured:
    """Seconds of each part of a run."""

    load: float  # the encoder
    prepare: float  # a text that is not embedded or tokenised yet
    step: float  # of training
    read: float  # a text
    choose: dict[str, float]  # a text of the pool, by method
    slowness: float = 1.0  # how often longer all of this took than the processor worked on it: others use it too


def measure(
    task: Task,
    learner: str,
    encoder: Path,
    recipe: Training,
    threads: int,
    device: torch.device,
    methods: Sequence[str],
    trusts: bool,
) -> Measured:
    """Runs every part once on some texts of the task. Nothing is kept."""
    import torch

    from actune.rounds.prepared import PreparedTask

    before = torch.get_num_threads()
    frozen = find_learner(learner).is_frozen_encoder
    steps, texts = (STEPS, SAMPLE) if frozen else (FEW_STEPS, FEW)
    few = replace(recipe, steps=steps, epochs=steps, most_steps=steps)
    small = replace(task, pool=_sample(task, texts), dev=None, test=None)
    began, worked = time.perf_counter(), time.process_time()
    try:
        torch.set_num_threads(threads)
        with _without_a_cache(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a small pool has fewer regions, which does not matter here
            prepared = PreparedTask(small, learner, lambda: encoder, few, device, task.settings.max_tokens)
            start = time.perf_counter()
            prepared.learner.prepare(list(small.pool.texts[:2]))
            load, start = time.perf_counter() - start, time.perf_counter()
            _ = prepared.pool
            prepare = (time.perf_counter() - start) / len(small.pool)
            classifier, step = _timed_steps(prepared, trusts)
            classifier.read(prepared.pool)
            start = time.perf_counter()
            classifier.read(prepared.pool)
            read = (time.perf_counter() - start) / len(small.pool)
            choose = _timed_choices(prepared, classifier, methods)
    finally:
        torch.set_num_threads(before)
    slowness = max(1.0, (time.perf_counter() - began) / (time.process_time() - worked)) if device.type == "cpu" else 1.0
    own = {name: max(0.0, each - read) for name, each in choose.items()}
    return Measured(load, prepare, step, read, own, slowness)


def _sample(task: Task, texts: int) -> Pool:
    """Texts from everywhere in the pool."""
    import numpy as np

    rows = np.unique(np.linspace(0, len(task.pool) - 1, min(texts, len(task.pool))).astype(np.int64))
    return task.pool.only(rows)


def _timed_steps(prepared: PreparedTask, trusts: bool) -> tuple[Classifier, float]:
    import numpy as np

    from actune.core.objective import Objective
    from actune.core.streams import Streams
    from actune.core.training_set import PseudoLabels, TrainingSet

    rows, classes = np.arange(len(prepared.task.pool)), len(prepared.task.pool.classes)
    labelled, rest = rows[: len(rows) // 4], rows[len(rows) // 4 :]
    pseudo = PseudoLabels(rest, rest % classes, np.ones(len(rest), np.float32)) if trusts else PseudoLabels.none()
    marks: list[float] = []
    training = TrainingSet(labelled, labelled % classes, pseudo)
    classifier = prepared.learner.fit(
        prepared.pool, training, Objective(), Streams(0), None, lambda *_: marks.append(time.perf_counter())
    )
    late = marks[len(marks) // 3 :]
    return classifier, (late[-1] - late[0]) / max(1, len(late) - 1)


def _timed_choices(prepared: PreparedTask, classifier: Classifier, methods: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    start = time.perf_counter()
    for method in methods:
        late = found and time.perf_counter() - start > ENOUGH
        found[method] = max(found.values()) if late else _timed_choice(prepared, classifier, method)
    return found


def _timed_choice(prepared: PreparedTask, classifier: Classifier, name: str) -> float:
    """What a method does with one read of the pool, for each of its texts."""
    from actune.core.labels import Labels
    from actune.core.streams import Streams
    from actune.methods.memory import Pace
    from actune.methods.recipes import build
    from actune.rounds.outputs import view_of

    task = prepared.task
    method = build(name, task.settings)
    labels = Labels({row: row % len(task.pool.classes) for row in range(0, len(task.pool), 8)}, frozenset(), 1)
    start = time.perf_counter()
    view = view_of(prepared, classifier, labels, Streams(0))
    asked = method.query(view, 20)
    if method.self_training is not None:
        method.self_training(view.without(asked), None, Pace(0, 10))
    return (time.perf_counter() - start) / len(task.pool)


@contextmanager
def _without_a_cache() -> Iterator[None]:
    """What is measured must be computed, and must not be kept."""
    before = os.environ.get(VARIABLE)
    with TemporaryDirectory() as folder:
        os.environ[VARIABLE] = folder
        try:
            yield
        finally:
            os.environ.pop(VARIABLE)
            if before is not None:
                os.environ[VARIABLE] = before
