"""Pseudo-labels of a round: how far they can be believed, and what is kept of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from actune.core.calibration import HeldOut
from actune.core.training_set import PseudoLabels

if TYPE_CHECKING:
    from actune.core.classifier import Classifier, Labelled
    from actune.core.view import View

ARRAYS = ("rows", "targets", "weights", "proba", "confidence")
PREFIX = "pseudo_"
EARLIER_PREFIX = "trusted_"  # in run folders that an earlier version has made


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


def arrays_of(pseudo_labels: PseudoLabels) -> dict[str, Any]:
    """What is kept of pseudo-labels; `pseudo_labels_in` reads it."""
    values = {f"{PREFIX}{name}": getattr(pseudo_labels, name) for name in ARRAYS}
    if pseudo_labels.estimate is not None:
        values[f"{PREFIX}estimate"] = np.array([pseudo_labels.estimate])
    return {name: array for name, array in values.items() if array is not None}


def pseudo_labels_in(arrays: Mapping[str, Any]) -> PseudoLabels:
    """The pseudo-labels among the arrays of a round; none where the method trusts nothing."""
    found = {
        name.removeprefix(prefix): array
        for prefix in (PREFIX, EARLIER_PREFIX)
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
    if "estimate" in found:
        found["estimate"] = float(found["estimate"][0])
    return PseudoLabels(**found) if found else PseudoLabels.none()
