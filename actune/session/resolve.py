"""Everything that this machine and this data make of a request."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.core.progress import Progress, silent
from actune.core.settings import Settings, Training, override, split_changes
from actune.core.spec import RunSpec
from actune.core.strings import BLOCK
from actune.core.task import Task
from actune.methods.recipes import build, find, origin_of
from actune.models import fast
from actune.models.learners import (
    AUTO,
    LEARNERS,
    PAPER,
    LearnerKind,
    RoundSize,
    final_learner,
    find_learner,
    recipe_for,
)
from actune.models.sources import fetch, find_model
from actune.models.starting import check_encoder
from actune.session.config import Config, Resolved
from actune.session.opening import WeakLabels
from actune.store.store import newest_model_in

if TYPE_CHECKING:
    import torch

HORIZON = 10  # of a project, which has no planned end
SAMPLE = 64  # texts that tell how long a round will take
RELEASED = {"warmup": 0.05, "pseudo_rate": 0.25, "pseudo_constant": True}  # how the authors' scripts train


def resolve_request(
    request: RunSpec, task: Task, progress: Progress = silent, weak: WeakLabels | None = None
) -> Config:
    """Everything that this machine and this data make of a request."""
    import torch

    from actune.models import precision
    from actune.models.encoders import choose_device
    from actune.models.signals import check_layers, check_signals

    device = choose_device(request.device)
    settings, training_changes = settings_of(request, task), split_changes(request.changes)[1]
    notes = [*task.notes, *task.pool.notes]
    if weak is not None:
        covered = len(weak.of_row)
        notes.append(f"{covered:,} of {len(task.pool):,} texts have weak labels (label model {request.label_model})")
    folder = encoder_folder(request, task, settings, device, progress, notes)
    if request.start_from:
        check_encoder(newest_model_in(Path(request.start_from)), folder)
    learner, final = request.learner, False
    if learner == AUTO:
        chosen = _affordable(request, task, settings, training_changes, folder, device, progress, weak)
        learner, final = chosen.learner.name, chosen.learner.is_frozen_encoder
        notes += [chosen.reason] if chosen.reason else []
        training_changes = {"train_layers": chosen.layers, **training_changes} if chosen.layers else training_changes
    training = training_of(request, task, learner, device.type, training_changes)
    if training.train_layers and find_learner(learner).trains_layers:
        check_layers(folder, training.train_layers)
    check_signals(request.method, find(request.method).needs, learner, folder, training.train_layers)
    if task.dev is None:
        notes.append("there is no dev set, so the final checkpoint is used")
    resolved = Resolved(
        classes=task.pool.classes,
        fingerprint=fingerprint(task),
        pool=len(task.pool),
        dev=len(task.dev) if task.dev else 0,
        test=len(task.test) if task.test else 0,
        stored=not task.bundled,
        horizon=request.rounds or HORIZON,
        learner=learner,
        device=str(device),
        threads=torch.get_num_threads(),
        precision=precision.name(device),
        final=final,
        model_found=find_model(request.model).found,
        notes=tuple(notes),
        method_origin=origin_of(request.method),
    )
    at_the_end = training_of(request, task, final_learner().name, device.type, {})
    return Config(request, resolved, settings, training, at_the_end, versions())


def resolve_at_once(request: RunSpec, task: Task) -> Config:
    """The same without a look at the machine or the encoder: nothing that takes time is imported or loaded.

    The learner that `auto` means is the cheapest one, whose encoder is fine-tuned at the end.
    """
    automatic = [kind for kind in LEARNERS.values() if kind.automatic]
    name = automatic[-1].name if request.learner == AUTO else find_learner(request.learner).name
    final = request.learner == AUTO and find_learner(name).is_frozen_encoder
    kind_of_device = "cuda" if request.device.startswith("cuda") else "cpu"
    resolved = Resolved(
        classes=task.pool.classes,
        fingerprint="",  # the texts lie in the folder
        pool=len(task.pool),
        dev=len(task.dev) if task.dev else 0,
        test=len(task.test) if task.test else 0,
        stored=True,
        horizon=request.rounds or HORIZON,
        learner=name,
        device=request.device,
        threads=_threads(),
        precision="",
        final=final,
        model_found=find_model(request.model).found,
        notes=(*task.notes, *task.pool.notes),
        method_origin=origin_of(request.method),
    )
    changes = split_changes(request.changes)[1]
    training = training_of(request, task, name, kind_of_device, changes)
    at_the_end = training_of(request, task, final_learner().name, kind_of_device, {})
    return Config(request, resolved, settings_of(request, task), training, at_the_end, versions())


def _threads() -> int:
    """The processors that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def settings_of(request: RunSpec, task: Task) -> Settings:
    """The task's settings, as its preset and then the request change them."""
    released = task.released.get("settings", {}) if request.preset == "released" else {}
    return override(task.settings, {**released, **split_changes(request.changes)[0]})


def training_of(request: RunSpec, task: Task, learner: str, device: str, changes: Mapping[str, Any]) -> Training:
    """The recipe of a learner on a kind of device, as the task, the preset and these changes make it."""
    usual = recipe_for(learner, device, request.recipe)
    recipe = override(usual, _fitting(task.training, usual))
    if request.preset == "released":
        whole = usual.steps == PAPER.steps  # shorter recipes keep their own lengths
        recipe = override(recipe, RELEASED | (task.released.get("training", {}) if whole else {}))
    recipe = override(recipe, changes)
    return replace(recipe, fast=fast.enabled(recipe))  # a run that begins without fast code goes on without it


