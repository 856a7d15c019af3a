"""Pseudo-labels of a round: how far they can be believed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from actune.core.calibration import HeldOut
from actune.core.training_set import PseudoLabels
from actune.rounds.cross_validating import how_sure

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from actune.core.classifier import Classifier, Labelled
    from actune.core.labels import Labels
    from actune.core.streams import Streams
    from actune.core.view import View
    from actune.rounds.prepared import PreparedTask


def held_out(classifier: Classifier, known: Labelled) -> HeldOut:
    """What a classifier says about rows of known classes."""
    confidence, classes = (each.cpu() for each in classifier.read(known.inputs).log_proba.max(1))
    return HeldOut(classes.numpy(), confidence.exp().numpy(), classes.numpy() == known.labels)


def judged(
    found: PseudoLabels,
    view: View,
    prepared: PreparedTask,
    classifier: Classifier,
    labels: Labels,
    streams: Streams,
    among: npt.NDArray[np.int64] | None = None,  # the rows of the pool that the view counts, where it is not all
) -> PseudoLabels:
    """The same, with how sure their model is of each and how many are right, as far as a dev set or answers tell."""
    rows, targets = (torch.from_numpy(each).to(view.log_proba.device) for each in (found.rows, found.targets))
    confidence = view.log_proba[rows, targets].exp().cpu().numpy()
    if prepared.dev is not None:
        predicted = view.log_proba[rows].argmax(1).cpu().numpy()  # a method may say otherwise: then confidence is low
        estimate = held_out(classifier, prepared.dev).accuracy_of(predicted, confidence)
    else:
        places = found.rows if among is None else among[found.rows]
        estimate = how_sure(prepared, labels, streams, places, found.targets)
    return replace(found, confidence=confidence, estimate=estimate)
