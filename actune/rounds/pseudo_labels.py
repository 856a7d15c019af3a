"""Pseudo-labels of a round: how far they can be believed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from actune.core.calibration import HeldOut
from actune.core.training_set import PseudoLabels

if TYPE_CHECKING:
    from actune.core.classifier import Classifier, Labelled
    from actune.core.view import View


def held_out(classifier: Classifier, known: Labelled) -> HeldOut:
    """What a classifier says about rows of known classes."""
    confidence, classes = (each.cpu() for each in classifier.read(known.inputs).log_proba.max(1))
    return HeldOut(classes.numpy(), confidence.exp().numpy(), classes.numpy() == known.labels)


def judged(found: PseudoLabels, view: View, dev: Labelled | None, classifier: Classifier) -> PseudoLabels:
    """The same, with how sure their model is of each and how many are right, as far as a dev set tells."""
    rows, targets = (torch.from_numpy(each).to(view.log_proba.device) for each in (found.rows, found.targets))
    confidence = view.log_proba[rows, targets].exp().cpu().numpy()
    predicted = view.log_proba[rows].argmax(1).cpu().numpy()  # a method may say otherwise: then confidence is low
    estimate = None if dev is None else held_out(classifier, dev).accuracy_of(predicted, confidence)
    return replace(found, confidence=confidence, estimate=estimate)
