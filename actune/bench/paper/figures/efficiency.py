"""Fig. 3: how many labels others need for what AcTune has at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from actune.bench.comparison import Saving, best
from actune.bench.evidence import Evidence, Scene
from actune.bench.figures.drawing import Drawing, legend
from actune.bench.figures.panels import setups_told
from actune.bench.paper import subjects
from actune.bench.paper.figures.missing import Missing
from actune.bench.paper.subjects import Rival
from actune.bench.wording import seeds_named
from actune.report.looks import BLUE, ORANGE, SKY
from actune.report.names import method_name
from actune.report.svg import INK, PAGE_WIDTH, short_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURE_3 = ("fig3-labels", "Fig. 3: labels needed for AcTune's last accuracy")
BAR_LOOKS = ((BLUE, ""), (ORANGE, "///"), (SKY, "..."))
WIDE, APART = 0.25, 0.28
RIVALS = (*subjects.ASKING, "ust")


def figure_3(evidence: Evidence) -> list[Drawing | Missing]:
    """Bars of labels: AcTune, the best that only asks, and UST."""
    asking, ust = subjects.rivals(evidence, subjects.ASKING), subjects.rivals(evidence, ("ust",))
    scenes = list(dict.fromkeys(rival.scene for rival in (*asking, *ust)))
    if not scenes:
        return [Missing(*FIGURE_3, f"actune and a rival on any of {', '.join(subjects.TASKS)}", "paper.toml")]
    named = {rival.scene: rival.method for rival in asking}
    groups = [{rival.scene: rival.saving for rival in group} for group in (asking, ust)]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for place, scene in enumerate(scenes):
            savings = [group.get(scene) for group in groups]
            own = next(saved.labels for saved in savings if saved)
            _bar(axes, place - APART, own, f"{own:,}", BAR_LOOKS[0])
            for shift, saved, look in zip((0, APART), savings, BAR_LOOKS[1:], strict=True):
                if saved:
                    _bar(axes, place + shift, saved.needed if saved.reached else saved.longest, _told(saved), look)
        below = [f"\nbest: {method_name(named[scene])}" if scene in named else "" for scene in scenes]
        ticks = [short_line(scene.task, 24) + words for scene, words in zip(scenes, below, strict=True)]
        axes.set_xticks(range(len(scenes)), ticks)
        axes.tick_params(axis="x", length=0)
        axes.set(ylabel="labels")
        axes.margins(x=0.02, y=0.14)
        axes.grid(True, axis="y")
        keys = [axes.bar(0, 0, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.6) for colour, hatch in BAR_LOOKS]
        legend(figure, dict(zip(("AcTune", "best of active learning", "UST"), keys, strict=True)))

    caption = (
        "Labels that others need for the accuracy that AcTune has at its last label, on mean curves, and the share"
        f" of them that AcTune saves.{_seeds_told([*asking, *ust])}"
    )
    if any(not saved.reached for group in groups for saved in group.values()):
        caption += " More than (>): the curve ends there, before it reached that accuracy."
    caption += _missing_told(evidence, scenes)
    return [
        Drawing(*FIGURE_3, f"{caption} {setups_told(scenes)}", (min(PAGE_WIDTH, 2.4 + 1.7 * len(scenes)), 3.3), draw)
    ]


def _seeds_told(rivals: Sequence[Rival]) -> str:
    """What every bar stands on: another method is never set against runs of AcTune under other seeds."""
    told = [f"{rival.scene.task}: {rival.method} under {seeds_named(rival.seeds)}" for rival in rivals]
    return f" Each is counted on means over the seeds that AcTune and the other method have: {'; '.join(told)}."


def _missing_told(evidence: Evidence, scenes: Sequence[Scene]) -> str:
    """Tasks without bars, and on the others the methods that could not be compared."""
    tasks = [task for task in subjects.TASKS if task not in {scene.task for scene in scenes}]
    phrases = [f"nothing to compare on {', '.join(tasks)}"] if tasks else []
    for scene in scenes:
        phrases += subjects.absent(evidence, scene, RIVALS)
        lines = evidence.plain_curves(scene, ("actune", *RIVALS))
        ours = lines.pop("actune")
        if apart := [method for method, each in lines.items() if best(ours, {method: each}) is None]:
            phrases.append(f"{scene.task}: no seed that {', '.join(apart)} and AcTune share up to its last labels")
    return f" Missing: {'; '.join(phrases)}." if phrases else ""


def _told(saved: Saving) -> str:
    if not saved.reached:
        return f"> {saved.longest:,}"
    return f"{saved.needed:,.0f}\n{100 * saved.share.mean:.0f} %".replace("-", "−")


def _bar(axes: Axes, place: float, height: float, words: str, look: tuple[str, str]) -> Any:
    axes.bar(place, height, WIDE, color=look[0], hatch=look[1], edgecolor=INK, linewidth=0.6)
    axes.annotate(words, (place, height), (0, 2), textcoords="offset points", ha="center", va="bottom", fontsize=8)
