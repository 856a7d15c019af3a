"""The loss that a model learns from."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import cosine_similarity, cross_entropy

from actune.core.objective import Objective
from actune.models.tokens import NamedTensors

MARGIN = 1.0  # of the contrast between two classes
FEW = 1e-10  # so that a class nobody predicts divides nothing by zero


def training_loss(
    logits: torch.Tensor, embedding: torch.Tensor, batch: NamedTensors, objective: Objective
) -> torch.Tensor:
    """The loss of one step, but for the adversarial part. The labelled rows come first, then the pseudo-labelled ones.

    Nothing here waits for the device: sums are masked instead of rows being picked.
    """
    labels, targets, weights = batch["labels"], batch["targets"], batch["weights"]
    supervised = objective.supervised * cross_entropy(logits[: len(labels)], labels)
    if not len(targets):
        return supervised
    student = logits[len(labels) :]
    if objective.targets == "soft":
        said = batch["proba"]
        kept = certainty(said) > objective.certainty
        learnt = soft_loss(student, said, kept)
        learnt = learnt + objective.contrast * contrast(embedding[len(labels) :], said.argmax(1), kept)
        learnt = learnt + objective.confidence_penalty * masked_mean(from_uniform(student), kept)
        return supervised + objective.weight * learnt
    if objective.targets == "sharpened":
        targets = sharpened(batch["proba"]).argmax(1)
    return supervised + objective.weight * gated_loss(student, targets, weights, objective)


def label_contrast(embedding: torch.Tensor, labels: torch.Tensor, temperature: float) -> torch.Tensor:
    """The supervised contrastive loss (Khosla et al. 2020) of embeddings of length one (rows, width).

    Each row is drawn towards the others of its class and away from all others; a row that is alone in its class draws
    nothing. Nothing here waits for the device.
    """
    itself = torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    alike = (labels[:, None] == labels) & ~itself  # (rows, rows)
    likeness = (embedding @ embedding.T / temperature).masked_fill(itself, -torch.inf)
    log_share = likeness - likeness.logsumexp(1, keepdim=True)
    drawn = log_share.masked_fill(~alike, 0.0).sum(1) / alike.sum(1).clamp(min=1)
    return -drawn.sum() / alike.any(1).sum().clamp(min=1)


def gated_loss(
    student: torch.Tensor,  # (pseudo, classes)
    targets: torch.Tensor,  # (pseudo,)
    weights: torch.Tensor,  # (pseudo,)
    objective: Objective,
) -> torch.Tensor:
    """The second half of Eq. 14. The gate omega is per sample and by the current student, whom it does not teach;
    the mean is over the whole pseudo batch, kept or not."""
    losses = cross_entropy(student, targets, reduction="none")  # (pseudo,)
    if objective.power:
        losses = (1 - (-objective.power * losses).exp()) / objective.power
    with torch.no_grad():
        confidence = student.softmax(1).gather(1, targets[:, None]).squeeze(1)
        gate = (confidence > objective.threshold).to(losses.dtype)  # (pseudo,)
    return (gate * weights * losses).mean()


def soft_loss(student: torch.Tensor, said: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """COSINE's self-training: KL(sharpened teacher || student), weighted by the teacher's certainty, over kept rows."""
    target = sharpened(said)
    divergence = (target * (target.clamp(min=FEW).log() - student.log_softmax(1))).sum(1)
    return masked_mean(certainty(said) * divergence, kept)


def sharpened(said: torch.Tensor) -> torch.Tensor:  # (pseudo, classes)
    """p^2 over the class's share of the batch, normalised: sure classes gain, frequent ones lose."""
    raised = said.square() / (said.sum(0) + FEW)
    return raised / raised.sum(1, keepdim=True)


def certainty(said: torch.Tensor) -> torch.Tensor:  # (pseudo,)
    """1 - H / ln C; the reference divides by the logarithm of the batch size, which is no normaliser."""
    entropy = -(said * said.clamp(min=FEW).log()).sum(1)
    return 1 - entropy / math.log(said.shape[1])


def contrast(embedding: torch.Tensor, classes: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """Rows of one class come closer, rows of two go apart. Batches are in random order: each row's pair is the next."""
    distance = 1 - cosine_similarity(embedding, embedding.roll(-1, 0))
    same = (classes == classes.roll(-1)).to(distance.dtype)
    pulled = same * distance.square() + (1 - same) * (MARGIN - distance).clamp(min=0).square()
    return masked_mean(pulled / 2, kept & kept.roll(-1))


def from_uniform(student: torch.Tensor) -> torch.Tensor:  # (pseudo,)
    """KL(uniform || student)."""
    return -math.log(student.shape[1]) - student.log_softmax(1).mean(1)


def masked_mean(values: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """The mean of the kept values; 0 where none is."""
    mask = kept.to(values.dtype)
    return (values * mask).sum() / mask.sum().clamp(min=1)
