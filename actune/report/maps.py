"""The paper's case study (Fig. 6): the pool of one round in two dimensions, what was asked, and how widely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels
from actune.errors import SettingError
from actune.session.session import Session
from actune.store.store import Store

RANDOM_DRAWS = 100  # of random rows, to compare the asked ones with


@dataclass(frozen=True, eq=False)
class Map:
    """A sample of the pool as the model of one round saw it, with the rows that were then asked."""

    round: int
    points: np.ndarray  # (rows, components)
    classes: np.ndarray  # (rows,), predicted
    asked: np.ndarray  # (rows,), bool
    labelled: np.ndarray  # (rows,), bool: labelled before the choice
    regions: np.ndarray | None  # (rows,), -1 outside every region
    heat: np.ndarray | None  # (regions,)
    trusted: np.ndarray | None = None  # (rows,), bool: pseudo-labelled by this model or for it


@dataclass(frozen=True)
class RegionFacts:
    """One of the hottest regions, as a table tells it; the map has its number."""

    number: int
    heat: float
    texts: int  # on the map
    asked: int
    trusted: int
    classes: tuple[tuple[str, float], ...]  # the most frequent predicted ones with their shares


@dataclass(frozen=True)
class AskedDistance:
    """One number about the asked rows, and the same about random draws of as many: their mean and deviation."""

    what: str
    asked: float
    random: float
    deviation: float


def maps_of(sessions: Sequence[Session], round: int | None = None) -> list[Map | None]:
    """The map of each session for one round, by default the newest; None where a session has none."""
    if round is None:
        round = newest_round(sessions)
        if round is None:
            return [None] * len(sessions)
    maps = [load_map(session.store, round) for session in sessions]
    if not any(maps):
        raise SettingError(f"round {round} has no map: {_known_rounds(sessions)}")
    return maps


def newest_round(sessions: Sequence[Session]) -> int | None:
    """The newest round that every session with any map has one of, else the newest of any."""
    known = [rounds for session in sessions if (rounds := set(map_rounds(session.store)))]
    shared = set.intersection(*known) if known else set()
    return max(shared or set().union(*known), default=None)


def load_map(store: Store, round: int) -> Map | None:
    """The map of the choice for `round`, where there was one and the pool was read for it."""
    if not 1 <= round < store.selection_count():
        return None
    arrays = store.load_arrays(f"select-{round:03d}")
    if "map_rows" not in arrays:
        return None
    rows, before = arrays["map_rows"], f"fit-{round - 1:03d}"
    labelled = store.labels(until=store.rounds()[round - 1].answers_seen).of_row
    trusted = PseudoLabels.from_arrays(arrays)
    if not len(trusted) and store.has_arrays(before):  # a teacher trusts while the round's model is fitted
        trusted = PseudoLabels.from_arrays(store.load_arrays(before))
    return Map(
        round=round,
        points=arrays["map_points"].astype(np.float32),
        classes=arrays["map_classes"],
        asked=np.isin(rows, [question.row for question in store.questions(round)]),
        labelled=np.isin(rows, list(labelled)),
        trusted=np.isin(rows, trusted.rows),
        regions=arrays.get("map_regions"),
        heat=arrays.get("map_heat"),
    )


def hottest_regions(found: Map, count: int) -> list[int]:
    """The regions that the questions come from, the hottest first, without those that the map has no text of."""
    if found.heat is None or found.regions is None:
        return []
    there = set(found.regions.tolist())
    return [int(region) for region in np.argsort(-found.heat, kind="stable")[:count] if int(region) in there]


def region_table(found: Map, count: int, classes: Sequence[str]) -> list[RegionFacts]:
    """The hottest regions by the numbers that the map gives them."""
    rows = []
    for number, region in enumerate(hottest_regions(found, count), 1):
        assert found.heat is not None and found.regions is not None
        inside = np.asarray(found.regions == region)
        counts = np.bincount(found.classes[inside], minlength=len(classes))
        common = [each for each in np.argsort(-counts, kind="stable")[:2] if counts[each]]
        shares = tuple((classes[each], float(counts[each] / inside.sum())) for each in common)
        asked = int((found.asked & inside).sum())
        trusted = 0 if found.trusted is None else int((found.trusted & inside).sum())
        rows.append(RegionFacts(number, float(found.heat[region]), int(inside.sum()), asked, trusted, shares))
    return rows


def asked_distances(found: Map, seed: int) -> list[AskedDistance]:
    """How far apart the asked rows lie, and how far from what was labelled, in the stored principal components."""
    asked, rows = np.flatnonzero(found.asked), np.flatnonzero(~found.labelled)
    rng = Streams(seed, found.round).rng("report")
    draws = [rng.choice(rows, len(asked), replace=False) for _ in range(RANDOM_DRAWS)]
    measures = []
    if len(asked) > 1:
        measures.append(("mean distance between two asked texts", _mean_pairwise))
    if len(asked) and found.labelled.any():
        measures.append(("mean distance to the nearest labelled text", _mean_to_labelled))
    results = []
    for what, measure in measures:
        drawn = [measure(found, draw) for draw in draws]
        results.append(AskedDistance(what, measure(found, asked), float(np.mean(drawn)), float(np.std(drawn))))
    return results


def layout(points: np.ndarray) -> np.ndarray:
    """t-SNE from the first two principal components; those alone where there are too few points for neighbours."""
    first = points[:, :2]
    if len(points) < 8:
        return first
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # scikit-learn brings it

    start = first * (1e-4 / max(float(first[:, 0].std()), 1e-12))
    perplexity = min(30.0, (len(points) - 1) / 3)
    with threadpool_limits(1, "openmp"):  # sums of several threads differ in their last bits, and t-SNE blows them up
        tsne = TSNE(init=start, perplexity=perplexity, max_iter=500, angle=0.8, random_state=0)
        return np.asarray(tsne.fit_transform(points))


def _mean_pairwise(found: Map, rows: np.ndarray) -> float:
    from scipy.spatial.distance import pdist

    return float(pdist(found.points[rows]).mean())


def _mean_to_labelled(found: Map, rows: np.ndarray) -> float:
    from scipy.spatial.distance import cdist

    return float(cdist(found.points[rows], found.points[found.labelled]).min(1).mean())


def map_rounds(store: Store) -> Iterator[int]:
    """The rounds whose choice has a map."""
    for round in range(1, store.selection_count()):
        if store.has_arrays(name := f"select-{round:03d}") and "map_rows" in store.load_arrays(name):
            yield round


def _known_rounds(sessions: Sequence[Session]) -> str:
    known = sorted({round for session in sessions for round in map_rounds(session.store)})
    if not known:
        return "these runs have no maps, because their method does not read the pool"
    return f"rounds with a map: {', '.join(map(str, known))}"
