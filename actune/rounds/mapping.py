"""What a picture of one round needs later, kept small: a sample of the pool in a few dimensions, regions, heat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from actune.core.view import View
from actune.methods.recipes import Method
from actune.methods.regions import Regions

SAMPLE = 1500  # rows beside the asked ones: a map shows no more, and t-SNE stays a matter of seconds
LABELLED = 300
WIDTH = 50


def map_arrays(view: View, asked: Sequence[int], method: Method) -> dict[str, Any]:
    """Arrays named map_*: rows, their principal components, predicted classes, regions, and the regions' heat."""
    rng = view.rng("map")
    drawn = rng.permutation(view.unlabelled.numpy())[:SAMPLE]
    labelled = rng.permutation(view.labelled.numpy())[:LABELLED]
    rows = np.unique(np.concatenate([drawn, labelled, np.asarray(asked, np.int64)]))
    points = view.embedding[torch.as_tensor(rows, device=view.embedding.device)].double()
    arrays: dict[str, Any] = {
        "map_rows": rows,
        "map_points": principal_components(points, WIDTH).cpu().numpy().astype(np.float16),
        "map_classes": view.log_proba.argmax(1).cpu().numpy()[rows].astype(np.int16),
    }
    if (regions := regions_of(method)) is not None:
        parts = regions(view)
        arrays["map_regions"] = parts.region.numpy()[rows].astype(np.int16)
        arrays["map_heat"] = parts.heat.numpy().astype(np.float32)
    return arrays


def regions_of(method: Method) -> Regions | None:
    """The regions that a method asks or trusts in, where it has any."""
    for part in (method.query, getattr(method.self_training, "rule", None)):
        if isinstance(found := getattr(part, "regions", None), Regions):
            return found
    return None


def principal_components(points: torch.Tensor, width: int) -> torch.Tensor:
    """The coordinates of the points along their `width` directions of largest spread.

    scikit-learn's PCA turns some axes round, so that the maps of a run would differ from those that it has already.
    """
    centred = points - points.mean(0)
    directions: torch.Tensor = torch.linalg.eigh(centred.T @ centred)[1]  # ascending
    return centred @ directions[:, -width:].flip(1)
