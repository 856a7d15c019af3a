"""What a table of results says about each claim of the paper, in numbers: an estimate over tasks, and its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from actune.bench import paper
from actune.bench.comparison import best, bootstrapped_gap, last_gap, matched, mean_gap
from actune.bench.evidence import WEAK, Curves, Evidence, Key, Scene
from actune.bench.statistics import Estimate, Wins, estimate, jackknife, over_tasks, paired_test, wins
from actune.bench.wording import gap_told, interval_told, spread_told

FEWEST = 3  # seeds that a claim needs


@dataclass(frozen=True)
class Measured:
    """An estimate, a phrase for each of its parts, and what it lacks."""

    found: Estimate | None
    parts: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    wanted: int = 0  # tasks that the claim is about; 0: whichever was tried
    missing: tuple[str, ...] = ()
    least: bool = False  # the truth is at least so large: some curves end too early to say


Part = tuple[Scene, Estimate, str]  # a scene, its number, and that number in words


def labels_saved(evidence: Evidence, candidates: tuple[str, ...]) -> Measured:
    """The share of labels that AcTune saves against the best of these methods, on the tasks of Fig. 3."""
    parts: list[Part] = []
    ended = False
    for rival in paper.rivals(evidence, candidates, FEWEST):
        saved = rival.saving
        words = f"{rival.method} needs {saved.needed:,.0f} labels for what actune has with {saved.labels:,}"
        share = saved.share
        if not saved.reached:
            ended = True
            words = f"{rival.method} does not get there within {saved.longest:,} labels"
            share = replace(share, mean=saved.least, deviation=0.0, low=None, high=None, t=None, p=None)
        parts.append((rival.scene, share, words))
    lacks = _absent(evidence, paper.TASKS, "", ("actune",), candidates)
    return replace(_over(parts, lacks, len(paper.TASKS)), least=ended)


def rounds_won(evidence: Evidence) -> Measured:
    """The share of tasks and rounds in which AcTune is ahead of everybody of its panel, the first round left out."""
    groups, phrases, tasks = [], [], []
    for ours, theirs in (("actune-query", paper.ASKING), ("actune", paper.TRUSTING)):
        for scene in paper.scenes_of(evidence, paper.TASKS).values():
            lines = _enough(paper.plain(evidence, scene, (ours, *theirs)))
            together = matched(*lines.values()) if ours in lines and len(lines) > 1 else None
            if together and len(together[0].labels) > 1:
                groups.append(together)
                found = _won([together], together[0].seeds)
                phrases.append(f"{scene.shown}: {ours} {found.ahead} of {found.ahead + found.level + found.behind}")
                tasks.append(scene.task)
    both = (("actune",), paper.TRUSTING), (("actune-query",), paper.ASKING)
    missing = dict.fromkeys(each for pair in both for each in _absent(evidence, paper.TASKS, "", *pair))
    seeds = sorted(set.intersection(*(set(group[0].seeds) for group in groups))) if groups else []
    if len(seeds) < FEWEST:
        return Measured(None, tuple(phrases), tuple(dict.fromkeys(tasks)), len(paper.TASKS), tuple(missing))
    found_rate = jackknife(lambda chosen: _won(groups, chosen).rate, seeds)
    low, high = found_rate.bounds or (found_rate.mean, found_rate.mean)  # whichever seed is left out, the same
    found_rate = replace(found_rate, low=max(0.0, low), high=min(1.0, high))
    return Measured(found_rate, tuple(phrases), tuple(dict.fromkeys(tasks)), len(paper.TASKS), tuple(missing))


def last_gain(evidence: Evidence, ours: str, theirs: tuple[str, ...]) -> Measured:
    """How far a method is ahead, at its last labels, of the best of others."""
    parts: list[Part] = []
    for scene in paper.scenes_of(evidence, paper.TASKS).values():
        lines = _enough(paper.plain(evidence, scene, (ours, *theirs)))
        mine = lines.pop(ours, None)
        rival = best(lines, mine.labels[-1]) if mine else None
        gap = last_gap(mine, lines[rival]) if mine and rival else None
        if mine and rival and gap:
            end = min(mine.labels[-1], lines[rival].labels[-1])
            drawn = bootstrapped_gap(evidence, Key(scene, ours), Key(scene, rival), end)
            also = f", with test texts drawn anew {interval_told(drawn)}" if drawn else ""
            parts.append((scene, gap, f"{gap_told(gap)} points against {rival} at {end:,} labels{also}"))
    return _over(parts, _absent(evidence, paper.TASKS, "", (ours,), theirs), len(paper.TASKS))


def gain_over_mean(evidence: Evidence, theirs: tuple[str, ...]) -> Measured:
    """How far AcTune is ahead, at its last labels, of the mean of others."""
    parts: list[Part] = []
    for scene in paper.scenes_of(evidence, paper.TASKS).values():
        lines = _enough(paper.plain(evidence, scene, ("actune", *theirs)))
        together = matched(*lines.values()) if "actune" in lines and len(lines) > 1 else None
        if together:
            mine, *others = (curves.values[:, -1] for curves in together)
            gap = paired_test(mine.tolist(), np.mean(others, axis=0).tolist())
            parts.append((scene, gap, f"{gap_told(gap)} points against {' and '.join(list(lines)[1:])}"))
    return _over(parts, _absent(evidence, paper.TASKS, "", ("actune",), theirs), len(paper.TASKS))


def weak_accuracy(evidence: Evidence, task: str, labels: int) -> Measured:
    """AcTune's accuracy from a weak start at one count of labels."""
    scene = evidence.main(task, WEAK)
    curves = evidence.accuracy.get(Key(scene, "actune")) if scene else None
    if scene is None or curves is None or labels not in curves.labels:
        return Measured(None, wanted=1, missing=(f"{task} from a weak start: actune at {labels} labels",))
    found = estimate(list(curves.at(labels).values()))
    return Measured(found, (f"{scene.shown}: {spread_told(found, 2)} % with {labels} labels",), (scene.shown,), 1)


