"""The training loop that every learner shares: batches, schedule, gate, and the best checkpoint on dev."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from actune.core.classifier import Labelled, Readout
from actune.core.objective import Objective
from actune.core.progress import Progress, silent
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import TrainingSet
from actune.models.objectives import self_training_loss
from actune.models.steps import Tensors, make_step

Rows = npt.NDArray[np.int64]
KNOWN = ("labels", "targets", "weights")


@dataclass(frozen=True)
class Batch:
    """One step's places in the training set: labelled first, then trusted; `epoch_ends` asks for a look at dev."""

    labelled: Rows
    trusted: Rows
    epoch_ends: bool = False


def train(
    network: nn.Module,
    inputs_of: Callable[[Rows], Tensors],
    logits_of: Callable[[Tensors], torch.Tensor],
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
    factor = linear_schedule(len(batches), recipe.warmup)

    def loss_of(batch: Tensors) -> torch.Tensor:
        inputs = {name: tensor for name, tensor in batch.items() if name not in KNOWN}
        return self_training_loss(logits_of(inputs), batch["labels"], batch["targets"], batch["weights"], objective)

    take_step = make_step(network, loss_of, recipe.clip)
    best, kept = -1.0, None
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(streams.integer("dropout"))
        network.train()
        for step, batch in enumerate(batches, 1):
            set_rate(optimizer, recipe.learning_rate * factor(step - 1))
            take_step(optimizer, _tensors(training, batch, inputs_of))
            progress("train", step, len(batches))
            look = step % recipe.dev_every == 0 or batch.epoch_ends or step == len(batches)
            if dev_accuracy is not None and look:
                network.eval()
                if (accuracy := dev_accuracy()) > best:
                    best, kept = accuracy, [parameter.detach().clone() for parameter in take_step.trainable]
                network.train()
    if kept is not None:
        with torch.no_grad():
            for parameter, value in zip(take_step.trainable, kept, strict=True):
                parameter.copy_(value)
    network.eval()


def accuracy_on(dev: Labelled | None, read: Callable[[Any], Readout]) -> Callable[[], float] | None:
    """How a checkpoint is judged: its accuracy on dev, or nothing without one."""
    if dev is None or not len(dev.labels):
        return None
    return lambda: float((read(dev.inputs).log_proba.argmax(1).cpu().numpy() == dev.labels).mean())


def _tensors(training: TrainingSet, batch: Batch, inputs_of: Callable[[Rows], Tensors]) -> Tensors:
    """What one step needs: the inputs of its rows, labelled first, and what is known of them."""
    trusted = training.trusted
    known = (training.labels[batch.labelled], trusted.targets[batch.trusted], trusted.weights[batch.trusted])
    rows = np.concatenate([training.rows[batch.labelled], trusted.rows[batch.trusted]])
    return {**inputs_of(rows), **{name: torch.from_numpy(array) for name, array in zip(KNOWN, known, strict=True)}}


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
    """AdamW; biases and norms are vectors and do not decay. A rate that lies on the GPU may change between replays."""
    trainable = [parameter for parameter in network.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in trainable if p.ndim > 1], "weight_decay": recipe.weight_decay},
        {"params": [p for p in trainable if p.ndim <= 1], "weight_decay": 0.0},
    ]
    device = trainable[0].device
    if device.type == "cpu":
        return torch.optim.AdamW(groups, lr=recipe.learning_rate, eps=1e-8, fused=True)
    rate = torch.tensor(recipe.learning_rate, device=device)
    return torch.optim.AdamW(groups, lr=rate, eps=1e-8, fused=True, capturable=True)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """The learning rate of the next step."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate
