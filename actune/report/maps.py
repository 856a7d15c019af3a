"""The paper's case study (Fig. 6): the pool of one round in two dimensions, what was asked, and how widely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from actune.core.streams import Streams
from actune.errors import SettingError
from actune.report.figures import class_style, shown_classes
from actune.report.svg import INK, OTHER, PAGE_WIDTH, picture, write_names
from actune.session.session import Session
from actune.store.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


@dataclass(frozen=True)
class AskedDistance:
    """One number about the asked rows, and the same about random draws of as many: their mean and deviation."""

    what: str
    asked: float
    random: float
    deviation: float


def maps_of(sessions: Sequence[Session], round: int | None = None) -> list[Map | None]:
    """The map of each session for one round, by default the first that has any; None where a session has none."""
    if round is None:
        firsts = [found.round for session in sessions for found in islice(_maps(session), 1)]
        if not firsts:
            return [None] * len(sessions)
        round = min(firsts)
    maps = [load_map(session.store, round) for session in sessions]
    if not any(maps):
        raise SettingError(f"round {round} has no map: {_known_rounds(sessions)}")
    return maps


def load_map(store: Store, round: int) -> Map | None:
    """The map of the choice for `round`, where there was one and the pool was read for it."""
    if not 1 <= round < store.selection_count():
        return None
    arrays = store.load_arrays(f"select-{round:03d}")
    if "map_rows" not in arrays:
        return None
    rows, seen = arrays["map_rows"], store.rounds()[round - 1].answers_seen
    labelled = store.labels(until=seen).of_row
    return Map(
        round=round,
        points=arrays["map_points"].astype(np.float32),
        classes=arrays["map_classes"],
        asked=np.isin(rows, [question.row for question in store.questions(round)]),
        labelled=np.isin(rows, list(labelled)),
        regions=arrays.get("map_regions"),
        heat=arrays.get("map_heat"),
    )


def asked_distances(found: Map, seed: int) -> list[AskedDistance]:
    """How far apart the asked rows lie, and how far from what was labelled, in the stored principal components."""
    asked, rows = np.flatnonzero(found.asked), np.flatnonzero(~found.labelled)
    rng = Streams(seed, found.round).rng("report")
    draws = [rng.choice(rows, len(asked), replace=False) for _ in range(RANDOM_DRAWS)]
    measures = []
    if len(asked) > 1:
        measures.append(("mean distance between two of them", _mean_pairwise))
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


def draw_map(found: Map, classes: Sequence[str], hottest: int, name: str) -> str:
    """The pool by predicted class and, where the method has regions, by their heat; rings are the asked rows."""
    places = layout(found.points)

    def draw(figure: Figure) -> None:
        widths = [1.0] if found.heat is None else [1.0, 1.16]  # the second has numbers and a scale beside it
        panels = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
        counts = np.bincount(found.classes, minlength=len(classes))
        handles = draw_classes(panels[0], found, places, classes, shown_classes([counts.tolist()]), s=9)
        panels[0].set_title("predicted class")
        class_legend(figure, handles)
        if found.heat is not None:
            _by_heat(figure, panels[1], found, places, hottest)

    alt = f"Two-dimensional map of the pool when the questions of round {found.round} were chosen."
    height = 4.2 if found.heat is not None else 5.0
    return picture(name, alt, (PAGE_WIDTH, height), draw)


def draw_classes(
    axes: Axes,
    found: Map,
    places: np.ndarray,
    names: Sequence[str],
    groups: tuple[list[int], list[int]],
    **how: Any,
) -> list[tuple[str, Any]]:
    """Points by predicted class, crosses that were labelled and rings that were asked; names and signs for a legend.

    `groups` are the classes that are told apart and those that are drawn as one.
    """
    bare(axes)
    handles: list[tuple[str, Any]] = []
    shown, others = groups
    for place, group in enumerate([*([number] for number in shown), *([others] if others else [])]):
        members = places[np.isin(found.classes, group) & ~found.labelled]
        colour, marker, _ = class_style(place)
        name = f"{len(others)} other classes" if group is others else names[group[0]]
        colours = OTHER if group is others else colour
        handles.append((name, _dots(axes, members, c=colours, marker=marker, linewidths=0, **how)))
    if found.labelled.any():
        crosses = _dots(axes, places[found.labelled], s=16, c=INK, marker="+", linewidths=0.9)
        handles.append(("labelled before", crosses))
    return [*handles, ("asked", _rings(axes, found, places))]


def class_legend(figure: Figure, handles: Sequence[tuple[str, Any]]) -> None:
    """The names of classes and signs below a map."""
    signs = [sign for _, sign in handles]
    legend = figure.legend(signs, ["-"] * len(signs), loc="outside lower left", ncols=4, markerscale=1.6)
    write_names(legend, [name for name, _ in handles])


def bare(axes: Axes) -> None:
    """A map has no axes to read numbers from."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_aspect("equal", "datalim")