def _fitting(task: Mapping[str, Any], recipe: Training) -> Mapping[str, Any]:
    """What a task changes in a recipe: its batches are the paper's, and balanced ones have sizes of their own."""
    return {name: value for name, value in task.items() if name != "labelled_batch" or not recipe.balanced_batches}


def encoder_folder(
    request: RunSpec,
    task: Task,
    settings: Settings,
    device: torch.device,
    progress: Progress = silent,
    notes: list[str] | None = None,
    first: int | None = None,
) -> Path:
    """The encoder that a request names, adapted to the first rows of the pool where it asks for that."""
    folder = fetch(find_model(request.model))
    if not request.adapt:
        return folder
    from actune.models.adaptation import RECIPE, adapt

    texts = task.pool.texts[:first]  # texts that are added later must not change the encoder
    changes = split_changes(request.changes)[1]
    recipe = override(RECIPE, {"fast": changes["fast"]} if "fast" in changes else {})
    adapted = adapt(folder, texts, request.adapt, settings.max_tokens, request.seed, device, progress, recipe)
    if notes is not None:
        notes.append(
            f"the encoder was adapted to the pool in {adapted.steps:,} steps; it predicts "
            f"{100 * adapted.accuracy:.1f} % of the masked tokens in {adapted.held_out:,} held-out texts"
        )
    return adapted.folder


@dataclass(frozen=True)
class ChosenLearner:
    """The learner that `auto` means here, how many layers it trains (0: all), and why."""

    learner: LearnerKind
    layers: int = 0
    reason: str = ""


def _affordable(
    request: RunSpec,
    task: Task,
    settings: Settings,
    changes: Mapping[str, Any],
    folder: Path,
    device: torch.device,
    progress: Progress,
    weak: WeakLabels | None,
) -> ChosenLearner:
    """The first learner whose round is estimated to be short enough; on a GPU all are, and on a CPU the last one is."""
    from actune.models.encoders import layer_count

    automatic = [kind for kind in LEARNERS.values() if kind.automatic]
    if "word embeddings" in find(request.method).needs:
        kind = next(kind for kind in automatic if kind.perturbs_words)
        return ChosenLearner(kind, reason=f"{request.method} needs word embeddings, so the learner is {kind.name}")
    *dearer, cheapest = automatic
    estimated = ""
    for kind in dearer:
        recipe = training_of(request, task, kind.name, device.type, changes)
        if device.type != "cpu" or kind.estimate_rounds is None or (kind.trains_layers and recipe.train_layers):
            return ChosenLearner(kind)
        seconds = _round_seconds(request, task, settings, kind, recipe, folder, device, progress, weak)
        estimated = f"a round of the learner {kind.name} on this CPU is estimated at {seconds:.0f} s"
        if seconds <= request.round_seconds:
            return ChosenLearner(kind, reason=f"{estimated}, so the learner is {kind.name}")
        layers = layer_count(folder) if kind.trains_layers else 0
        upper = layers // 2
        if upper and seconds * upper / layers <= request.round_seconds:  # training and reading shrink with the layers
            reason = f"{estimated}, so the learner is {kind.name}, on the upper {upper} of {layers} layers"
            return ChosenLearner(kind, upper, reason)
    return ChosenLearner(cheapest, reason=f"{estimated}, so the learner is {cheapest.name}")


def _round_seconds(
    request: RunSpec,
    task: Task,
    settings: Settings,
    kind: LearnerKind,
    recipe: Training,
    folder: Path,
    device: torch.device,
    progress: Progress,
    weak: WeakLabels | None,
) -> float:
    """How long the longest round with this learner would take here."""
    learner = kind.make(folder, len(task.pool.classes), settings.max_tokens, recipe, device)
    method, pool = build(request.method, settings), task.pool
    labels = request.initial + request.batch * ((request.rounds or HORIZON) - 1)
    size = RoundSize(len(pool), len(task.dev or ()), labels, trusts=method.self_training is not None)
    teacher = size._replace(trusts=False)
    on_votes = teacher._replace(labels=len(weak.of_row) if weak else 1)
    every = range(0, len(pool), max(1, len(pool) // SAMPLE))
    inputs = learner.prepare([pool.texts[row] for row in every], progress)
    assert kind.estimate_rounds is not None
    estimate, of_teacher, of_votes = kind.estimate_rounds(learner, inputs, [size, teacher, on_votes])
    if method.teacher:
        estimate = estimate * method.teacher.generations + of_teacher
    return max(estimate, of_votes) if weak else estimate


def fingerprint(task: Task) -> str:
    """A hash of all rows of all splits."""
    digest = sha256("\n".join(task.pool.classes).encode())
    for pool in (task.pool, task.dev, task.test):
        if pool is not None:
            rows = zip(pool.ids, pool.texts, pool.labels.tolist(), strict=True)
            while block := "".join(map(repr, islice(rows, BLOCK))):
                digest.update(block.encode())
        digest.update(b"|")
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """What is installed and decides numbers."""
    from actune import __version__

    found = {"actune": __version__, "python": platform.python_version()}
    for name in ("torch", "transformers", "tokenizers", "numpy"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found
