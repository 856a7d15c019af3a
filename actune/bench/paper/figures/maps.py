"""Fig. 6: the pool at the first choice of questions, what four methods asked, and how widely."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from actune.bench.evidence import Evidence, Key, Scene
from actune.bench.figures.drawing import Drawing, axes_in_rows
from actune.bench.figures.panels import WIDTH, setups_told
from actune.bench.paper import subjects
from actune.bench.paper.figures.missing import Missing
from actune.bench.records import CellRecord
from actune.report.figures import shown_classes
from actune.report.map_figure import class_legend, draw_classes
from actune.report.maps import AskedDistance, Map, asked_distances, layout
from actune.report.names import method_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE_6 = ("fig6-maps", "Fig. 6: what is asked first")
PAPERS = "ag_news"


@dataclass(frozen=True, eq=False)
class Mapped:
    """One method's first choice on the map of the pool."""

    method: str
    map: Map
    classes: tuple[str, ...]
    distances: list[AskedDistance]

    @cached_property
    def places(self) -> np.ndarray:
        return layout(self.map.points)


@dataclass(frozen=True, eq=False)
class Maps:
    """Maps of several methods under one seed."""

    scene: Scene
    seed: int
    parts: list[Mapped]


def find_maps(evidence: Evidence) -> Maps | None:
    """The maps of a scene's methods, of the paper's task where there is one and of the seed with the most of them."""
    scenes = subjects.main_scenes(evidence)
    for scene in sorted(scenes, key=lambda scene: (scene.task != PAPERS, bool(scene.start))):
        seeds = evidence.seeds(scene)
        found = [Maps(scene, seed, _of_seed(evidence, scene, seed)) for seed in seeds]
        most = max(found, key=lambda maps: len(maps.parts), default=None)
        if most and most.parts:
            return most
    return None


def figure_6(found: Maps | None) -> list[Drawing | Missing]:
    """Points by predicted class; rings are what was asked."""
    if found is None:
        return [Missing(*FIGURE_6, f"run folders of any of {', '.join(subjects.MAPPED)} on one task", "core.toml")]
    columns = min(2, len(found.parts))
    rows = -(-len(found.parts) // columns)
    counts = sum(np.bincount(part.map.classes, minlength=len(part.classes)) for part in found.parts)
    groups = shown_classes([np.asarray(counts).tolist()])

    def draw(figure: Figure) -> None:
        grid = axes_in_rows(figure, len(found.parts), columns)
        for letter, axes, part in zip("abcd", grid, found.parts, strict=False):
            handles = draw_classes(axes, part.map, part.places, part.classes, groups, s=8, alpha=0.8)
            axes.set_title(f"({letter}) {method_name(part.method)}")
            axes.set_xlabel("\n".join(_told(each) for each in part.distances), fontsize=8)
        class_legend(figure, handles)

    caption = (
        f"{found.scene.shown}, seed {found.seed}: the pool as the first model saw it (t-SNE of principal components), "
        "by predicted class; rings are the texts that were asked next. Distances are in the principal components; in "
        "brackets the same of as many random texts."
    )
    if absent := [method for method in subjects.MAPPED if method not in {part.method for part in found.parts}]:
        caption += f" Missing: {', '.join(absent)}."
    if found.scene.task != PAPERS:
        caption += f" The paper has {PAPERS} here."
    return [Drawing(*FIGURE_6, f"{caption} {setups_told([found.scene])}", (WIDTH, 3.2 * rows + 0.4), draw)]


def _of_seed(evidence: Evidence, scene: Scene, seed: int) -> list[Mapped]:
    parts = []
    for method in subjects.MAPPED:
        cell = evidence.cells.get((Key(scene, method), seed))
        record = evidence.results.record(cell) if cell else None
        part = _mapped(record, method) if record else None
        if part:
            parts.append(part)
    return parts


def _mapped(record: CellRecord, method: str) -> Mapped | None:
    found, config = record.first_map(), record.config
    if found is None:
        return None
    return Mapped(method, found, config.resolved.classes, asked_distances(found, config.request.seed))


def _told(each: AskedDistance) -> str:
    return f"{each.what}: {each.asked:.2f} ({each.random:.2f} ± {each.deviation:.2f})"
