"""The methods of one scene from the best to the last, each beside random and beside AcTune."""

from __future__ import annotations

import math
from dataclasses import dataclass

from actune.bench.bootstrap import bounds
from actune.bench.comparison import bootstrapped, last_gap, shared, unequal_told
from actune.bench.evidence import Curves, Evidence, Key, Scene
from actune.bench.statistics import Estimate, estimate, holm
from actune.bench.tables import TextTable
from actune.bench.wording import file_name, gap_told, interval_told, p_told, spread_told

SHARE_AT_END = 0.75  # of the methods must have got to the end
AGAINST = ("random", "actune")
Draws = dict[str, tuple[float, float]]  # intervals by method


@dataclass(frozen=True)
class Beside:
    """A difference at the last labels to another method; p after Holm's correction over all methods of the scene."""

    gap: Estimate
    p: float | None
    bootstrap: tuple[float, float] | None  # over seeds and test texts, where predictions are at hand


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
    curves = evidence.plain_curves(scene)
    end = common_end(curves)
    cut = {method: each.within(0, end) for method, each in curves.items() if end in each.labels}
    against = {other: _beside(cut, other, _draws(evidence, scene, cut, other)) for other in AGAINST if other in cut}
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
    return ends[math.ceil(SHARE_AT_END * len(ends)) - 1]


def _beside(curves: dict[str, Curves], other: str, draws: Draws) -> dict[str, Beside]:
    gaps = {method: last_gap(each, curves[other]) for method, each in curves.items() if method != other}
    known = {method: gap for method, gap in gaps.items() if gap is not None}
    corrected = holm([gap.p for gap in known.values()])
    return {
        method: Beside(gap, p, draws.get(method)) for (method, gap), p in zip(known.items(), corrected, strict=True)
    }


def _draws(evidence: Evidence, scene: Scene, curves: dict[str, Curves], other: str) -> Draws:
    """Bootstrap intervals of differences to a method, each over the same seeds as the difference itself.

    Methods that share the same seeds with it are drawn together.
    """
    groups: dict[tuple[int, ...], list[str]] = {}
    for method, each in curves.items():
        if method != other:
            groups.setdefault(tuple(shared(each, curves[other])), []).append(method)
    found: Draws = {}
    for methods in groups.values():
        keys = [Key(scene, method) for method in (other, *methods)]
        values = bootstrapped(evidence, keys, curves[other].labels[-1])
        if values is not None:
            found |= {method: bounds(values[:, 1 + place] - values[:, 0]) for place, method in enumerate(methods)}
    return found


def _bootstrap_told(found: list[Standing]) -> str:
    """What the bootstrap stands on, where there is one."""
    drawn = [beside for each in found for beside in each.beside.values() if beside.bootstrap]
    if not drawn:
        return ""
    told = " Bootstrap: the interval when these seeds and the test texts are resampled"
    single = any(beside.gap.runs == 1 for beside in drawn)
    return f"{told}; with one seed, only the test texts are." if single else f"{told}."


def ranking_table(evidence: Evidence, scene: Scene) -> TextTable:
    """The standings of one scene in words."""
    found = ranking(evidence, scene)
    others = [other for other in AGAINST if any(other in each.beside for each in found)]
    drawn = any(beside.bootstrap for each in found for beside in each.beside.values())
    # differences are at the last labels, so that the column of these stands beside them
    columns = ["method", "seeds", "on average", f"at {found[0].labels:,} labels"]
    for other in others:
        columns += [f"minus {other}", "p", *(["bootstrap"] if drawn else [])]
    rows = []
    for each in found:
        row = [each.method, str(each.last.runs), spread_told(each.area), spread_told(each.last)]
        for other in others:
            beside = each.beside.get(other)
            cells = [gap_told(beside.gap), p_told(beside.p)] if beside else ["–", "–"]
            row += [*cells, *([interval_told(beside.bootstrap if beside else None)] if drawn else [])]
        rows.append(row)
    note = (
        "Accuracy in percent, mean ± standard deviation over seeds, at the last labels and on average over all. "
        f"Differences at {found[0].labels:,} labels are paired by the seeds that both have, in points with their "
        "t-interval; p after Holm's correction over the methods."
    )
    ranked = [each.method for each in found]
    if unequal := unequal_told(evidence.plain_curves(scene, tuple(ranked))):
        note += f" Not all have the same seeds, so compare differences and not means or places: {unequal}."
    if early := [method for method in evidence.methods(scene) if method not in ranked]:
        note += f" Not there yet: {', '.join(early)}."
    note += _bootstrap_told(found)
    name = file_name(f"ranking-{scene.task}-{scene.model}-{scene.learner}-{scene.start}")
    return TextTable(name, f"{scene.shown}, {scene.model}, {scene.learner}", columns, rows, note)
