"""Pictures of a map: the pool by predicted class and by the heat of its regions, with what was asked and trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from actune.report.figures import class_style, shown_classes
from actune.report.maps import Map, hottest_regions, layout
from actune.report.svg import INK, OTHER, PAGE_WIDTH, PAPER, legend_columns, picture, write_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NUMBER_GAP = 0.085  # between two numbers on a map, as a share of its width


def draw_map(found: Map, classes: Sequence[str], hottest: int, name: str) -> str:
    """The pool by predicted class and, where the method has regions, by their heat; rings are the asked rows."""
    places = layout(found.points)
    groups = shown_classes([np.bincount(found.classes, minlength=len(classes)).tolist()])

    def draw(figure: Figure) -> None:
        widths = [1.0] if found.heat is None else [1.0, 1.1]  # the second has a scale beside it
        panels = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
        handles = draw_classes(panels[0], found, places, classes, groups, s=9)
        panels[0].set_title("predicted class")
        if found.heat is not None:
            _by_heat(figure, panels[1], found, places, hottest)
        if found.trusted is not None and found.trusted.any():
            handles.append(("trusted", _specks(panels[-1], found, places)))
        class_legend(figure, handles)

    alt = f"Two-dimensional map of the pool when the questions of round {found.round} were selected."
    names = [classes[number] for number in groups[0]]
    rows = -(-(len(names) + 4) // legend_columns(names))
    height = (3.6 if found.heat is not None else 4.6) + 0.18 * rows
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
    bare(axes, places)
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
    names, signs = [name for name, _ in handles], [sign for _, sign in handles]
    columns = legend_columns(names)
    legend = figure.legend(signs, ["-"] * len(signs), loc="outside lower left", ncols=columns, markerscale=1.6)
    write_names(legend, names)


def bare(axes: Axes, places: np.ndarray) -> None:
    """A map has no axes to read numbers from, and is as large as its room allows."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    low, high = places.min(0), places.max(0)
    edge = 0.03 * max(*(high - low), 1e-6)
    axes.set(xlim=(low[0] - edge, high[0] + edge), ylim=(low[1] - edge, high[1] + edge))
    axes.set_aspect("equal", "box")


def _by_heat(figure: Figure, axes: Axes, found: Map, places: np.ndarray, hottest: int) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    assert found.regions is not None and found.heat is not None
    bare(axes, places)
    inside = found.regions >= 0
    values = found.heat[found.regions[inside]]
    # the middle of the scale, seen on white and on black; a bar of more steps would be written as an image
    steps = ListedColormap(colormaps["plasma"](np.linspace(0.12, 0.85, 24)))
    drawn = _dots(axes, places[inside], s=9, c=values, cmap=steps, linewidths=0)
    _rings(axes, found, places)
    order = hottest_regions(found, hottest)
    _number(axes, np.array([_middle(places[found.regions == region]) for region in order]), places)
    axes.set_title(f"heat of the region, the {len(order)} hottest numbered" if len(order) > 1 else "heat of the region")
    bar = figure.colorbar(drawn, ax=axes, fraction=0.04, pad=0.01)
    bar.set_label("heat: less sure and more mixed")
    bar.outline.set_visible(False)


def _number(axes: Axes, middles: np.ndarray, places: np.ndarray) -> None:
    """Numbers on the regions, moved apart where they would hide each other, with a line to where they belong."""
    gap = NUMBER_GAP * float(np.ptp(places[:, 0]))
    for number, (middle, place) in enumerate(zip(middles, apart(middles, gap), strict=True), 1):
        if np.linalg.norm(place - middle) > gap / 4:
            axes.plot(*zip(place, middle, strict=True), color=INK, linewidth=0.7, zorder=4)
        circle = {"boxstyle": "circle,pad=0.25", "facecolor": PAPER, "edgecolor": INK, "linewidth": 0.7}
        axes.text(place[0], place[1], str(number), ha="center", va="center", fontsize=8, bbox=circle, zorder=5)


def apart(points: np.ndarray, gap: float) -> np.ndarray:
    """The same points, pushed away from each other until no two are nearer than `gap`."""
    nudges = 1e-3 * gap * np.arange(len(points))[:, None]  # equal points have no direction
    placed: np.ndarray = points.astype(float) + nudges
    for _ in range(200):
        differences = placed[:, None] - placed
        distances = np.linalg.norm(differences, axis=2) + 1e9 * np.eye(len(placed))
        if (distances >= gap).all():
            break
        push = np.clip(1.02 * gap - distances, 0, None) / 2
        placed += (differences / distances[:, :, None] * push[:, :, None]).sum(1)
    return placed


def _specks(axes: Axes, found: Map, places: np.ndarray) -> Any:
    return _dots(axes, places[found.trusted], s=2.2, c=PAPER, linewidths=0.4, edgecolors=INK, zorder=3)


def _rings(axes: Axes, found: Map, places: np.ndarray) -> Any:
    return _dots(axes, places[found.asked], s=34, facecolors="none", edgecolors=INK, linewidths=1.1)


def _dots(axes: Axes, points: np.ndarray, **how: Any) -> Any:
    return axes.scatter(points[:, 0], points[:, 1], **how)


def _middle(members: np.ndarray) -> np.ndarray:
    """The member nearest to the median: a region's mean may lie where the region is not."""
    gaps = np.linalg.norm(members - np.median(members, axis=0), axis=1)
    return np.asarray(members[int(np.argmin(gaps))])
