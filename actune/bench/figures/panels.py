"""Panels of learning curves with one legend, and the words that every caption has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from actune.bench.comparison import unequal_told
from actune.bench.evidence import Curves, Scene
from actune.bench.figures.drawing import Drawing, axes_in_rows
from actune.bench.wording import range_told
from actune.report.axes import NAME_HEIGHT, LineEnd, name_lines, widen
from actune.report.looks import Look, looks
from actune.report.names import method_name
from actune.report.svg import INK, PAGE_WIDTH, short_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEW_LINES = 2  # of a panel that all get bands
WIDTH = 9.0  # inches of two panels side by side with the names of their lines


@dataclass(frozen=True)
class Panel:
    """Curves of one scene by name."""

    title: str
    scene: Scene
    lines: dict[str, Curves]
    full: Curves | None = None  # trained on every label: a line across


def curve_drawing(
    name: str, title: str, caption: str, panels: Sequence[Panel], measure: str = "test accuracy (%)"
) -> Drawing:
    """Some panels, two in a row; every line has its name at its end."""
    names = list(dict.fromkeys(line for panel in panels for line in panel.lines))
    styles, columns = looks(names, [panel.lines for panel in panels]), min(2, len(panels))
    most = max((len(panel.lines) + (panel.full is not None) for panel in panels), default=0)

    def draw(figure: Figure) -> None:
        grid = axes_in_rows(figure, len(panels), columns)
        named = []
        for place, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
            named.append((axes, _draw_panel(axes, panel, styles)))
            axes.set_title(short_line(panel.title, 60))
            axes.set(xlabel="labels", ylabel="" if place % columns else measure)
            axes.grid(True, axis="y")
        name_lines(figure, named)

    height = max(2.7 if columns == 2 else 3.4, 1.2 + 1.2 * most * NAME_HEIGHT) * -(-len(panels) // columns)
    words = f"{caption} {seeds_told(panels)} {setups_told(panel.scene for panel in panels)}"
    return Drawing(name, title, words, (WIDTH if columns == 2 else PAGE_WIDTH, height), draw)


def _draw_panel(axes: Axes, panel: Panel, styles: Mapping[str, Look]) -> list[LineEnd]:
    """The lines of a panel, and where they end."""
    banded, ends = _banded(panel), []
    for line, curves in panel.lines.items():
        plot(axes, curves, styles[line], line in banded)
        ends.append(LineEnd(curves.labels[-1], 100 * float(curves.mean[-1]), method_name(line), styles[line].colour))
    if panel.full is not None:
        level = 100 * float(panel.full.mean[-1])
        axes.axhline(level, color=INK, linewidth=1, linestyle=(0, (8, 3)))
        ends.append(LineEnd(axes.get_xlim()[1], level, "All labels", INK))
    widen(axes)
    return ends


def plot(axes: Axes, curves: Curves, look: Look, banded: bool) -> Any:
    """A mean, and around it a band of one deviation."""
    (line,) = axes.plot(curves.labels, 100 * curves.mean, **look.words())
    if banded and (deviation := curves.deviation) is not None:
        low, high = curves.mean - deviation, curves.mean + deviation
        axes.fill_between(curves.labels, 100 * low, 100 * high, color=look.colour, alpha=0.15, linewidth=0, zorder=1)
    return line


def _banded(panel: Panel) -> set[str]:
    """The lines that get bands: where there are many, the highest at its end and Random, for bands over bands hide all.

    Lines that end early are no competitors for the highest.
    """
    if len(panel.lines) <= FEW_LINES:
        return set(panel.lines)
    last = max(curves.labels[-1] for curves in panel.lines.values())
    whole = {line: float(curves.mean[-1]) for line, curves in panel.lines.items() if curves.labels[-1] == last}
    return {max(whole, key=lambda line: whole[line]), *({"random"} & set(panel.lines))}


def seeds_told(panels: Sequence[Panel]) -> str:
    """How many runs a line is the mean of, what its band is, and which lines of a panel lack seeds of others."""
    unequal = unequal_seeds({panel.title: panel.lines for panel in panels})
    counts = {len(curves.seeds) for panel in panels for curves in panel.lines.values()}
    if counts == {1}:
        return f"One seed each, so there are no bands.{unequal}"
    some = any(_banded(panel) < set(panel.lines) for panel in panels)
    whose = ", drawn for the best line and for Random only where there are many" if some else ""
    bare = "; a single seed has none" if 1 in counts else ""
    return f"Means over {range_told(counts)} seeds; bands are one standard deviation{whose}{bare}.{unequal}"


def unequal_seeds(panels: Mapping[str, Mapping[str, Curves]]) -> str:
    """By panel, every line that lacks a seed of another beside it, as the end of a caption."""
    told = {title: unequal_told(lines) for title, lines in panels.items()}
    phrases = [f"{title}: {words}" for title, words in told.items() if words]
    return f" Not all lines are of the same seeds: {'. '.join(phrases)}." if phrases else ""


def setups_told(scenes: Iterable[Scene]) -> str:
    """Encoders and learners, once each."""
    setups = dict.fromkeys(f"{scene.model}, {scene.learner}" for scene in scenes)
    return f"Encoder and learner: {'; '.join(setups)}."
