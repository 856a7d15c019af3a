"""The loss that a model learns from."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy

from actune.core.objective import Objective


def self_training_loss(
    logits: torch.Tensor,  # (labelled + pseudo, classes)
    labels: torch.Tensor,  # (labelled,)
    targets: torch.Tensor,  # (pseudo,)
    weights: torch.Tensor,  # (pseudo,)
    objective: Objective,
) -> torch.Tensor:
    """Eq. 14 (Eq. 1 without pseudo-labels). One forward holds the labelled rows first, then the pseudo-labelled ones.

    The gate omega is per sample and by the current student; the mean is over the whole pseudo batch, kept or not.
    """
    supervised = cross_entropy(logits[: len(labels)], labels)
    if not len(targets):
        return supervised
    student = logits[len(labels) :]
    losses = cross_entropy(student, targets, reduction="none")  # (pseudo,)
    with torch.no_grad():
        confidence = student.softmax(1).gather(1, targets[:, None]).squeeze(1)
        gate = (confidence > objective.threshold).to(losses.dtype)  # (pseudo,)
    return supervised + objective.weight * (gate * weights * losses).mean()
