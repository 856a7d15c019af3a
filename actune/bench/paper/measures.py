"""What a table of results says about methods that the paper compares, in numbers over tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from actune.bench.comparison import best, bootstrapped_gap, last_gap, matched, mean_gap, shared
from actune.bench.evidence import WEAK, Curves, Evidence, Key, Measure, Scene
from actune.bench.paper import subjects
from actune.bench.paper.measured import Measured, Part, over_parts, points_told, sound
from actune.bench.statistics import (
    FEWEST_SEEDS,
    Estimate,
    Wins,
    estimate,
    jackknife,
    paired_test,
    wilson,
    wins,
)
from actune.bench.wording import interval_told, seeds_named, spread_told

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
    return replace(over_parts(parts, lacks, len(subjects.TASKS)), least=ended)


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
            parts.append((scene, gap, f"{points_told(gap)} against {rival} at {end:,} labels{also}"))
    return over_parts(parts, _absent(evidence, ours, theirs), len(subjects.TASKS))


def gain_over_mean(evidence: Evidence, theirs: tuple[str, ...]) -> Measured:
    """How far AcTune is ahead, at its last labels, of the mean of others."""
    parts: list[Part] = []
    panels, missing = _common(evidence, "actune", theirs)
    for scene, lines in panels:
        mine, *others = (curves.values[:, -1] for curves in lines.values())
        gap = paired_test(mine.tolist(), np.mean(others, axis=0).tolist())
        parts.append((scene, gap, f"{points_told(gap)} against {' and '.join(list(lines)[1:])}"))
    return over_parts(parts, missing, len(subjects.TASKS))


def weak_accuracy(evidence: Evidence, task: str, labels: int) -> Measured:
    """AcTune's accuracy from a weak start at one count of labels."""
    scene = evidence.main(task, WEAK)
    curves = evidence.accuracy.get(Key(scene, "actune")) if scene else None
    if scene is None or curves is None or labels not in curves.labels:
        return Measured(None, wanted=1, missing=(f"{task} from a weak start: actune at {labels} labels",))
    found = estimate(list(curves.at(labels).values()))
    words = f"{scene.shown}: {spread_told(found, 2)} % with {labels} labels, {seeds_named(curves.seeds)}"
    return Measured(found, (words,), (scene.shown,), 1)


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
        gap = sound(mean_gap(part(lines[a]), part(lines[b]))) if len(lines) == 2 else None
        if gap:
            parts.append((scene, gap, points_told(gap)))
        elif len(lines) == 2:
            missing.append(f"{scene.shown}: {FEWEST_SEEDS} seeds that both {a} and {b} have")
    return over_parts(parts, missing if parts or missing else [f"{a} and {b} on one task"])


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
