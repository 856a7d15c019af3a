"""What a table of results says about settings of AcTune: what each value of them changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from actune.bench.comparison import last_gap, mean_gap
from actune.bench.evidence import Curves, Evidence, Scene
from actune.bench.paper import subjects
from actune.bench.paper.measured import Measured, Part, over_parts, phrases, points_told, second_half, sound
from actune.bench.statistics import FEWEST_SEEDS


def effect_of_setting(evidence: Evidence, setting: str) -> Measured:
    """How far the best value of a setting is ahead of the worst at the last labels, where that is most."""
    parts: list[Part] = []
    missing: list[str] = []
    for scene in subjects.main_scenes(evidence):
        values = _values_of(evidence, scene, setting)
        missing += _too_few(evidence, scene, "actune", (setting,))
        gaps = {(a, b): sound(last_gap(values[a], values[b])) for a, b in permutations(values, 2)}
        known = {pair: gap for pair, gap in gaps.items() if gap is not None}
        if known:
            a, b = max(known, key=lambda pair: known[pair].mean)  # under the same seeds, as means may not be
            words = f"{points_told(known[a, b])} between {setting} {a:g} and {b:g} of {len(values)} values"
            parts.append((scene, known[a, b], words))
    if not parts:
        return Measured(None, missing=(f"actune with two or more values of {setting}", *missing))
    widest = max(parts, key=lambda part: part[1].mean)
    return Measured(widest[1], phrases(parts), tuple(scene.shown for scene, _, _ in parts), missing=tuple(missing))


def inner_is_better(evidence: Evidence, setting: str) -> Measured:
    """How far a setting's usual value is ahead of the smallest and the largest tried: the smaller of the two."""
    parts: list[Part] = []
    missing: list[str] = []
    for scene in subjects.main_scenes(evidence):
        values = _values_of(evidence, scene, setting)
        missing += _too_few(evidence, scene, "actune", (setting,))
        usual = subjects.setting(evidence, scene, setting)
        if usual not in values or len(values) < 3 or usual in (min(values), max(values)):
            continue
        gaps = {end: sound(last_gap(values[usual], values[end])) for end in (min(values), max(values))}
        known = {end: gap for end, gap in gaps.items() if gap is not None}
        if len(known) == 2:
            words = " and ".join(f"{points_told(gap)} to {end:g}" for end, gap in known.items())
            least = min(known.values(), key=lambda gap: gap.mean)
            parts.append((scene, least, f"from {setting} {usual:g} {words}"))
    wanting = [] if parts else [f"actune with a smaller and a larger value of {setting}"]
    return over_parts(parts, wanting + missing)


def late_gap_of_momentum(evidence: Evidence) -> Measured:
    """How far the largest last momentum is ahead of the smallest in late rounds, of one first momentum if possible."""
    parts: list[Part] = []
    missing: list[str] = []
    momenta = ("momentum_low", "momentum_high")
    for scene in subjects.main_scenes(evidence):
        values = _swept(evidence, scene, "actune", momenta)
        missing += _too_few(evidence, scene, "actune", momenta)
        pair = _widest(list(values))
        gap = sound(mean_gap(second_half(values[pair[1]]), second_half(values[pair[0]]))) if pair else None
        if pair and gap:
            told = " and ".join(f"m_L {low:g}, m_H {high:g}" for low, high in reversed(pair))
            parts.append((scene, gap, f"{points_told(gap)} between {told}"))
    return over_parts(parts, ([] if parts else ["actune with two last momenta"]) + missing)


def _widest(values: Sequence[tuple[float, ...]]) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Two settings of momentum: that with the smallest last one and that with the largest, of one first one if any."""
    pairs = [(a, b) for a in values for b in values if a[1] < b[1]]
    return max(pairs, key=lambda pair: (pair[0][0] == pair[1][0], pair[1][1] - pair[0][1]), default=None)


def _swept(evidence: Evidence, scene: Scene, method: str, names: tuple[str, ...]) -> dict[tuple[float, ...], Curves]:
    found = subjects.swept(evidence, scene, method, names)
    return {values: curves for values, curves in found.items() if len(curves.seeds) >= FEWEST_SEEDS}


def _values_of(evidence: Evidence, scene: Scene, setting: str) -> dict[float, Curves]:
    return {value: curves for (value,), curves in _swept(evidence, scene, "actune", (setting,)).items()}


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
