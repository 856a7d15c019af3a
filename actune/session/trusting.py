"""Pseudo-labels of a round: how far they can be believed, and what is kept of them."""

from __future__ import annotations

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


def held_out(classifier: Classifier, given: Labelled) -> HeldOut:
    """What a classifier says about rows of known classes."""
    confidence, classes = (each.cpu() for each in classifier.read(given.inputs).log_proba.max(1))
    return HeldOut(classes.numpy(), confidence.exp().numpy(), classes.numpy() == given.labels)


def described(trusted: PseudoLabels, view: View, held: HeldOut | None) -> PseudoLabels:
    """The same, with how sure their model is of each and how many are right, as far as held-out rows tell."""
    rows, targets = (torch.from_numpy(each).to(view.log_proba.device) for each in (trusted.rows, trusted.targets))
    confidence = view.log_proba[rows, targets].exp().cpu().numpy()
    predicted = view.log_proba[rows].argmax(1).cpu().numpy()  # a method may say otherwise: then confidence is low
    estimate = held.accuracy_of(predicted, confidence) if held else None
    return replace(trusted, confidence=confidence, estimate=estimate)


def trusted_arrays(trusted: PseudoLabels) -> dict[str, Any]:
    """What is kept of trusted rows; `trusted_in` reads it."""
    values = {f"trusted_{name}": getattr(trusted, name) for name in ARRAYS}
    if trusted.estimate is not None:
        values["trusted_estimate"] = np.array([trusted.estimate])
    return {name: array for name, array in values.items() if array is not None}


def trusted_in(arrays: dict[str, Any]) -> PseudoLabels:
    """The trusted rows among the arrays of a round; none where the method trusts nothing."""
    found = {name.removeprefix("trusted_"): array for name, array in arrays.items() if name.startswith("trusted_")}
    if "estimate" in found:
        found["estimate"] = float(found["estimate"][0])
    return PseudoLabels(**found) if found else PseudoLabels.none()
