"""What a table of results says about each claim of the paper, in numbers: an estimate over tasks, and its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from actune.bench.comparison import best, bootstrapped_gap, last_gap, matched, mean_gap, shared
from actune.bench.evidence import WEAK, Curves, Evidence, Key, Measure, Scene
from actune.bench.paper import subjects
from actune.bench.statistics import (
    FEWEST_SEEDS,
    Estimate,
    Wins,
    estimate,
    jackknife,
    over_tasks,
    paired_test,
    wilson,
    wins,
)
from actune.bench.wording import gap_told, interval_told, seeds_counted, seeds_named, spread_told


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
Together = tuple[Scene, dict[str, Curves]]  # a scene, and methods at the same seeds and labels, ours first


def labels_saved(evidence: Evidence, candidates: tuple[str, ...]) -> Measured:
    """The share of labels that AcTune saves against the best of these methods, on the tasks of Fig. 3."""
    parts: list[Part] = []
    ended = False
    for rival in subjects.rivals(evidence, candidates, FEWEST_SEEDS):
        saved = rival.saving
        words = f"{rival.method} needs {saved.needed:,.0f} labels for what actune has with {saved.labels:,}"
        if not saved.reached:
            ended = True
            words = f"{rival.method} does not get there within {saved.longest:,} labels"
        share = saved.share if saved.reached else saved.least
        parts.append((rival.scene, share, f"{words}, {seeds_named(rival.seeds)}"))
    lacks = _absent(evidence, "actune", candidates)
    return replace(_over(parts, lacks, len(subjects.TASKS)), least=ended)


def rounds_won(evidence: Evidence) -> Measured:
    """The share of tasks and rounds in which AcTune is ahead of everybody of its panel, the first round left out.

    All is counted under the seeds that every task and method has, so that the parts add up to the whole.
    """
    asking, lacks_asking = _common(evidence, "actune-query", subjects.ASKING)
    trusting, lacks_trusting = _common(evidence, "actune", subjects.TRUSTING)
    panels = [(scene, lines) for scene, lines in (*asking, *trusting) if len(next(iter(lines.values())).labels) > 1]
    groups = [list(lines.values()) for _, lines in panels]
    seeds = shared(*(group[0] for group in groups)) if groups else []
    missing = tuple(dict.fromkeys([*lacks_asking, *lacks_trusting]))
    tasks = tuple(dict.fromkeys(scene.shown for scene, _ in panels))
    measured = Measured(None, (), tasks, len(subjects.TASKS), missing)
    if not groups:
        return measured
    if len(seeds) < FEWEST_SEEDS:
        return replace(measured, missing=(*missing, f"{FEWEST_SEEDS} seeds that all of {', '.join(tasks)} have"))
    phrases = tuple(f"{scene.shown}: {_won_told(lines, seeds)}" for scene, lines in panels)
    return replace(measured, found=_share_won(groups, seeds), parts=phrases)


def _share_won(groups: Sequence[Sequence[Curves]], seeds: Sequence[int]) -> Estimate:
    """The share with the wider of two intervals: one seed left out at a time, and Wilson's over rounds.

    The first alone has no width where the share happens to stay the same, and knows nothing of the luck of rounds; the
    second alone takes rounds for independent, and those of one run are not.
    """
    share = jackknife(lambda chosen: _won(groups, chosen).rate, seeds)
    low, high = wilson(share.mean, _won(groups, seeds).count)
    if share.bounds:
        low, high = max(0.0, min(low, share.bounds[0])), min(1.0, max(high, share.bounds[1]))
    return replace(share, low=low, high=high)


def last_gain(evidence: Evidence, ours: str, theirs: tuple[str, ...]) -> Measured:
    """How far a method is ahead, at its last labels, of the best of others."""
    parts: list[Part] = []
    for scene in subjects.scenes_of(evidence, subjects.TASKS).values():
        lines = _enough(evidence.plain_curves(scene, (ours, *theirs)), ours)
        mine = lines.pop(ours, None)
        rival = best(mine, lines) if mine else None
        gap = last_gap(mine, lines[rival]) if mine and rival else None
        if mine and rival and gap:
            end = min(mine.labels[-1], lines[rival].labels[-1])
            drawn = bootstrapped_gap(evidence, Key(scene, ours), Key(scene, rival), end)
            also = f", bootstrap over seeds and test texts {interval_told(drawn)}" if drawn else ""
            parts.append((scene, gap, f"{_points(gap)} against {rival} at {end:,} labels{also}"))
    return _over(parts, _absent(evidence, ours, theirs), len(subjects.TASKS))


def gain_over_mean(evidence: Evidence, theirs: tuple[str, ...]) -> Measured:
    """How far AcTune is ahead, at its last labels, of the mean of others."""
    parts: list[Part] = []
    panels, missing = _common(evidence, "actune", theirs)
    for scene, lines in panels:
        mine, *others = (curves.values[:, -1] for curves in lines.values())
        gap = paired_test(mine.tolist(), np.mean(others, axis=0).tolist())
        parts.append((scene, gap, f"{_points(gap)} against {' and '.join(list(lines)[1:])}"))
    return _over(parts, missing, len(subjects.TASKS))


def weak_accuracy(evidence: Evidence, task: str, labels: int) -> Measured:
    """AcTune's accuracy from a weak start at one count of labels."""
    scene = evidence.main(task, WEAK)
    curves = evidence.accuracy.get(Key(scene, "actune")) if scene else None
    if scene is None or curves is None or labels not in curves.labels:
        return Measured(None, wanted=1, missing=(f"{task} from a weak start: actune at {labels} labels",))
    found = estimate(list(curves.at(labels).values()))
    words = f"{scene.shown}: {spread_told(found, 2)} % with {labels} labels, {seeds_named(curves.seeds)}"
    return Measured(found, (words,), (scene.shown,), 1)


