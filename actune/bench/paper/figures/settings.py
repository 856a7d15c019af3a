"""Fig. 4: what the settings of AcTune change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from actune.bench.evidence import Curves, Evidence, Key
from actune.bench.figures.drawing import Drawing, axes_in_rows, legend
from actune.bench.figures.panels import Panel, curve_drawing, setups_told, unequal_seeds
from actune.bench.paper import subjects
from actune.bench.paper.figures.missing import Missing
from actune.bench.wording import range_told
from actune.report.axes import widen
from actune.report.looks import LOOKS
from actune.report.names import method_name
from actune.report.svg import PAGE_WIDTH, short_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURE_4A = ("fig4a-beta", "Fig. 4a: weight of mixed classes in a region's heat")
FIGURE_4B = ("fig4b-regions", "Fig. 4b: number of regions")
FIGURE_4C = ("fig4c-pseudo-labels", "Fig. 4c: pseudo-labels with and without memory")
FIGURE_4DE = ("fig4de-momentum", "Fig. 4d, e: momentum of the memory")
GRID = "sensitivity.toml"
MOMENTUM = ("momentum_low", "momentum_high")
Swept = dict[float, Curves]


def figure_4(evidence: Evidence) -> list[Drawing | Missing]:
    """Beta, the number of regions, the memory."""
    return [
        _of_setting(evidence, FIGURE_4A, "beta", "β"),
        _of_setting(evidence, FIGURE_4B, "regions", "K, number of regions"),
        _pseudo_labels(evidence),
        _momenta(evidence),
    ]


def _of_setting(evidence: Evidence, names: tuple[str, str], setting: str, shown: str) -> Drawing | Missing:
    """Accuracy by a setting: at the last labels, and on average over them."""
    panels = []
    for scene in subjects.main_scenes(evidence):
        values = {value: curves for (value,), curves in subjects.swept(evidence, scene, "actune", (setting,)).items()}
        if len(values) > 1:
            panels.append((scene, values))
    if not panels:
        return Missing(*names, f"actune with two or more values of {setting} on one task", GRID)
    columns = min(2, len(panels))

    def draw(figure: Figure) -> None:
        grid = axes_in_rows(figure, len(panels), columns)
        for place, (axes, (scene, values)) in enumerate(zip(grid, panels, strict=True)):
            last = [curves.values[:, -1] for curves in values.values()]
            areas = [np.array(list(curves.areas().values())) for curves in values.values()]
            handles = {
                "at the last labels": _bars(axes, values, "actune", last),
                "on average over labels": _bars(axes, values, "entropy", areas),
            }
            axes.set_title(short_line(scene.shown, 60))
            axes.set(xlabel=shown, ylabel="" if place % columns else "test accuracy (%)")
            axes.grid(True, axis="y")
            widen(axes)
        legend(figure, handles)

    seeds = {
        scene.shown: {f"{setting} {value:g}": curves for value, curves in values.items()} for scene, values in panels
    }
    caption = f"Test accuracy of AcTune; {_means_told(seeds)}"
    caption += _elsewhere([scene.task for scene, _ in panels], "sst2")
    rows = -(-len(panels) // columns)
    size = (PAGE_WIDTH if columns > 1 else 4.6, 2.6 * rows + 0.3)
    return Drawing(*names, f"{caption} {setups_told(scene for scene, _ in panels)}", size, draw)


def _means_told(panels: dict[str, dict[str, Curves]]) -> str:
    counts = {len(curves.seeds) for lines in panels.values() for curves in lines.values()}
    told = f"means over {range_told(counts)} seeds, and bars of one standard deviation."
    return ("one seed each, so there are no bars." if counts == {1} else told) + unequal_seeds(panels)


def _bars(axes: Axes, values: Swept, look: str, numbers: Sequence[np.ndarray]) -> object:
    """Means with bars of one deviation; without several seeds there are no bars."""
    spread = [100 * float(each.std(ddof=1)) if len(each) > 1 else 0.0 for each in numbers]
    means, words = [100 * float(each.mean()) for each in numbers], LOOKS[look].words()
    return axes.errorbar(list(values), means, spread, capsize=2.5, elinewidth=1, **words)


def _pseudo_labels(evidence: Evidence) -> Drawing | Missing:
    panels = []
    for scene in subjects.main_scenes(evidence):
        lines = evidence.plain_curves(scene, ("actune", "actune-no-memory"), "pseudo_label_accuracy")
        if len(lines) == 2:
            panels.append(Panel(scene.shown, scene, lines))
    if not panels:
        return Missing(*FIGURE_4C, "actune and actune-no-memory on one task", "ablation.toml")
    caption = "Share of right pseudo-labels over labels, with and without memory."
    caption += _elsewhere([panel.scene.task for panel in panels], "ag_news")
    return curve_drawing(*FIGURE_4C, caption, panels, "right pseudo-labels (%)")


def _momenta(evidence: Evidence) -> Drawing | Missing:
    panels = []
    for scene in subjects.main_scenes(evidence):
        for method, letter in (("actune", "d"), ("actune-cal", "e")):
            values = subjects.swept(evidence, scene, method, MOMENTUM)
            if len(values) < 2:
                continue
            lines = {f"m_L {low:g}, m_H {high:g}": curves for (low, high), curves in values.items()}
            if method == "actune" and (without := evidence.accuracy.get(Key(scene, "actune-no-memory"))):
                lines["actune-no-memory"] = without
            panels.append(Panel(f"({letter}) {scene.shown}, {method_name(method)}", scene, lines))
    if not panels:
        return Missing(*FIGURE_4DE, "actune or actune-cal with two or more momenta on one task", GRID)
    caption = "Test accuracy over labels by the momentum of the memory in the first and the last round."
    caption += _elsewhere([panel.scene.task for panel in panels], "ag_news")
    return curve_drawing(*FIGURE_4DE, caption, panels)


def _elsewhere(tasks: list[str], papers: str) -> str:
    return "" if papers in tasks else f" The paper has {papers} here."
