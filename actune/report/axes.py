"""What all figures of curves share: honest limits, whole numbers, and names at the ends of lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from actune.report.svg import short_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST_SPAN = 5.0  # points of accuracy that an axis shows at least, so that noise does not look like a trend
LABEL_SIZE = 8  # of the names at the ends of lines, in points
LINE_HEIGHT = 1.3
NAME_HEIGHT = LABEL_SIZE * LINE_HEIGHT / 72  # inches


class LineEnd(NamedTuple):
    """The last point of a line, and what stands beside it."""

    x: float
    y: float
    name: str
    colour: str


def widen(axes: Axes, span: float = LEAST_SPAN) -> None:
    """An axis of percentages that shows at least `span` points and nothing below 0 or above 100."""
    low, high = axes.get_ylim()
    missing = max(0.0, span - (high - low)) / 2
    low, high = low - missing, high + missing
    if high > 100:
        low, high = low - (high - 100), 100.8  # a line at 100 is drawn whole
    if low < 0:
        low, high = -0.8, max(high, span)
    axes.set_ylim(low, high)


def from_zero(axes: Axes) -> None:
    """An axis of counts that begins at zero, with room for the whole width of a line there."""
    high = axes.get_ylim()[1]
    axes.set_ylim(-0.025 * high, high)


def integers(axes: Axes, which: str) -> None:
    """Ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    getattr(axes, f"{which}axis").set_major_locator(MaxNLocator(nbins="auto", integer=True, min_n_ticks=1))


def name_lines(figure: Figure, panels: Sequence[tuple[Axes, Sequence[LineEnd]]]) -> None:
    """Names at the ends of the lines of every panel."""
    for axes, _ in panels:
        axes.margins(x=0.03)  # lines end near their names
    figure.draw_without_rendering()  # the layout says how high the axes are
    for axes, ends in panels:
        label_ends(axes, ends)


def label_ends(axes: Axes, ends: Sequence[LineEnd]) -> None:
    """Names right of the axes, each joined to the end of its line; the figure must be laid out already."""
    if not ends:
        return
    low, high = axes.get_ylim()
    wanted = [(end.y - low) / (high - low) for end in ends]
    places = spread(wanted, LABEL_SIZE * LINE_HEIGHT / _height(axes))
    for end, place in zip(ends, places, strict=True):
        axes.annotate(
            short_line(end.name, 40),
            (end.x, end.y),
            (1.05, place),
            textcoords="axes fraction",
            fontsize=LABEL_SIZE,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": end.colour,
                "linewidth": 0.8,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 3,
            },
        )


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Places from 0 to 1 as near to the wanted ones as possible, at least `gap` apart from each other."""
    import numpy as np
    from sklearn.isotonic import isotonic_regression

    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    moved = isotonic_regression(np.asarray(wanted, float)[order] - steps)
    places = np.empty(len(wanted))
    places[order] = np.clip(moved, 0, max(0.0, 1 - steps[-1])) + steps
    return [float(place) for place in places]


def _height(axes: Axes) -> float:
    """Of the axes, in points."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return axes.get_window_extent().height * 72 / figure.dpi
