"""The learner that a run uses, made from its configuration: in every round, in the first one, and at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from actune.core.progress import Progress, silent
from actune.core.task import Task
from actune.models.learners import final_learner
from actune.models.starting import saved_learner
from actune.session.config import Config
from actune.session.resolve import encoder_folder

if TYPE_CHECKING:
    import torch

    from actune.core.settings import Training
    from actune.methods.method import Method
    from actune.rounds.prepared import PreparedTask, Shared


def prepare(config: Config, task: Task, progress: Progress = silent, shared: Shared | None = None) -> PreparedTask:
    """What the rounds of a run use."""
    return _prepared(config, task, config.resolved.learner, config.training, progress, shared)


def prepare_for_the_end(
    config: Config, task: Task, checkpoints: Path, progress: Progress = silent, shared: Shared | None = None
) -> PreparedTask:
    """What trains the encoder once at the end, where the rounds had a frozen one; killed, it goes on from its state."""
    recipe = config.final_training
    return _prepared(config, task, final_learner().name, recipe, progress, shared, checkpoints=checkpoints)


def prepare_for_the_start(
    config: Config, task: Task, folder: Path, progress: Progress = silent, shared: Shared | None = None
) -> PreparedTask:
    """What the first round uses where the classifier in `folder`, which the user has already, is the first model."""
    kind = saved_learner(folder)
    encoder = None if kind.is_frozen_encoder else folder
    return _prepared(config, task, kind.name, config.training, progress, shared, encoder)


def method_of(config: Config, named: str = "") -> Method:
    """The method that a run was made with, as its preset has it, or a sentence that says what is missing.

    Code of a module that only the run folder names is not imported: the user must have `named` the same.
    """
    from actune.methods.finding import made_by
    from actune.methods.recipes import find_again
    from actune.methods.released import as_released

    recipe = find_again(config.request.method, config.resolved.method_origin, named)
    method = made_by(recipe, config.settings)
    return as_released(method, config.settings) if config.request.preset == "released" else method


def _prepared(
    config: Config,
    task: Task,
    learner: str,
    recipe: Training,
    progress: Progress,
    shared: Shared | None,
    encoder: Path | None = None,
    checkpoints: Path | None = None,
) -> PreparedTask:
    import torch

    from actune.rounds.prepared import PreparedTask

    torch.set_num_threads(config.resolved.threads)  # it decides the last bits
    device = _device(config.resolved.device)

    def find_encoder() -> Path:
        if encoder is not None:
            return encoder
        first = config.resolved.pool
        return encoder_folder(config.request, task, config.settings, device, progress, first=first)

    tokens = config.settings.max_tokens
    distinct = config.request.distinct
    return PreparedTask(task, learner, find_encoder, recipe, device, tokens, progress, shared, checkpoints, distinct)


def _device(name: str) -> torch.device:
    """The device of a run; one that began on a GPU goes on, and predicts, where there is none."""
    import torch

    from actune.models.encoders import choose_device

    return choose_device("cpu" if name.startswith("cuda") and not torch.cuda.is_available() else name)