def spread_of(evidence: Evidence, setting: str) -> Measured:
    """How far the best value of a setting is ahead of the worst at the last labels, where that is most."""
    parts: list[Part] = []
    for scene in paper.main_scenes(evidence):
        values = {value: curves for (value,), curves in _swept(evidence, scene, "actune", (setting,)).items()}
        ranked = sorted(values, key=lambda value: float(values[value].mean[-1]))
        gap = last_gap(values[ranked[-1]], values[ranked[0]]) if len(values) > 1 else None
        if gap:
            words = f"{gap_told(gap)} points between {setting} {ranked[-1]:g} and {ranked[0]:g} of {len(values)} values"
            parts.append((scene, gap, words))
    if not parts:
        return Measured(None, missing=(f"actune with two or more values of {setting}",))
    widest = max(parts, key=lambda part: part[1].mean)
    return Measured(widest[1], _phrases(parts), tuple(scene.shown for scene, _, _ in parts))


def inner_is_better(evidence: Evidence, setting: str) -> Measured:
    """How far a setting's usual value is ahead of the smallest and the largest tried: the smaller of the two."""
    parts: list[Part] = []
    for scene in paper.main_scenes(evidence):
        values = {value: curves for (value,), curves in _swept(evidence, scene, "actune", (setting,)).items()}
        usual = paper.setting(evidence, scene, setting)
        if usual not in values or len(values) < 3 or usual in (min(values), max(values)):
            continue
        gaps = {end: last_gap(values[usual], values[end]) for end in (min(values), max(values))}
        known = {end: gap for end, gap in gaps.items() if gap is not None}
        if len(known) == 2:
            words = " and ".join(f"{gap_told(gap)} points to {end:g}" for end, gap in known.items())
            least = min(known.values(), key=lambda gap: gap.mean)
            parts.append((scene, least, f"from {setting} {usual:g} {words}"))
    return _over(parts, [] if parts else [f"actune with a smaller and a larger value of {setting}"])


def gap_between(
    evidence: Evidence,
    a: str,
    b: str,
    scenes: Iterable[Scene] | None = None,
    part: Callable[[Curves], Curves] = lambda curves: curves,
    what: str = "accuracy",
) -> Measured:
    """How far one method is ahead of another on average over labels, in every scene that has both."""
    parts: list[Part] = []
    for scene in paper.main_scenes(evidence) if scenes is None else scenes:
        found = paper.plain(evidence, scene, (a, b), what)
        lines = {method: curves for method, curves in found.items() if len(curves.seeds) >= FEWEST}
        gap = mean_gap(part(lines[a]), part(lines[b])) if len(lines) == 2 else None
        if gap:
            parts.append((scene, gap, f"{gap_told(gap)} points"))
    return _over(parts, [] if parts else [f"{a} and {b} with {FEWEST} seeds on one task"])


