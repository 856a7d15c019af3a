"""Fig. 6: the pool at the first choice of questions, what four methods asked, and how widely."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from actune.bench import paper
from actune.bench.evidence import Evidence, Key, Scene
from actune.bench.figures.drawing import WIDTH, Drawing, Missing, axes_in_rows
from actune.bench.figures.panels import setups_told
from actune.errors import UserError
from actune.report.figures import class_style, shown_classes
from actune.report.maps import Map, Spread, layout, load_map, spread
from actune.report.svg import INK, OTHER, write_names
from actune.session.config import load_config
from actune.store.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = ("fig6-maps", "Fig. 6: what is asked first")
PAPERS = "ag_news"


@dataclass(frozen=True, eq=False)
class Mapped:
    """One method's first choice on the map of the pool."""

    method: str
    map: Map
    classes: tuple[str, ...]
    spreads: list[Spread]

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
    scenes = paper.main_scenes(evidence)
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
        return [Missing(*NAMES, f"run folders of any of {', '.join(paper.MAPPED)} on one task", "core.toml")]
    columns = min(2, len(found.parts))
    rows = -(-len(found.parts) // columns)
    counts = sum(np.bincount(part.map.classes, minlength=len(part.classes)) for part in found.parts)
    shown, others = shown_classes([np.asarray(counts).tolist()])

    def draw(figure: Figure) -> None:
        grid = axes_in_rows(figure, len(found.parts), columns)
        for letter, axes, part in zip("abcd", grid, found.parts, strict=False):
            handles, names = _draw(axes, part, shown, others)
            axes.set_title(f"({letter}) {paper.shown(part.method)}")
            axes.set_xlabel("\n".join(_told(each) for each in part.spreads), fontsize=8)
        box = figure.legend(handles, ["-"] * len(handles), loc="outside lower left", ncols=4, markerscale=1.6)
        write_names(box, names)

    caption = (
        f"{found.scene.shown}, seed {found.seed}: the pool as the first model saw it (t-SNE of principal components), "
        "by predicted class; rings are the texts that were asked next. Distances are in the principal components; in "
        "brackets the same of as many random texts."
    )
    if absent := [method for method in paper.MAPPED if method not in {part.method for part in found.parts}]:
        caption += f" Missing: {', '.join(absent)}."
    if found.scene.task != PAPERS:
        caption += f" The paper has {PAPERS} here."
    return [Drawing(*NAMES, f"{caption} {setups_told([found.scene])}", (WIDTH, 3.5 * rows + 0.4), draw)]


def _of_seed(evidence: Evidence, scene: Scene, seed: int) -> list[Mapped]:
    parts = []
    for method in paper.MAPPED:
        cell = evidence.cells.get((Key(scene, method), seed))
        part = _load(evidence.results.folder / "cells" / cell, method) if cell else None
        if part:
            parts.append(part)
    return parts


def _load(folder: Path, method: str) -> Mapped | None:
    try:
        config = load_config(folder)
        store = Store.reading(folder)
    except UserError:
        return None  # a table without its runs
    with store:
        found = load_map(store, 1)
    if found is None:
        return None
    return Mapped(method, found, config.resolved.classes, spread(found, config.request.seed))


def _draw(axes: Axes, part: Mapped, shown: list[int], others: list[int]) -> tuple[list[Any], list[str]]:
    """A panel, and what its legend needs."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_aspect("equal", "datalim")
    handles, names, found = [], [], part.map
    for place, group in enumerate([*([number] for number in shown), *([others] if others else [])]):
        colour, marker, _ = class_style(place)
        members = part.places[np.isin(found.classes, group) & ~found.labelled]
        how: dict[str, Any] = {
            "s": 8,
            "c": OTHER if group is others else colour,
            "marker": marker,
            "linewidths": 0,
            "alpha": 0.8,
        }
        handles.append(axes.scatter(members[:, 0], members[:, 1], **how))
        names.append(f"{len(others)} other classes" if group is others else part.classes[group[0]])
    labelled, asked = part.places[found.labelled], part.places[found.asked]
    handles.append(axes.scatter(labelled[:, 0], labelled[:, 1], s=16, c=INK, marker="+", linewidths=0.9))
    handles.append(axes.scatter(asked[:, 0], asked[:, 1], s=34, facecolors="none", edgecolors=INK, linewidths=1.1))
    return handles, [*names, "labelled before", "asked"]


def _told(each: Spread) -> str:
    return f"{each.what}: {each.asked:.2f} ({each.drawn:.2f} ± {each.deviation:.2f})"
