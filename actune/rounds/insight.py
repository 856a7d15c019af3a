"""What a page tells about single texts later: predictions on the whole pool, and why each asked text was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from actune.methods.uncertainty import entropy_of
from actune.rounds.mapping import regions_of

if TYPE_CHECKING:
    from actune.core.view import View
    from actune.methods.method import Method

NEAR, TOP = 5, 3  # labelled neighbours, and likeliest classes


def insight_arrays(view: View, asked: Sequence[int], method: Method) -> dict[str, Any]:
    """Arrays named seen_* with a value for each row of the pool, and why_* with one for each asked row."""
    confidence, classes = view.log_proba.max(1)
    arrays: dict[str, Any] = {
        "seen_classes": classes.cpu().numpy().astype(np.int16),
        "seen_confidence": confidence.exp().cpu().numpy().astype(np.float16),
    }
    regions = regions_of(method)
    parts = None if regions is None else regions(view)  # which the choice has found already
    if parts is not None:
        arrays["seen_regions"] = parts.region.numpy().astype(np.int16)
    if not len(asked):
        return arrays
    rows = torch.as_tensor(asked, dtype=torch.int64, device=view.log_proba.device)
    proba, top = view.log_proba[rows].exp().topk(min(TOP, view.log_proba.shape[1]))
    arrays |= {
        "why_rows": np.asarray(asked, np.int64),
        "why_entropy": entropy_of(view.log_proba[rows]).cpu().numpy().astype(np.float32),
        "why_margin": (proba[:, 0] - proba[:, 1]).cpu().numpy().astype(np.float32),
        "why_top": top.cpu().numpy().astype(np.int16),
        "why_top_confidence": proba.cpu().numpy().astype(np.float32),
    }
    if len(view.labelled):
        known = view.labelled.to(view.embedding.device)
        references = torch.nn.functional.normalize(view.embedding[known].float())
        points = torch.nn.functional.normalize(view.embedding[rows].float())
        similar, near = (points @ references.T).topk(min(NEAR, len(known)))
        arrays["why_near"] = view.labelled.numpy()[near.cpu().numpy()]
        arrays["why_similarity"] = similar.cpu().numpy().astype(np.float32)
    if parts is not None:
        arrays["why_regions"] = parts.region.numpy()[np.asarray(asked)].astype(np.int16)
        arrays["why_heat"] = parts.heat.numpy().astype(np.float32)
    return arrays