def late_gap_of_momentum(evidence: Evidence) -> Measured:
    """How far the largest last momentum is ahead of the smallest in late rounds, of one first momentum if possible."""
    parts: list[Part] = []
    for scene in paper.main_scenes(evidence):
        values = _swept(evidence, scene, "actune", ("momentum_low", "momentum_high"))
        pair = _widest(list(values))
        gap = mean_gap(late(values[pair[1]]), late(values[pair[0]])) if pair else None
        if pair and gap:
            told = " and ".join(f"m_L {low:g}, m_H {high:g}" for low, high in reversed(pair))
            parts.append((scene, gap, f"{gap_told(gap)} points between {told}"))
    return _over(parts, [] if parts else ["actune with two last momenta"])


def early(curves: Curves) -> Curves:
    """The first half of its labels."""
    return curves.within(curves.labels[0], (curves.labels[0] + curves.labels[-1]) / 2)


def late(curves: Curves) -> Curves:
    """The second half of its labels."""
    return curves.within((curves.labels[0] + curves.labels[-1]) / 2, curves.labels[-1])


def _widest(values: Sequence[tuple[float, ...]]) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Two settings of momentum: that with the smallest last one and that with the largest, of one first one if any."""
    pairs = [(a, b) for a in values for b in values if a[1] < b[1]]
    return max(pairs, key=lambda pair: (pair[0][0] == pair[1][0], pair[1][1] - pair[0][1]), default=None)


def _swept(evidence: Evidence, scene: Scene, method: str, names: tuple[str, ...]) -> dict[tuple[float, ...], Curves]:
    found = paper.swept(evidence, scene, method, names)
    return {values: curves for values, curves in found.items() if len(curves.seeds) >= FEWEST}


def _won(groups: Sequence[Sequence[Curves]], seeds: Sequence[int]) -> Wins:
    """Comparisons of the first curve's mean with the best of the others' means, after the first round."""
    total = Wins(0, 0, 0)
    for mine, *others in groups:
        means = [curves.of(seeds).mean[1:] for curves in others]
        found = wins(mine.of(seeds).mean[1:].tolist(), [max(column) for column in zip(*means, strict=True)])
        total = Wins(total.ahead + found.ahead, total.level + found.level, total.behind + found.behind)
    return total


def _enough(lines: dict[str, Curves]) -> dict[str, Curves]:
    """Methods with enough seeds that get as far as the first one."""
    end = next((curves.labels[-1] for curves in lines.values()), 0)
    return {name: each for name, each in lines.items() if len(each.seeds) >= FEWEST and each.labels[-1] >= end}


def _absent(
    evidence: Evidence, tasks: tuple[str, ...], start: str, ours: tuple[str, ...], theirs: tuple[str, ...]
) -> list[str]:
    """What a claim about these tasks and methods should have had."""
    scenes, phrases = paper.scenes_of(evidence, tasks, start), []
    if absent := [task for task in tasks if task not in scenes]:
        phrases.append(f"no runs on {', '.join(absent)}")
    for scene in scenes.values():
        have = paper.plain(evidence, scene, (*ours, *theirs))
        if none := [method for method in (*ours, *theirs) if method not in have]:
            phrases.append(f"{scene.shown}: no runs of {', '.join(none)}")
        if few := [method for method in have if method not in _enough(have)]:
            phrases.append(f"{scene.shown}: fewer than {FEWEST} finished seeds of {', '.join(few)}")
    return phrases


def _phrases(parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(f"{scene.shown}: {words}" for scene, _, words in parts)


def _over(parts: Sequence[Part], missing: Sequence[str], wanted: int = 0) -> Measured:
    found = over_tasks([number for _, number, _ in parts]) if parts else None
    tasks = tuple(dict.fromkeys(scene.shown for scene, _, _ in parts))
    return Measured(found, _phrases(parts), tasks, wanted, tuple(missing))
