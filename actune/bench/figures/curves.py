"""Learning curves: Fig. 1, 2 and 5 of the paper, and any other that a table has."""

from __future__ import annotations

from collections.abc import Sequence

from actune.bench import paper
from actune.bench.evidence import WEAK, Curves, Evidence, Scene
from actune.bench.figures.drawing import Drawing, Missing
from actune.bench.figures.panels import Panel, curve_drawing, missing_told
from actune.bench.wording import file_name, seeds_named

AL = ("fig1-al", "Fig. 1 a-d: active learning")
SSAL = ("fig1-ssal", "Fig. 1 e-h: semi-supervised active learning")
WEAKLY = ("fig2-weak", "Fig. 2: a start from votes of rules")
PLUGGED = ("fig5a-plugged", "Fig. 5a: AcTune with other questions")
ABLATED = ("fig5b-ablation", "Fig. 5b: AcTune without its parts")
MOST_LINES = 9  # of one panel that a reader can follow
SWEPT = {"beta", "regions", "momentum_low", "momentum_high", "full"}  # settings that the paper's own figures are about


def figure_1(evidence: Evidence) -> list[Drawing | Missing]:
    """Methods that trust nothing, and those that trust something, on the four tasks."""
    asking = "Test accuracy over labels; nobody trains on pseudo-labels."
    trusting = "Test accuracy over labels; everybody trains on pseudo-labels."
    return [
        _of_tasks(evidence, AL, asking, paper.TASKS, "", "abcd", paper.ASKING + paper.OURS_ASKING),
        _of_tasks(evidence, SSAL, trusting, paper.TASKS, "", "efgh", paper.TRUSTING + paper.OURS),
    ]


def figure_2(evidence: Evidence) -> list[Drawing | Missing]:
    """Methods that begin with a model of votes, beside training on every label."""
    caption = "Test accuracy over clean labels, after a first model that learnt from votes of rules alone."
    return [_of_tasks(evidence, WEAKLY, caption, paper.WEAK_TASKS, WEAK, "ab", paper.TRUSTING + paper.OURS)]


def figure_5(evidence: Evidence) -> list[Drawing | Missing]:
    """Other queries plugged in, and parts taken out, on whichever task was tried."""
    plugged = "Test accuracy over labels; AcTune's trust with four ways to ask, and these ways alone."
    ablated = "Test accuracy over labels; AcTune whole, and without one part at a time."
    return [
        _study(evidence, PLUGGED, plugged, paper.PLUGGED + paper.PLAIN, paper.PLUGGED[2:], "paper.toml"),
        _study(evidence, ABLATED, ablated, paper.ABLATIONS, paper.ABLATIONS[1:], "ablation.toml"),
    ]


def others(evidence: Evidence) -> list[Drawing]:
    """Figures that the paper has not: of every scene with other tasks or methods, and of every other setting."""
    found = []
    known = {*paper.ASKING, *paper.OURS_ASKING, *paper.TRUSTING, *paper.OURS, *paper.PLUGGED, *paper.ABLATIONS}
    papers = (paper.scenes_of(evidence, paper.TASKS), paper.scenes_of(evidence, paper.WEAK_TASKS, WEAK))
    main = {scene for scenes in papers for scene in scenes.values()}
    for scene in evidence.scenes:
        lines, title = paper.plain(evidence, scene), f"{scene.shown} ({scene.model}, {scene.learner})"
        name = file_name(f"{scene.task}-{scene.model}-{scene.learner}-{scene.start}")
        if lines and (scene not in main or not lines.keys() <= known):
            caption = "Test accuracy over labels, every method of the table."
            found.append(curve_drawing(f"curves-{name}", title, caption, _split(scene, lines)))
        for method, changed in _changed(evidence, scene).items():
            plain = {"as usual": lines[method]} if method in lines else {}
            caption = f"Test accuracy over labels, {paper.shown(method)} with other settings."
            panel = Panel(paper.shown(method), scene, {**plain, **changed})
            found.append(curve_drawing(file_name(f"settings-{name}-{method}"), f"{title}: settings", caption, [panel]))
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
    scenes, panels = paper.scenes_of(evidence, tasks, start), []
    for letter, task in zip(letters, tasks, strict=True):
        lines = _up_to_ours(paper.plain(evidence, scenes[task], methods)) if task in scenes else {}
        if lines:
            full = paper.fully_supervised(evidence, scenes[task]) if start else None
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
        Panel(scene.shown, scene, _up_to_ours(paper.plain(evidence, scene, methods)))
        for scene in paper.main_scenes(evidence)
        if paper.plain(evidence, scene, ("actune",)) and paper.plain(evidence, scene, telling)
    ]
    if not panels:
        return Missing(*names, f"actune and any of {', '.join(telling)} on one task", grid)
    if all(panel.scene.task != "sst2" for panel in panels):
        caption += " The paper has sst2 here."
    caption += missing_told(evidence, [], [panel.scene for panel in panels], methods)
    return curve_drawing(*names, caption, panels)


def _split(scene: Scene, lines: dict[str, Curves]) -> list[Panel]:
    """One panel, or two where that would be too many lines: what trusts nothing, and what trusts something."""
    if len(lines) <= MOST_LINES:
        return [Panel(scene.shown, scene, lines)]
    asking = {method: curves for method, curves in lines.items() if not paper.trusts(method)}
    trusting = {method: curves for method, curves in lines.items() if paper.trusts(method)}
    both = {"without pseudo-labels": asking, "with pseudo-labels": trusting}
    return [Panel(f"{scene.shown}, {what}", scene, part) for what, part in both.items() if part]


def _changed(evidence: Evidence, scene: Scene) -> dict[str, dict[str, Curves]]:
    """By method: curves of changed settings that none of the paper's figures is about."""
    found: dict[str, dict[str, Curves]] = {}
    for key, curves in evidence.accuracy.items():
        if key.scene == scene and key.changes and not {name for name, _ in key.changes} <= SWEPT:
            words = " ".join(f"{name}={value}" if value else name for name, value in key.changes)
            found.setdefault(key.method, {})[words] = curves
    return found