def spread_of(evidence: Evidence, setting: str) -> Measured:
    """How far the best value of a setting is ahead of the worst at the last labels, where that is most."""
    parts: list[Part] = []
    missing: list[str] = []
    for scene in subjects.main_scenes(evidence):
        values = {value: curves for (value,), curves in _swept(evidence, scene, "actune", (setting,)).items()}
        missing += _too_few(evidence, scene, "actune", (setting,))
        gaps = {(a, b): _sound(last_gap(values[a], values[b])) for a, b in permutations(values, 2)}
        known = {pair: gap for pair, gap in gaps.items() if gap is not None}
        if known:
            a, b = max(known, key=lambda pair: known[pair].mean)  # under the same seeds, as means may not be
            words = f"{_points(known[a, b])} between {setting} {a:g} and {b:g} of {len(values)} values"
            parts.append((scene, known[a, b], words))
    if not parts:
        return Measured(None, missing=(f"actune with two or more values of {setting}", *missing))
    widest = max(parts, key=lambda part: part[1].mean)
    return Measured(widest[1], _phrases(parts), tuple(scene.shown for scene, _, _ in parts), missing=tuple(missing))


def inner_is_better(evidence: Evidence, setting: str) -> Measured:
    """How far a setting's usual value is ahead of the smallest and the largest tried: the smaller of the two."""
    parts: list[Part] = []
    missing: list[str] = []
    for scene in subjects.main_scenes(evidence):
        values = {value: curves for (value,), curves in _swept(evidence, scene, "actune", (setting,)).items()}
        missing += _too_few(evidence, scene, "actune", (setting,))
        usual = subjects.setting(evidence, scene, setting)
        if usual not in values or len(values) < 3 or usual in (min(values), max(values)):
            continue
        gaps = {end: _sound(last_gap(values[usual], values[end])) for end in (min(values), max(values))}
        known = {end: gap for end, gap in gaps.items() if gap is not None}
        if len(known) == 2:
            words = " and ".join(f"{_points(gap)} to {end:g}" for end, gap in known.items())
            least = min(known.values(), key=lambda gap: gap.mean)
            parts.append((scene, least, f"from {setting} {usual:g} {words}"))
    wanting = [] if parts else [f"actune with a smaller and a larger value of {setting}"]
    return _over(parts, wanting + missing)


