"""The learners by name, the training recipe that each uses on each device, and what a round would cost."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from actune.core.settings import Training
from actune.errors import SettingError, nearest

if TYPE_CHECKING:
    import torch

    from actune.core.classifier import Learner
    from actune.models.finetuning import FineTuning
    from actune.models.tokens import Tokens

LEARNERS = {
    "auto": "finetune on a GPU; on a CPU all or half of its layers, by --round-seconds; else probe, then finetune once",
    "finetune": "trains the whole encoder afresh every round",
    "probe": "trains a small head on frozen embeddings",
}

PAPER = Training()
# a third of the weights and the slowest gradients; benchmarks/speed/accuracy.py measures what that costs
GPU = Training(freeze_embeddings=True)
# chosen by benchmarks/cpu_recipe.py: a higher rate needs fewer steps, and embeddings are half of a small encoder
CPU = Training(learning_rate=1e-4, steps=150, dev_at_epoch_end=False, freeze_embeddings=True)
# a head has learnt long before its epochs are over: benchmarks/auto/learning.py
PROBE = Training(learning_rate=3e-3, epochs=30, steps=600, no_fewer_steps=False, dev_at_epoch_end=False)


def check_learner(name: str) -> str:
    if name not in LEARNERS:
        raise SettingError(f"unknown learner {name!r}: {nearest(name, LEARNERS)}")
    return name


def recipe_for(learner: str, device: str) -> Training:
    """The measured default recipe of a learner: nearly the paper's on a GPU, a shorter one on a CPU."""
    if learner == "probe":
        return PROBE
    return CPU if device == "cpu" else GPU


def make_learner(
    name: str, folder: Path, classes: int, max_tokens: int, recipe: Training, device: torch.device
) -> Learner:
    """The learner called `name` on the encoder in `folder`."""
    if name == "probe":
        from actune.models.probing import Probing

        return Probing(folder, classes, max_tokens, recipe, device)
    if recipe.train_layers:
        from actune.models.layers import UpperLayers

        return UpperLayers(folder, classes, max_tokens, recipe, device)
    from actune.models.finetuning import FineTuning

    return FineTuning(folder, classes, max_tokens, recipe, device)


def estimate_round(learner: FineTuning, pool: Tokens, dev: int, labels: int, trusts: bool) -> float:
    """Seconds of one round with this many labels: a few timed steps and one small read, scaled up."""
    import numpy as np

    from actune.core.objective import Objective
    from actune.core.streams import Streams
    from actune.core.training_set import PseudoLabels, TrainingSet
    from actune.models.training import epochs_of, steps_alone, steps_with

    recipe = learner.recipe
    rows = np.linspace(0, len(pool) - 1, min(len(pool), 4 * (recipe.labelled_batch + recipe.pseudo_batch)))
    sample = np.unique(rows.astype(np.int64))
    few, rest = sample[: recipe.labelled_batch], sample[recipe.labelled_batch :]
    trusted = PseudoLabels(rest, np.zeros(len(rest), np.int64), np.ones(len(rest), np.float32))
    training = TrainingSet(few, np.arange(len(few)) % learner.classes, trusted if trusts else PseudoLabels.none())
    timed = replace(recipe, steps=4, epochs=4)
    trial = type(learner).__new__(type(learner))
    trial.__dict__.update(learner.__dict__, recipe=timed)
    marks = [time.perf_counter()]
    classifier = trial.fit(
        pool, training, Objective(), Streams(0), progress=lambda *_: marks.append(time.perf_counter())
    )
    step = (marks[-1] - marks[2]) / (len(marks) - 3)  # the first steps warm up
    start = time.perf_counter()
    classifier.read(pool.only(sample))
    per_text = (time.perf_counter() - start) / len(sample)
    epochs = epochs_of(labels, recipe)
    steps = steps_with(labels, Objective(), recipe) if trusts else steps_alone(labels, recipe)
    looks = 1 + steps // recipe.dev_every + (epochs if recipe.dev_at_epoch_end and not trusts else 0)
    return steps * step + (looks * dev + len(pool)) * per_text
