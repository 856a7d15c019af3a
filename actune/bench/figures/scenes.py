"""Learning curves of everything that was run in one scene: each method, and each changed setting."""

from __future__ import annotations

from collections.abc import Collection

from actune.bench.evidence import Curves, Evidence, Scene
from actune.bench.figures.drawing import Drawing
from actune.bench.figures.panels import Panel, curve_drawing
from actune.bench.wording import file_name
from actune.core.settings import Settings
from actune.methods.recipes import RECIPES
from actune.report.names import method_name

MOST_LINES = 9  # of one panel that a reader can follow


def methods_drawing(evidence: Evidence, scene: Scene) -> Drawing:
    """The methods of a scene with plain settings."""
    caption = "Test accuracy over labels, every method of the table."
    panels = _split(scene, evidence.plain_curves(scene))
    return curve_drawing(f"curves-{_file_of(scene)}", _title_of(scene), caption, panels)


def settings_drawings(evidence: Evidence, scene: Scene, left_out: Collection[str] = ()) -> list[Drawing]:
    """A figure for each method whose settings were changed; `left_out` are settings that other figures are about."""
    found, plain = [], evidence.plain_curves(scene)
    for method, changed in _changed(evidence, scene, left_out).items():
        usual = {"as usual": plain[method]} if method in plain else {}
        caption = f"Test accuracy over labels, {method_name(method)} with other settings."
        panel = Panel(method_name(method), scene, {**usual, **changed})
        name = file_name(f"settings-{_file_of(scene)}-{method}")
        found.append(curve_drawing(name, f"{_title_of(scene)}: settings", caption, [panel]))
    return found


def _file_of(scene: Scene) -> str:
    return file_name(f"{scene.task}-{scene.model}-{scene.learner}-{scene.start}")


def _title_of(scene: Scene) -> str:
    return f"{scene.shown} ({scene.model}, {scene.learner})"


def _trusts(method: str) -> bool:
    """Whether a method trains on pseudo-labels; one that nobody knows may."""
    return method not in RECIPES or RECIPES[method].method(Settings()).self_training is not None


def _split(scene: Scene, lines: dict[str, Curves]) -> list[Panel]:
    """One panel, or two where that would be too many lines: what trusts nothing, and what trusts something."""
    if len(lines) <= MOST_LINES:
        return [Panel(scene.shown, scene, lines)]
    asking = {method: curves for method, curves in lines.items() if not _trusts(method)}
    trusting = {method: curves for method, curves in lines.items() if _trusts(method)}
    both = {"without pseudo-labels": asking, "with pseudo-labels": trusting}
    return [Panel(f"{scene.shown}, {what}", scene, part) for what, part in both.items() if part]


def _changed(evidence: Evidence, scene: Scene, left_out: Collection[str]) -> dict[str, dict[str, Curves]]:
    """By method: curves of changed settings, but for those that have only settings to be left out."""
    found: dict[str, dict[str, Curves]] = {}
    for key, curves in evidence.accuracy.items():
        if key.scene == scene and key.changes and not {name for name, _ in key.changes} <= {*left_out}:
            words = " ".join(f"{name}={value}" if value else name for name, value in key.changes)
            found.setdefault(key.method, {})[words] = curves
    return found