def gap_between(
    evidence: Evidence,
    a: str,
    b: str,
    scenes: Iterable[Scene] | None = None,
    part: Callable[[Curves], Curves] = lambda curves: curves,
    measure: Measure = "accuracy",
) -> Measured:
    """How far one method is ahead of another on average over labels, in every scene that has both."""
    parts: list[Part] = []
    missing: list[str] = []
    for scene in subjects.main_scenes(evidence) if scenes is None else scenes:
        lines = evidence.plain_curves(scene, (a, b), measure)
        gap = _sound(mean_gap(part(lines[a]), part(lines[b]))) if len(lines) == 2 else None
        if gap:
            parts.append((scene, gap, _points(gap)))
        elif len(lines) == 2:
            missing.append(f"{scene.shown}: {FEWEST_SEEDS} seeds that both {a} and {b} have")
    return _over(parts, missing if parts or missing else [f"{a} and {b} on one task"])


def late_gap_of_momentum(evidence: Evidence) -> Measured:
    """How far the largest last momentum is ahead of the smallest in late rounds, of one first momentum if possible."""
    parts: list[Part] = []
    missing: list[str] = []
    momenta = ("momentum_low", "momentum_high")
    for scene in subjects.main_scenes(evidence):
        values = _swept(evidence, scene, "actune", momenta)
        missing += _too_few(evidence, scene, "actune", momenta)
        pair = _widest(list(values))
        gap = _sound(mean_gap(second_half(values[pair[1]]), second_half(values[pair[0]]))) if pair else None
        if pair and gap:
            told = " and ".join(f"m_L {low:g}, m_H {high:g}" for low, high in reversed(pair))
            parts.append((scene, gap, f"{_points(gap)} between {told}"))
    return _over(parts, ([] if parts else ["actune with two last momenta"]) + missing)


def first_half(curves: Curves) -> Curves:
    """The first half of its labels."""
    return curves.within(curves.labels[0], (curves.labels[0] + curves.labels[-1]) / 2)


def second_half(curves: Curves) -> Curves:
    """The second half of its labels."""
    return curves.within((curves.labels[0] + curves.labels[-1]) / 2, curves.labels[-1])


