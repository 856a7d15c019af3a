"""TypiClust against its rule written naively."""

from __future__ import annotations

import pytest
import torch

from actune.core.kmeans import kmeans
from actune.core.view import View
from actune.methods import typical
from actune.methods.features import embeddings
from actune.methods.typical import Typical
from actune.testing.views import view_of


def groups(seed: int = 0, rows: int = 160, labelled: tuple[int, ...] = (3, 4)) -> View:
    draw = torch.Generator().manual_seed(seed)
    centre = 3 * torch.randn(6, 5, generator=draw)[torch.randint(6, (rows,), generator=draw)]
    embedding = (centre + torch.randn(rows, 5, generator=draw)).double()
    return view_of(torch.full((rows, 2), 0.5, dtype=torch.float64), embedding, labelled, skipped=[7], seed=seed)


def naive(view: View, n: int) -> list[int]:
    rows = sorted([*view.labelled.tolist(), *view.candidates.tolist()])
    points = view.embedding[rows] / view.embedding[rows].norm(dim=1, keepdim=True)
    k = min(len(view.labelled) + n, 500, len(rows))
    regions = kmeans(points, k=k, rng=view.rng("typical"), restarts=1, warn=False).labels.tolist()
    known = set(view.labelled.tolist())
    ranked = []
    for region in set(regions):
        members = [place for place, found in enumerate(regions) if found == region]
        covered = sum(rows[place] in known for place in members)
        scored = []
        for place in members:
            distances = sorted(float((points[place] - points[other]).norm()) for other in members if other != place)
            nearest = distances[:20]
            if rows[place] not in known:
                scored.append((sum(nearest) / max(1, len(nearest)), rows[place]))
        order = (len(members) < 5, covered, -len(members), region)
        ranked.append((order, [row for _, row in sorted(scored)]))
    queues = [queue for _, queue in sorted(ranked)]
    chosen: list[int] = []
    while len(chosen) < n:
        chosen += [queue.pop(0) for queue in queues if queue]
    return chosen[:n]


@pytest.mark.parametrize("labelled", [(), (3, 4), tuple(range(0, 60, 2))], ids=["no labels", "two", "thirty"])
@pytest.mark.parametrize("n", [1, 3, 30])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_the_rule(seed: int, n: int, labelled: tuple[int, ...]) -> None:
    view = groups(seed, labelled=labelled)
    rest = view.without([10, 11, 12])
    assert Typical(embeddings)(rest, n).tolist() == naive(rest, n)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    view = groups()
    expected = Typical(embeddings)(view, 20).tolist()
    monkeypatch.setattr("actune.core.neighbors.ENTRIES", 100)
    assert Typical(embeddings)(view, 20).tolist() == expected


def three_groups(labelled: tuple[int, ...] = ()) -> View:
    """Angles: eight rows around 0, six around 2 and three around 4; the first of each lies in its middle."""
    angles = torch.cat([middle + step * torch.arange(-(size // 2), size - size // 2) for middle, step, size in GROUPS])
    return view_of(torch.full((17, 2), 0.5), torch.stack([angles.cos(), angles.sin()], 1).double(), labelled)


GROUPS = [(0.0, 0.01, 8), (2.0, 0.01, 6), (4.0, 0.001, 3)]


def test_large_groups_come_first_and_small_ones_last() -> None:
    found = Typical(embeddings)(three_groups(), 3).tolist()
    assert [row in range(8) for row in found] == [True, False, False]
    assert [row in range(14, 17) for row in found] == [False, False, True]
    assert found[2] == 15  # the middle of three, although all three are closer together than any others


def test_a_group_with_a_label_comes_after_groups_without() -> None:
    found = Typical(embeddings)(three_groups(labelled=(2,)), 2).tolist()
    assert found[0] in range(8, 14) and found[1] in range(8)


def test_a_small_group_comes_after_all_others_label_or_not() -> None:
    found = Typical(embeddings)(three_groups(labelled=(2, 9)), 1).tolist()
    assert found[0] in range(8)  # the larger one of two groups with a label


def test_equal_texts_are_asked_about_once_each() -> None:
    view = view_of(torch.full((9, 2), 0.5), torch.ones(9, 3))
    assert sorted(Typical(embeddings)(view, 6).tolist()) == list(range(6))
    assert sorted(Typical(embeddings)(view, 50).tolist()) == list(range(9))


def test_there_are_never_more_regions_than_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typical, "MOST_REGIONS", 4)
    view = groups(labelled=())
    found = Typical(embeddings)(view, 8).tolist()
    points = torch.nn.functional.normalize(view.embedding[view.candidates])
    regions = kmeans(points, k=4, rng=view.rng("typical"), restarts=1).labels
    place = {row: number for number, row in enumerate(view.candidates.tolist())}
    visited = [int(regions[place[row]]) for row in found]
    assert len(set(found)) == 8 and visited[:4] == visited[4:] and len(set(visited)) == 4
