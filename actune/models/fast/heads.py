"""Training steps of the probe's head without autograd, which costs more than the arithmetic of so small a network."""

from __future__ import annotations

from itertools import accumulate

import torch

from actune.core.objective import Objective
from actune.core.settings import Training
from actune.models.heads import DROPOUT, Head
from actune.models.tokens import NamedTensors
from actune.models.weights import BETAS, EPSILON, Weights, decays

SHORT = 1e-6  # what torch adds to the length of a gradient before it divides by it


class HeadWeights(Weights):
    """The weights of a head in one row, with their gradients in another: a clip and an update are a few calls."""

    def __init__(self, network: Head, recipe: Training) -> None:
        self.trained = sorted(network.parameters(), key=decays, reverse=True)  # those with weight decay first
        self.device, self.clip, self.rate = self.trained[0].device, recipe.clip, 0.0
        ends = [0, *accumulate(parameter.numel() for parameter in self.trained)]
        decaying = sum(parameter.numel() for parameter in self.trained if decays(parameter))
        rows = self.row, self.gradient, self.mean, self.square = torch.zeros(4, ends[-1])
        parts = (slice(0, decaying), recipe.weight_decay), (slice(decaying, ends[-1]), 0.0)
        self.parts = [([[row[part]] for row in rows], decay) for part, decay in parts]
        self.gradient_of: dict[torch.Tensor, torch.Tensor] = {}
        for begin, parameter in zip(ends, self.trained, strict=False):
            here = slice(begin, begin + parameter.numel())
            self.row[here] = parameter.data.flatten()
            parameter.data = self.row[here].view(parameter.shape)
            self.gradient_of[parameter] = self.gradient[here].view(parameter.shape)
        self.count = torch.zeros(())

    def set_rate(self, rate: float) -> None:
        self.rate = rate

    @torch.no_grad()
    def update(self) -> None:
        length = float(self.gradient.norm())
        if length + SHORT > self.clip:
            self.gradient.mul_(self.clip / (length + SHORT))
        self.count += 1
        for rows, decay in self.parts:
            torch._fused_adamw_(  # type: ignore[call-overload]
                *rows,
                [],
                [self.count],
                lr=self.rate,
                beta1=BETAS[0],
                beta2=BETAS[1],
                weight_decay=decay,
                eps=EPSILON,
                amsgrad=False,
                maximize=False,
            )

    def keep(self, kept: list[torch.Tensor] | None) -> list[torch.Tensor]:
        return [kept[0].copy_(self.row)] if kept else [self.row.clone()]

    def finish(self, kept: list[torch.Tensor] | None) -> None:
        if kept is not None:
            self.row.copy_(kept[0])
        for parameter in self.trained:
            parameter.data = parameter.data.clone()  # of its own again


class HeadStep:
    """One step on hard targets. It draws what dropout would draw, so it is the step of autograd but for rounding."""

    def __init__(self, network: Head, weights: HeadWeights, objective: Objective) -> None:
        self.hidden, self.out = network.hidden, network.out
        self.weights = weights
        self.objective = objective

    @torch.no_grad()
    def __call__(self, batch: NamedTensors) -> None:
        inputs, gradient_of = batch["inputs"], self.weights.gradient_of
        hidden = torch.addmm(self.hidden.bias, inputs, self.hidden.weight.T).relu_()
        kept = torch.empty_like(hidden).bernoulli_(1 - DROPOUT).div_(1 - DROPOUT)
        dropped = hidden * kept
        proba = torch.addmm(self.out.bias, dropped, self.out.weight.T).softmax(1)
        at_logits = self._gradient(proba, batch)
        torch.mm(at_logits.T, dropped, out=gradient_of[self.out.weight])
        torch.sum(at_logits, 0, out=gradient_of[self.out.bias])
        at_hidden = (at_logits @ self.out.weight).mul_(kept).mul_(hidden > 0)
        torch.mm(at_hidden.T, inputs, out=gradient_of[self.hidden.weight])
        torch.sum(at_hidden, 0, out=gradient_of[self.hidden.bias])
        self.weights.update()

    def _gradient(self, proba: torch.Tensor, batch: NamedTensors) -> torch.Tensor:  # (rows, classes)
        """Of models/objectives.py's loss at the logits: each row's p - onehot times what the row weighs."""
        labels, targets, objective = batch["labels"], batch["targets"], self.objective
        known = torch.cat([labels, targets])[:, None]
        weigh = proba.new_full((len(known),), objective.supervised / len(labels))
        if len(targets):
            given = proba[len(labels) :].gather(1, targets[:, None])[:, 0]
            trusted = (given > objective.threshold) * batch["weights"] * (objective.weight / len(targets))
            weigh[len(labels) :] = trusted * given**objective.power if objective.power else trusted
        return proba.scatter_add_(1, known, proba.new_full(known.shape, -1.0)).mul_(weigh[:, None])


def steps_by_hand(network: Head, recipe: Training, objective: Objective) -> tuple[Weights, HeadStep] | None:
    """Weights and steps of a head; none on a GPU, where steps are recorded, and for losses with more parts."""
    if next(network.parameters()).device.type != "cpu" or objective.targets != "hard" or objective.adversarial:
        return None
    weights = HeadWeights(network, recipe)
    return weights, HeadStep(network, weights, objective)
