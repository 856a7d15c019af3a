"""Learning curves: Fig. 1, 2 and 5 of the paper, and any other that a table has."""

from __future__ import annotations

from collections.abc import Sequence

from actune.bench.evidence import WEAK, Curves, Evidence
from actune.bench.figures.drawing import Drawing
from actune.bench.figures.panels import Panel, curve_drawing
from actune.bench.figures.scenes import methods_drawing, settings_drawings
from actune.bench.paper import subjects
from actune.bench.paper.figures.missing import Missing, missing_told
from actune.bench.wording import seeds_named

FIGURE_1_ASKING = ("fig1-al", "Fig. 1 a-d: active learning")
FIGURE_1_TRUSTING = ("fig1-ssal", "Fig. 1 e-h: semi-supervised active learning")
FIGURE_2 = ("fig2-weak", "Fig. 2: a start from votes of rules")
FIGURE_5A = ("fig5a-plugged", "Fig. 5a: AcTune with other questions")
FIGURE_5B = ("fig5b-ablation", "Fig. 5b: AcTune without its parts")
SWEPT = {"beta", "regions", "momentum_low", "momentum_high", "full"}  # settings that the paper's own figures are about


def figure_1(evidence: Evidence) -> list[Drawing | Missing]:
    """Methods that trust nothing, and those that trust something, on the four tasks."""
    asking = "Test accuracy over labels; nobody trains on pseudo-labels."
    trusting = "Test accuracy over labels; everybody trains on pseudo-labels."
    return [
        _of_tasks(
            evidence, FIGURE_1_ASKING, asking, subjects.TASKS, "", "abcd", subjects.ASKING + subjects.OURS_ASKING
        ),
        _of_tasks(evidence, FIGURE_1_TRUSTING, trusting, subjects.TASKS, "", "efgh", subjects.TRUSTING + subjects.OURS),
    ]


def figure_2(evidence: Evidence) -> list[Drawing | Missing]:
    """Methods that begin with a model of votes, beside training on every label."""
    caption = "Test accuracy over clean labels, after a first model that learnt from votes of rules alone."
    return [_of_tasks(evidence, FIGURE_2, caption, subjects.WEAK_TASKS, WEAK, "ab", subjects.TRUSTING + subjects.OURS)]


def figure_5(evidence: Evidence) -> list[Drawing | Missing]:
    """Other queries plugged in, and parts taken out, on whichever task was tried."""
    plugged = "Test accuracy over labels; AcTune's trust with four ways to ask, and these ways alone."
    ablated = "Test accuracy over labels; AcTune whole, and without one part at a time."
    return [
        _study(
            evidence, FIGURE_5A, plugged, subjects.PLUGGED + subjects.WITHOUT_ACTUNE, subjects.PLUGGED[2:], "paper.toml"
        ),
        _study(evidence, FIGURE_5B, ablated, subjects.ABLATIONS, subjects.ABLATIONS[1:], "ablation.toml"),
    ]


def others(evidence: Evidence) -> list[Drawing]:
    """Figures that the paper has not: of every scene with other tasks or methods, and of every other setting."""
    known = {
        *(*subjects.ASKING, *subjects.OURS_ASKING, *subjects.TRUSTING, *subjects.OURS),
        *(*subjects.PLUGGED, *subjects.ABLATIONS),
    }
    papers = (subjects.scenes_of(evidence, subjects.TASKS), subjects.scenes_of(evidence, subjects.WEAK_TASKS, WEAK))
    main = {scene for scenes in papers for scene in scenes.values()}
    found: list[Drawing] = []
    for scene in evidence.scenes:
        methods = evidence.methods(scene)
        if methods and (scene not in main or not set(methods) <= known):
            found.append(methods_drawing(evidence, scene))
        found += settings_drawings(evidence, scene, SWEPT)
    return found


def _of_tasks(
    evidence: Evidence,
    names: tuple[str, str],
    caption: str,
    tasks: tuple[str, ...],
    start: str,
    letters: str,
    methods: tuple[str, ...],
) -> Drawing | Missing:
    """A panel for each task that has one of the methods."""
    scenes, panels = subjects.scenes_of(evidence, tasks, start), []
    for letter, task in zip(letters, tasks, strict=True):
        lines = _up_to_ours(evidence.plain_curves(scenes[task], methods)) if task in scenes else {}
        if lines:
            full = subjects.fully_supervised(evidence, scenes[task]) if start else None
            panels.append(Panel(f"({letter}) {task}", scenes[task], lines, full))
    if not panels:
        weak = " from a weak start" if start else ""
        grid = "weak.toml" if start else "core.toml"
        return Missing(*names, f"any of {', '.join(methods)} on any of {', '.join(tasks)}{weak}", grid)
    if start:
        caption += _supervised_told(panels)
    absent = [task for task in tasks if task not in {panel.scene.task for panel in panels}]
    caption += missing_told(evidence, absent, [panel.scene for panel in panels], methods)
    return curve_drawing(*names, caption, panels)


def _supervised_told(panels: Sequence[Panel]) -> str:
    """Which runs the lines of full supervision are means of, and which tasks have none."""
    known = [f"{panel.scene.task} {seeds_named(panel.full.seeds)}" for panel in panels if panel.full]
    told = f" All labels: {'; '.join(known)}." if known else ""
    if absent := [panel.scene.task for panel in panels if panel.full is None]:
        told += f" No run learnt from every label of {', '.join(absent)}: the line of full supervision is missing."
    return told


def _up_to_ours(lines: dict[str, Curves]) -> dict[str, Curves]:
    """Others may have gone on for Fig. 3: here they end where AcTune does."""
    end = max((curves.labels[-1] for method, curves in lines.items() if method.startswith("actune")), default=None)
    if end is None:
        return lines
    return {method: curves.within(0, end) for method, curves in lines.items() if curves.labels[0] <= end}


def _study(
    evidence: Evidence,
    names: tuple[str, str],
    caption: str,
    methods: tuple[str, ...],
    telling: tuple[str, ...],
    grid: str,
) -> Drawing | Missing:
    """A panel for each scene that has AcTune and one of the telling methods."""
    panels = [
        Panel(scene.shown, scene, _up_to_ours(evidence.plain_curves(scene, methods)))
        for scene in subjects.main_scenes(evidence)
        if evidence.plain_curves(scene, ("actune",)) and evidence.plain_curves(scene, telling)
    ]
    if not panels:
        return Missing(*names, f"actune and any of {', '.join(telling)} on one task", grid)
    if all(panel.scene.task != "sst2" for panel in panels):
        caption += " The paper has sst2 here."
    caption += missing_told(evidence, [], [panel.scene for panel in panels], methods)
    return curve_drawing(*names, caption, panels)
