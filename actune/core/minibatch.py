"""Mini-batch k-means, as the authors' scripts call it."""

from __future__ import annotations

import torch

from actune.core.kmeans import nearest_centre


def minibatch_kmeans(points: torch.Tensor, weights: torch.Tensor | None, k: int) -> torch.Tensor:
    """scikit-learn's mini-batch k-means with the scripts' options, then one exact pass; no region is empty."""
    from sklearn.cluster import MiniBatchKMeans

    found = MiniBatchKMeans(min(k, len(points)), random_state=0, batch_size=256, n_init=3, max_iter=100)
    found.fit(points.cpu().numpy(), sample_weight=None if weights is None else weights.cpu().numpy())
    labels = nearest_centre(points, torch.from_numpy(found.cluster_centers_).to(points))
    present: torch.Tensor = torch.unique(labels, return_inverse=True)[1]
    return present
