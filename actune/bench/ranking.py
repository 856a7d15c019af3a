"""The methods of one scene from the best to the last, each beside random and beside AcTune."""

from __future__ import annotations

import math
from dataclasses import dataclass

from actune.bench import paper
from actune.bench.bootstrap import bounds
from actune.bench.comparison import bootstrapped, last_gap
from actune.bench.evidence import Curves, Evidence, Key, Scene
from actune.bench.statistics import Estimate, estimate, holm
from actune.bench.tables import Table
from actune.bench.wording import file_name, gap_told, interval_told, p_told, spread_told

MOST = 0.75  # of the methods
AGAINST = ("random", "actune")
Draws = dict[tuple[str, str], tuple[float, float]]  # intervals by method and other method


@dataclass(frozen=True)
class Beside:
    """A difference at the last labels to another method; p after Holm's correction over all methods of the scene."""

    gap: Estimate
    p: float | None
    drawn: tuple[float, float] | None  # when seeds and test texts are drawn anew, where predictions are at hand


@dataclass(frozen=True)
class Standing:
    """One method's place."""

    method: str
    labels: int
    last: Estimate
    area: Estimate
    beside: dict[str, Beside]  # by the other's name


def ranking(evidence: Evidence, scene: Scene) -> list[Standing]:
    """Methods with plain settings that got to the end, by their mean accuracy there."""
    curves = paper.plain(evidence, scene)
    end = common_end(curves)
    cut = {method: each.within(0, end) for method, each in curves.items() if end in each.labels}
    draws = _draws(evidence, scene, list(cut), end)
    against = {other: _beside(cut, other, draws) for other in AGAINST if other in cut}
    standings = [
        Standing(
            method,
            end,
            estimate(each.values[:, -1].tolist()),
            estimate(list(each.areas().values())),
            {other: found[method] for other, found in against.items() if method in found},
        )
        for method, each in cut.items()
    ]
    return sorted(standings, key=lambda standing: -standing.last.mean)


def common_end(curves: dict[str, Curves]) -> int:
    """The last count of labels that most methods reach: one that has just begun must not cut the others short."""
    ends = sorted((each.labels[-1] for each in curves.values()), reverse=True)
    return ends[math.ceil(MOST * len(ends)) - 1]


def _beside(curves: dict[str, Curves], other: str, draws: Draws) -> dict[str, Beside]:
    gaps = {method: last_gap(each, curves[other]) for method, each in curves.items() if method != other}
    known = {method: gap for method, gap in gaps.items() if gap is not None}
    corrected = holm([gap.p for gap in known.values()])
    return {
        method: Beside(gap, p, draws.get((method, other)))
        for (method, gap), p in zip(known.items(), corrected, strict=True)
    }


def _draws(evidence: Evidence, scene: Scene, methods: list[str], labels: int) -> Draws:
    """Bootstrap intervals of differences, from draws that all methods share."""
    if not methods:
        return {}
    values = bootstrapped(evidence, [Key(scene, method) for method in methods], labels)
    if values is None:
        return {}
    pairs = [(method, other) for method in methods for other in AGAINST if other in methods and other != method]
    return {
        (method, other): bounds(values[:, methods.index(method)] - values[:, methods.index(other)])
        for method, other in pairs
    }


def ranking_table(evidence: Evidence, scene: Scene) -> Table:
    """The standings of one scene in words."""
    found = ranking(evidence, scene)
    others = [other for other in AGAINST if any(other in each.beside for each in found)]
    drawn = any(beside.drawn for each in found for beside in each.beside.values())
    columns = ["method", "seeds", f"at {found[0].labels:,} labels", "on average"]
    for other in others:
        columns += [f"minus {other}", "p", *(["drawn anew"] if drawn else [])]
    rows = []
    for each in found:
        row = [each.method, str(each.last.runs), spread_told(each.last), spread_told(each.area)]
        for other in others:
            beside = each.beside.get(other)
            cells = [gap_told(beside.gap), p_told(beside.p)] if beside else ["–", "–"]
            row += [*cells, *([interval_told(beside.drawn if beside else None)] if drawn else [])]
        rows.append(row)
    note = (
        "Accuracy in percent, mean ± standard deviation over seeds, at the last labels and on average over all. "
        f"Differences at {found[0].labels:,} labels are paired by seed, in points with their t-interval; p after "
        "Holm's correction over the methods."
    )
    if early := [method for method in evidence.methods(scene) if method not in {each.method for each in found}]:
        note += f" Not there yet: {', '.join(early)}."
    note += " Drawn anew: the interval of a bootstrap over seeds and test texts." if drawn else ""
    name = file_name(f"ranking-{scene.task}-{scene.model}-{scene.learner}-{scene.start}")
    return Table(name, f"{scene.shown}, {scene.model}, {scene.learner}", columns, rows, note)
