"""The training loop that every learner shares: batches, schedule, gate, and the best checkpoint on dev."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from actune.core.objective import Objective
from actune.core.progress import Progress, silent
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import TrainingSet
from actune.models.objectives import self_training_loss

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """One step's places in the training set: labelled first, then trusted; `epoch_ends` asks for a look at dev."""

    labelled: Rows
    trusted: Rows
    epoch_ends: bool = False


def train(
    network: nn.Module,
    logits_of: Callable[[Rows], torch.Tensor],
    training: TrainingSet,
    objective: Objective,
    recipe: Training,
    streams: Streams,
    dev_accuracy: Callable[[], float] | None = None,
    progress: Progress = silent,
) -> None:
    """Trains `network` in place; it ends in eval mode at its best dev checkpoint (strictly better, so the earliest).

    Without a dev set the last step is kept. Dropout draws from a stream of its own and leaves the global one untouched.
    """
    device = next(network.parameters()).device
    batches = plan_batches(training, objective, recipe, streams)
    optimizer = make_optimizer(network, recipe)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, linear_schedule(len(batches), recipe.warmup))
    labels = torch.from_numpy(training.labels).to(device)
    targets = torch.from_numpy(training.trusted.targets).to(device)
    weights = torch.from_numpy(training.trusted.weights).to(device)
    trainable = [parameter for parameter in network.parameters() if parameter.requires_grad]
    best, kept = -1.0, None
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(streams.integer("dropout"))
        network.train()
        for step, batch in enumerate(batches, 1):
            rows = np.concatenate([training.rows[batch.labelled], training.trusted.rows[batch.trusted]])
            pick, trust = (torch.from_numpy(places).to(device) for places in (batch.labelled, batch.trusted))
            loss = self_training_loss(logits_of(rows), labels[pick], targets[trust], weights[trust], objective)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(trainable, recipe.clip)
            optimizer.step()
            schedule.step()
            progress("train", step, len(batches))
            look = step % recipe.dev_every == 0 or batch.epoch_ends or step == len(batches)
            if dev_accuracy is not None and look:
                network.eval()
                if (accuracy := dev_accuracy()) > best:
                    best, kept = accuracy, [parameter.detach().clone() for parameter in trainable]
                network.train()
    if kept is not None:
        with torch.no_grad():
            for parameter, value in zip(trainable, kept, strict=True):
                parameter.copy_(value)
    network.eval()


def plan_batches(training: TrainingSet, objective: Objective, recipe: Training, streams: Streams) -> list[Batch]:
    """All steps of one fit: epochs over the labels alone, or a fixed number of steps with trusted rows beside them."""
    order = streams.rng("labelled order")
    count, size = len(training.rows), min(recipe.labelled_batch, len(training.rows))
    none = np.empty(0, np.int64)
    if not len(training.trusted) or not objective.uses_pseudo_labels:
        steps = math.ceil(count / size)
        batches = []
        for _ in range(recipe.epochs):
            shuffled = order.permutation(count)
            batches += [
                Batch(shuffled[i * size : (i + 1) * size], none, epoch_ends=recipe.dev_at_epoch_end and i == steps - 1)
                for i in range(steps)
            ]
        return batches
    labelled = endless(count, size, order)
    trusted = endless(len(training.trusted), recipe.pseudo_batch, streams.rng("trusted order"))
    return [Batch(next(labelled), next(trusted)) for _ in range(recipe.steps)]


def endless(count: int, size: int, rng: np.random.Generator) -> Iterator[Rows]:
    """Full batches from one permutation after another, so that every row comes equally often."""
    size = min(size, count)
    waiting = rng.permutation(count)
    while True:
        while len(waiting) < size:
            waiting = np.concatenate([waiting, rng.permutation(count)])
        yield waiting[:size]
        waiting = waiting[size:]


def linear_schedule(steps: int, warmup: float) -> Callable[[int], float]:
    """Up over the first share of the steps, then down to zero at the end."""
    rise = max(1, round(steps * warmup))

    def factor(step: int) -> float:
        return (step + 1) / rise if step < rise else max(0.0, (steps - step) / max(1, steps - rise))

    return factor


def make_optimizer(network: nn.Module, recipe: Training) -> torch.optim.Optimizer:
    """AdamW; biases and norms are vectors and do not decay."""
    trainable = [parameter for parameter in network.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in trainable if p.ndim > 1], "weight_decay": recipe.weight_decay},
        {"params": [p for p in trainable if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, eps=1e-8, fused=True)
