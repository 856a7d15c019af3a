"""Labels spread over a graph of nearest neighbours (Zhou et al. 2004), for REVIVAL's virtual labels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse
import torch
from scipy.sparse.linalg import cg

from actune.core.neighbors import ENTRIES, nearest_others

Floats = npt.NDArray[np.float64]
TOLERANCE = 1e-12  # of the residual, which alpha = 0.99 can enlarge a hundredfold


def neighbor_graph(points: torch.Tensor, k: int) -> scipy.sparse.csr_array:  # (points, points), symmetric
    """Each point and the k that are most alike, by cosine, which is cut at 0 and cubed; then W + W^T."""
    present = points.any(1).nonzero().flatten()  # a row of zeros is like nothing
    if len(present) < 2:
        return scipy.sparse.csr_array((len(points), len(points)))
    unit = torch.nn.functional.normalize(points[present])
    nearest = nearest_others(unit, k)  # (present, k)
    size = max(1, ENTRIES // (unit.shape[1] * nearest.shape[1]))
    blocks = zip(torch.split(unit, size), torch.split(nearest, size), strict=True)
    cosine = torch.cat([(block[:, None] * unit[others]).sum(2) for block, others in blocks])  # (present, k)
    weights = cosine.double().clamp(min=0).pow(3).flatten().cpu()
    rows, columns = present.repeat_interleave(nearest.shape[1]).cpu(), present[nearest].flatten().cpu()
    graph = scipy.sparse.csr_array((weights, (rows, columns)), shape=(len(points), len(points)))
    return graph + graph.T


def propagate(
    graph: scipy.sparse.csr_array,
    rows: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    classes: int,
    alpha: float = 0.99,
) -> Floats:  # (points, classes)
    """The virtual distribution of every point; equal shares where no label arrives."""
    sources = np.zeros((graph.shape[0], classes))
    sources[rows, labels] = 1
    found = solve(graph, sources, alpha).clip(min=0)  # the exact solution has no negatives
    total = found.sum(1, keepdims=True)
    return np.where(total > 0, found / np.where(total > 0, total, 1), 1 / classes)


def solve(graph: scipy.sparse.csr_array, sources: Floats, alpha: float) -> Floats:  # (points, classes)
    """Z = (I - alpha D^-1/2 W D^-1/2)^-1 Y, one class after another by conjugate gradients."""
    degree = graph.sum(1)
    scale = scipy.sparse.diags_array(np.where(degree > 0, degree, np.inf) ** -0.5)
    system = scipy.sparse.eye_array(len(degree)) - alpha * (scale @ graph @ scale)
    return np.column_stack([cg(system, column, rtol=TOLERANCE)[0] for column in sources.T])