def _widest(values: Sequence[tuple[float, ...]]) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Two settings of momentum: that with the smallest last one and that with the largest, of one first one if any."""
    pairs = [(a, b) for a in values for b in values if a[1] < b[1]]
    return max(pairs, key=lambda pair: (pair[0][0] == pair[1][0], pair[1][1] - pair[0][1]), default=None)


def _swept(evidence: Evidence, scene: Scene, method: str, names: tuple[str, ...]) -> dict[tuple[float, ...], Curves]:
    found = subjects.swept(evidence, scene, method, names)
    return {values: curves for values, curves in found.items() if len(curves.seeds) >= FEWEST_SEEDS}


def _too_few(evidence: Evidence, scene: Scene, method: str, names: tuple[str, ...]) -> list[str]:
    """The values of these settings that have too few seeds to count, as a phrase where others were tried too."""
    tried = subjects.swept(evidence, scene, method, names)
    few = [
        " and ".join(f"{value:g}" for value in values)
        for values, each in tried.items()
        if len(each.seeds) < FEWEST_SEEDS
    ]
    of = " and ".join(names)
    return (
        [f"{scene.shown}: {FEWEST_SEEDS} seeds of {method} with {of} {', '.join(few)}"]
        if few and len(tried) > 1
        else []
    )


def _won(groups: Sequence[Sequence[Curves]], seeds: Sequence[int]) -> Wins:
    """Comparisons of the first curve's mean with the best of the others' means, after the first round."""
    total = Wins(0, 0, 0)
    for mine, *others in groups:
        means = [curves.of(seeds).mean[1:] for curves in others]
        found = wins(mine.of(seeds).mean[1:].tolist(), [max(column) for column in zip(*means, strict=True)])
        total = Wins(total.ahead + found.ahead, total.level + found.level, total.behind + found.behind)
    return total


def _won_told(lines: Mapping[str, Curves], seeds: Sequence[int]) -> str:
    """`actune 7 of 9 rounds and 1 tie against asst, seeds 0, 1, 2`."""
    ours, *theirs = lines
    found = _won([list(lines.values())], seeds)
    ties = f" and {found.level} tie{'' if found.level == 1 else 's'}" if found.level else ""
    return f"{ours} {found.ahead} of {found.count} rounds{ties} against {', '.join(theirs)}, {seeds_named(seeds)}"


def _points(gap: Estimate) -> str:
    return f"{gap_told(gap)} points over {seeds_counted(gap.runs)}"


def _sound(gap: Estimate | None) -> Estimate | None:
    """A difference if enough seeds have both of its sides."""
    return gap if gap and gap.runs >= FEWEST_SEEDS else None


def _enough(lines: dict[str, Curves], ours: str) -> dict[str, Curves]:
    """Methods that can be compared with one of them: enough common seeds, and they get as far."""
    mine = lines.get(ours)
    return {name: each for name, each in lines.items() if not _unfit(each, mine, ours)}


def _unfit(curves: Curves, mine: Curves | None, ours: str) -> str:
    """Why a method's curves do not count beside ours, if they do not."""
    if len(curves.seeds) < FEWEST_SEEDS:
        return f"fewer than {FEWEST_SEEDS} finished seeds"
    if mine and curves.labels[-1] < mine.labels[-1]:
        return f"no runs up to {mine.labels[-1]:,} labels, where {ours} ends,"
    if mine and len(mine.seeds) >= FEWEST_SEEDS > len(shared(curves, mine)):
        return f"fewer than {FEWEST_SEEDS} seeds that {ours} has too"
    return ""


def _common(evidence: Evidence, ours: str, theirs: tuple[str, ...]) -> tuple[list[Together], list[str]]:
    """By task, ours and the others at the seeds and labels that all of them have; and what is missing."""
    found, missing = [], _absent(evidence, ours, theirs)
    for scene in subjects.scenes_of(evidence, subjects.TASKS).values():
        lines = _enough(evidence.plain_curves(scene, (ours, *theirs)), ours)
        if ours not in lines or len(lines) < 2:
            continue
        together = matched(*lines.values())
        if together and len(together[0].seeds) >= FEWEST_SEEDS:
            found.append((scene, dict(zip(lines, together, strict=True))))
        else:
            missing.append(f"{scene.shown}: {FEWEST_SEEDS} seeds that all of {', '.join(lines)} have")
    return found, missing


def _absent(evidence: Evidence, ours: str, theirs: tuple[str, ...]) -> list[str]:
    """What a claim about these methods should have had on the tasks of the paper."""
    scenes, phrases = subjects.scenes_of(evidence, subjects.TASKS), []
    if absent := [task for task in subjects.TASKS if task not in scenes]:
        phrases.append(f"no runs on {', '.join(absent)}")
    for scene in scenes.values():
        have = evidence.plain_curves(scene, (ours, *theirs))
        phrases += subjects.absent(evidence, scene, (ours, *theirs))
        reasons = {method: _unfit(each, have.get(ours), ours) for method, each in have.items()}
        for reason in dict.fromkeys(filter(None, reasons.values())):
            methods = [method for method, why in reasons.items() if why == reason]
            phrases.append(f"{scene.shown}: {reason} of {', '.join(methods)}")
    return phrases


def _phrases(parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(f"{scene.shown}: {words}" for scene, _, words in parts)


def _over(parts: Sequence[Part], missing: Sequence[str], wanted: int = 0) -> Measured:
    found = over_tasks([number for _, number, _ in parts]) if parts else None
    tasks = tuple(dict.fromkeys(scene.shown for scene, _, _ in parts))
    return Measured(found, _phrases(parts), tasks, wanted, tuple(missing))