def _by_heat(figure: Figure, axes: Axes, found: Map, places: np.ndarray, hottest: int) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    assert found.regions is not None and found.heat is not None
    bare(axes)
    inside = found.regions >= 0
    values = found.heat[found.regions[inside]]
    # the middle of the scale, seen on white and on black; a bar of more steps would be written as an image
    steps = ListedColormap(colormaps["plasma"](np.linspace(0.12, 0.85, 24)))
    drawn = _dots(axes, places[inside], s=9, c=values, cmap=steps, linewidths=0)
    _rings(axes, found, places)
    order = np.argsort(-found.heat, kind="stable")[:hottest]
    middles = {
        rank: _middle(places[found.regions == each]) for rank, each in enumerate(order, 1) if each in found.regions
    }
    _number(axes, middles, places)
    axes.set_title(f"heat of the region, the {len(order)} hottest numbered" if len(order) > 1 else "heat of the region")
    bar = figure.colorbar(drawn, ax=axes, fraction=0.04, pad=0.01)
    bar.outline.set_visible(False)


def _number(axes: Axes, middles: Mapping[int, np.ndarray], places: np.ndarray) -> None:
    """Numbers in two columns beside the map, each with a line to its place: on the map they would hide it."""
    (left, low), (right, high) = places.min(0), places.max(0)
    margin = 0.07 * (right - left)
    ranks = sorted(middles, key=lambda rank: float(middles[rank][0]))
    half = (len(ranks) + 1) // 2
    for side, x in ((ranks[:half], left - margin), (ranks[half:], right + margin)):
        side = sorted(side, key=lambda rank: float(middles[rank][1]))
        for rank, y in zip(side, np.linspace(low, high, len(side) + 2)[1:-1], strict=True):
            near = x + (margin if x < left else -margin) * 0.4
            axes.plot([near, middles[rank][0]], [y, middles[rank][1]], color=INK, linewidth=0.5)
            axes.text(x, y, str(rank), ha="center", va="center", fontsize=8)


def _rings(axes: Axes, found: Map, places: np.ndarray) -> Any:
    return _dots(axes, places[found.asked], s=34, facecolors="none", edgecolors=INK, linewidths=1.1)


def _dots(axes: Axes, points: np.ndarray, **how: Any) -> Any:
    return axes.scatter(points[:, 0], points[:, 1], **how)


def _middle(members: np.ndarray) -> np.ndarray:
    """The member nearest to the median: a region's mean may lie where the region is not."""
    gaps = np.linalg.norm(members - np.median(members, axis=0), axis=1)
    return np.asarray(members[int(np.argmin(gaps))])


def _mean_pairwise(found: Map, rows: np.ndarray) -> float:
    from scipy.spatial.distance import pdist

    return float(pdist(found.points[rows]).mean())


def _mean_to_labelled(found: Map, rows: np.ndarray) -> float:
    from scipy.spatial.distance import cdist

    return float(cdist(found.points[rows], found.points[found.labelled]).min(1).mean())


def _maps(session: Session) -> Iterator[Map]:
    for round in range(1, session.selected):
        if found := load_map(session.store, round):
            yield found


def _known_rounds(sessions: Sequence[Session]) -> str:
    known = sorted({found.round for session in sessions for found in _maps(session)})
    if not known:
        return "no round of these runs has one, because the pool was not read to choose questions"
    return f"rounds with a map: {', '.join(map(str, known))}"
