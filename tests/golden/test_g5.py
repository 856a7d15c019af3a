"""ALPS against the numbers of METHODS G5: unit rows, and the row nearest to each of two centres."""

from __future__ import annotations

import pytest
import torch

from actune.core import kmeans
from actune.core.kmeans import Partition, squared_distances
from actune.methods.queries import Representatives
from actune.models.surprisal import normalised
from actune.testing.views import view_of
from tests.golden.inputs import golden, tensor

SURPRISAL = tensor([[0, 2, 0, 0], [0, 1, 0, 1], [0, 0, 3, 0], [0, 0, 4, 3], [0, 0, 0, 0]])


def test_rows_have_length_one_and_a_row_of_zeros_stays() -> None:
    torch.testing.assert_close(normalised(SURPRISAL), golden("G5.normalised"), rtol=0, atol=1e-8)


def test_distances_to_the_centres() -> None:
    points, centres = normalised(SURPRISAL), golden("G5.centres")
    found = torch.stack([squared_distances(points, centre) for centre in centres])
    torch.testing.assert_close(found, golden("G5.sq_dist_centre_to_points"), rtol=0, atol=1e-8)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_each_centre_asks_for_its_nearest_row_not_yet_taken(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows are equally near to each centre, so the next round of centres takes the other one."""
    centres = golden("G5.centres")
    labels = torch.tensor([0, 0, 1, 1, 1])
    monkeypatch.setattr(kmeans, "kmeans", lambda *_, **__: Partition(labels, centres, 0.0))
    view = view_of(torch.full((5, 2), 0.5), SURPRISAL)
    found = Representatives(lambda view: normalised(SURPRISAL))(view, n).tolist()
    nearest = golden("G5.nearest_point_per_centre").tolist()
    # the larger region comes first
    assert found == [nearest[1], nearest[0], 3, 1, 4][:n]
