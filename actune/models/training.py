"""The training loop that every learner shares: batches, schedule, gate, and the best checkpoint on dev."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from actune.core.classifier import Labelled, Readout
from actune.core.objective import Objective
from actune.core.progress import Progress, silent
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import TrainingSet, WeakRows
from actune.models import fast
from actune.models.checkpoints import Checkpoint, restore
from actune.models.fast.graphs import make_fast_steps
from actune.models.objectives import label_contrast, training_loss
from actune.models.steps import Step
from actune.models.tokens import NamedTensors
from actune.models.weights import Weights

Rows = npt.NDArray[np.int64]
Loss = Callable[[NamedTensors], torch.Tensor]
WeightsAndStep = tuple[Weights, Callable[[NamedTensors], None]]
KNOWN = ("labels", "targets", "weights", "proba")


@dataclass(frozen=True)
class Batch:
    """One step's places in the training set: labelled first, then trusted; `epoch_ends` asks for a look at dev."""

    labelled: Rows
    trusted: Rows
    epoch_ends: bool = False


class Fitting(Protocol):
    """A network in training, and what the loop does with it."""

    @property
    def network(self) -> nn.Module: ...

    def own_steps(self, recipe: Training, objective: Objective, loss_of: Loss) -> WeightsAndStep | None:
        """Weights and a step on them, where these are other than the usual ones; None where they are not."""
        ...

    def inputs_of(self, rows: Rows) -> NamedTensors: ...

    def forward(self, batch: NamedTensors) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits and embeddings of these inputs."""
        ...

    def log_proba(self, rows: Rows) -> torch.Tensor:
        """What the network says about these rows now; it is in eval mode then."""
        ...

    def adversarial(self, batch: NamedTensors, epsilon: float) -> torch.Tensor:
        """How much a small worst perturbation of these inputs changes what the network says."""
        ...


@torch.enable_grad()  # whatever the caller's mode, or one that an interrupt left behind
def train(
    fitting: Fitting,
    training: TrainingSet,
    objective: Objective,
    recipe: Training,
    streams: Streams,
    dev_accuracy: Callable[[], float] | None = None,
    progress: Progress = silent,
    checkpoint: Checkpoint | None = None,
) -> None:
    """Trains the network in place; it ends in eval mode at its best dev checkpoint (strictly better, so the earliest).

    Without a dev set the last step is kept. Dropout draws from a stream of its own and leaves the global one untouched.
    """
    network = fitting.network
    device = next(network.parameters()).device
    batches = plan_batches(training, objective, recipe, streams)
    weights, take_step = _weights_and_step(fitting, recipe, objective)
    rate = learning_rates(len(batches), recipe, trusting=bool(len(batches[0].trusted)))
    teacher = _Teacher(fitting, training, objective, batches)
    best, kept, done = -1.0, None, 0
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(streams.integer("dropout"))
        if checkpoint and (state := checkpoint.load()):
            restore(weights, state)
            best, kept, done = float(state["best"]), _kept_in(state), int(state["done"])
            teacher.proba = state["teacher"].numpy() if "teacher" in state else teacher.proba
        network.train()
        for step, batch in enumerate(batches[done:], done + 1):
            teacher.before(step)
            weights.set_rate(rate(step - 1))
            share = ramp(step - 1, 0.05 * len(batches), 0.3 * len(batches), 1.0) if objective.ramp else 1.0
            take_step(_tensors(training, batch, fitting.inputs_of, teacher.proba, share))
            progress("train", step, len(batches))
            look = step % recipe.dev_every == 0 or batch.epoch_ends or step == len(batches)
            if dev_accuracy is not None and look:
                network.eval()
                if (accuracy := dev_accuracy()) > best:
                    best, kept = accuracy, weights.keep(kept)
                network.train()
            if checkpoint:
                checkpoint.keep(weights, _progress(step, best, kept, teacher.proba), ended=step == len(batches))
    weights.finish(kept)
    network.eval()


def _progress(
    done: int, best: float, kept: list[torch.Tensor] | None, proba: npt.NDArray[np.float32] | None
) -> dict[str, torch.Tensor]:
    """Where a fit is, beside its weights."""
    state = {"done": torch.tensor(done), "best": torch.tensor(best, dtype=torch.float64)}
    state |= {f"kept-{number}": tensor for number, tensor in enumerate(kept or [])}
    return state if proba is None else {**state, "teacher": torch.from_numpy(proba)}


def _kept_in(state: dict[str, torch.Tensor]) -> list[torch.Tensor] | None:
    count = sum(name.startswith("kept-") for name in state)
    return [state[f"kept-{number}"] for number in range(count)] if count else None


def _weights_and_step(fitting: Fitting, recipe: Training, objective: Objective) -> WeightsAndStep:
    def loss_of(batch: NamedTensors) -> torch.Tensor:
        return _loss(fitting, batch, objective, recipe)

    if fast.enabled(recipe) and (own := fitting.own_steps(recipe, objective, loss_of)):
        return own
    return make_steps(fitting.network, recipe, loss_of)


def make_steps(network: nn.Module, recipe: Training, loss_of: Loss) -> WeightsAndStep:
    """The weights that training moves, and the step that moves them by the gradient of a loss."""
    if fast.enabled(recipe):
        return make_fast_steps(network, recipe, loss_of)
    weights = Weights(network, recipe)
    return weights, Step(weights, loss_of)


def _loss(fitting: Fitting, batch: NamedTensors, objective: Objective, recipe: Training) -> torch.Tensor:
    inputs = {name: tensor for name, tensor in batch.items() if name not in KNOWN}
    logits, embedding = fitting.forward(inputs)
    loss = training_loss(logits, embedding, batch, objective)
    if recipe.label_contrast:
        labels = batch["labels"]
        loss = loss + recipe.label_contrast * label_contrast(embedding[: len(labels)], labels, recipe.temperature)
    if objective.adversarial and len(batch["targets"]):
        trusted = {name: tensor[len(batch["labels"]) :] for name, tensor in inputs.items()}
        loss = loss + objective.adversarial * fitting.adversarial(trusted, objective.perturbation)
    return loss


class _Teacher:
    """What a teacher says about the trusted rows: as it was stored, or as the student itself said some steps ago.

    A student that teaches itself reads the rows of the coming steps, which is all that a copy of it would be asked.
    """

    def __init__(self, fitting: Fitting, training: TrainingSet, objective: Objective, batches: Sequence[Batch]) -> None:
        self.fitting = fitting
        self.rows = training.pseudo_labels.rows
        self.proba = training.pseudo_labels.proba
        self.batches = batches
        self.period = max(1, round(objective.teacher_every * len(batches))) if objective.teacher_every else 0
        if self.period and len(batches[0].trusted):
            self.proba = np.zeros((0, 0), np.float32)  # made at the first step

    def before(self, step: int) -> None:
        if not self.period or (step - 1) % self.period or self.proba is None:
            return
        coming = np.unique(np.concatenate([batch.trusted for batch in self.batches[step - 1 :][: self.period]]))
        network = self.fitting.network
        network.eval()
        said = self.fitting.log_proba(self.rows[coming]).exp().cpu().numpy()
        network.train()
        if not len(self.proba):
            self.proba = np.zeros((len(self.rows), said.shape[1]), np.float32)
        self.proba[coming] = said


def accuracy_on(dev: Labelled | None, read: Callable[[Any], Readout]) -> Callable[[], float] | None:
    """How a checkpoint is judged: its accuracy on dev, or nothing without one."""
    if dev is None or not len(dev.labels):
        return None
    return lambda: float((read(dev.inputs).log_proba.argmax(1).cpu().numpy() == dev.labels).mean())


def _tensors(
    training: TrainingSet,
    batch: Batch,
    inputs_of: Callable[[Rows], NamedTensors],
    proba: npt.NDArray[np.float32] | None,
    share: float = 1.0,
) -> NamedTensors:
    """What one step needs: the inputs of its rows, labelled first, and what is known of them.

    The share of the pseudo-labels' weights is taken here: a number inside a step would be recorded with its graph.
    """
    trusted = training.pseudo_labels
    weights = trusted.weights[batch.trusted] * np.float32(share)
    supervised, labels = training.supervised
    known = [labels[batch.labelled], trusted.targets[batch.trusted], weights]
    if proba is not None:
        known.append(proba[batch.trusted])
    rows = np.concatenate([supervised[batch.labelled], trusted.rows[batch.trusted]])
    return {**inputs_of(rows), **{name: torch.from_numpy(array) for name, array in zip(KNOWN, known, strict=False)}}


def plan_batches(training: TrainingSet, objective: Objective, recipe: Training, streams: Streams) -> list[Batch]:
    """All steps of one fit: epochs over the labels alone, or a fixed number of steps with trusted rows beside them."""
    order = streams.rng("labelled order")
    count, size = len(training.rows), min(recipe.labelled_batch, len(training.rows))
    none = np.empty(0, np.int64)
    alone = not len(training.pseudo_labels) or not objective.uses_pseudo_labels
    if training.weak is not None:
        return _plan_with_weak_rows(training, training.weak, objective, recipe, streams, alone)
    if recipe.balanced_batches and alone:
        drawn = balanced(training.labels, recipe.labelled_batch, order)
        return [Batch(next(drawn), none) for _ in range(steps_alone(count, recipe))]
    if alone:
        steps = math.ceil(count / size)
        batches = []
        for _ in range(epochs_of(count, recipe)):
            shuffled = order.permutation(count)
            batches += [
                Batch(shuffled[i * size : (i + 1) * size], none, epoch_ends=recipe.dev_at_epoch_end and i == steps - 1)
                for i in range(steps)
            ]
        return batches
    labelled = (
        balanced(training.labels, recipe.labelled_batch, order)
        if recipe.balanced_batches
        else endless(count, size, order)
    )
    trusted = endless(len(training.pseudo_labels), recipe.pseudo_batch, streams.rng("trusted order"))
    return [Batch(next(labelled), next(trusted)) for _ in range(steps_with(count, objective, recipe))]


def _plan_with_weak_rows(
    training: TrainingSet, weak: WeakRows, objective: Objective, recipe: Training, streams: Streams, alone: bool
) -> list[Batch]:
    """As many steps as with `mass` more labels: at first on labelled and weak rows, at last on labelled rows alone.

    Weak rows make the same errors again and again, so a model that has them to the end learns these errors too.
    """
    order, count = streams.rng("labelled order"), len(training.rows)
    steps = steps_alone(count + weak.mass, recipe)
    if not alone:
        steps = steps_with(count + weak.mass, objective, recipe)
    first = _batches_of(_epochs_with(weak, count, order, streams.rng("weak rows")), training, recipe, order)
    then = _batches_of((order.permutation(count) for _ in repeat(None)), training, recipe, order)
    trusted = endless(0 if alone else len(training.pseudo_labels), recipe.pseudo_batch, streams.rng("trusted order"))
    turn = math.ceil(steps * weak.until)
    return [Batch(next(first if step < turn else then), next(trusted)) for step in range(steps)]


def _epochs_with(weak: WeakRows, count: int, order: np.random.Generator, rng: np.random.Generator) -> Iterator[Rows]:
    """Epochs of all labelled rows and of weak ones that are drawn anew, more of them where a part of a fit has them."""
    drawn = min(round(weak.mass / weak.until), int(np.count_nonzero(weak.chances)))
    while True:
        found = count + rng.choice(len(weak.rows), drawn, replace=False, p=weak.chances)
        yield order.permutation(np.concatenate([np.arange(count), found]))


def _batches_of(
    epochs: Iterator[Rows], training: TrainingSet, recipe: Training, order: np.random.Generator
) -> Iterator[Rows]:
    """The batches of one epoch after another; balanced ones have as many rows of each class in every epoch."""
    if not recipe.balanced_batches:
        yield from full_batches(epochs, recipe.labelled_batch)
    labels = training.supervised[1]
    for places in epochs:
        drawn = balanced(labels[places], recipe.labelled_batch, order)
        yield from (places[next(drawn)] for _ in range(math.ceil(len(places) / recipe.labelled_batch)))


def steps_with(labels: int, objective: Objective, recipe: Training) -> int:
    """How many steps a fit with pseudo-labels has. One with fewer than the labels alone take has not learnt these."""
    planned = objective.steps(recipe.steps)
    return max(planned, min(steps_alone(labels, recipe), recipe.most_steps)) if recipe.no_fewer_steps else planned


def steps_alone(labels: int, recipe: Training) -> int:
    """How many steps a fit on so many labels and nothing else has."""
    return epochs_of(labels, recipe) * math.ceil(labels / min(recipe.labelled_batch, labels))


def epochs_of(labels: int, recipe: Training) -> int:
    """As many epochs as planned, or as fit into the most steps: thousands of weak labels need no fifteen."""
    steps = math.ceil(labels / min(recipe.labelled_batch, labels))
    return max(1, min(recipe.epochs, recipe.most_steps // steps))


def endless(count: int, size: int, rng: np.random.Generator) -> Iterator[Rows]:
    """Full batches from one permutation after another, so that every row comes equally often."""
    return full_batches((rng.permutation(count) for _ in repeat(None)), min(size, count))


def full_batches(epochs: Iterator[Rows], size: int) -> Iterator[Rows]:
    """Batches of one size from one epoch after another."""
    waiting = next(epochs)
    while True:
        while len(waiting) < size:
            waiting = np.concatenate([waiting, next(epochs)])
        yield waiting[:size]
        waiting = waiting[size:]


FEWEST_OF_A_CLASS = 2  # rows in a balanced batch: of one alone the contrastive term learns nothing


def balanced(labels: npt.NDArray[np.int64], size: int, rng: np.random.Generator) -> Iterator[Rows]:
    """Batches of about `size` rows with equally many of each class; where classes are many, they take turns.

    A class with fewer rows than that gives some of them twice: dropout makes them differ.
    """
    classes = np.unique(labels).tolist()
    at_once = min(len(classes), max(1, size // FEWEST_OF_A_CLASS))
    each = max(FEWEST_OF_A_CLASS, size // at_once)
    places = {label: np.flatnonzero(labels == label) for label in classes}
    rows = {label: endless(len(places[label]), 1, rng) for label in classes}
    waiting: list[int] = []
    while True:
        if len(waiting) < at_once:
            waiting += rng.permutation(classes).tolist()
        drawn = list(dict.fromkeys(waiting))[:at_once]
        for label in drawn:
            waiting.remove(label)
        yield np.array([places[label][next(rows[label])[0]] for label in drawn for _ in range(each)], np.int64)


def linear_schedule(steps: int, warmup: float) -> Callable[[int], float]:
    """Up over the first share of the steps, then down to zero at the end."""
    rise = max(1, round(steps * warmup))

    def factor(step: int) -> float:
        return (step + 1) / rise if step < rise else max(0.0, (steps - step) / max(1, steps - rise))

    return factor


def ramp(step: float, begin: float = 100, end: float = 600, highest: float = 3.0) -> float:
    """The weight of pseudo-labels in ST (Lee 2013): none until `begin`, then up in a line to the highest at `end`."""
    if step < begin:
        return 0.0
    return highest if step >= end else highest * (step - begin) / (end - begin)


def learning_rates(steps: int, recipe: Training, trusting: bool) -> Callable[[int], float]:
    """The learning rate of each step, from 0; with pseudo-labels it may be another one, and constant."""
    highest = recipe.learning_rate * (recipe.pseudo_rate if trusting else 1.0)
    if trusting and recipe.pseudo_constant:
        return lambda step: highest
    factor = linear_schedule(steps, recipe.warmup)
    return lambda step: highest * factor(step)
