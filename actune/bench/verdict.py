"""Does active learning help on this task: methods beside random, answered in a few plain sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from actune.bench.comparison import last_gap, matched, matching, mean_gap, unequal_told
from actune.bench.evidence import Curves, Evidence, ResultsTable, Scene
from actune.bench.statistics import FEWEST_SEEDS, MOST_RUNS, Estimate, estimate, holm, runs_wanted
from actune.bench.tables import TextTable
from actune.bench.wording import gap_told, in_percent, p_told, seeds_counted, seeds_named, signed, spread_told
from actune.errors import DataError

HelpVerdict = Literal["helps", "hurts", "cannot tell"]
BASELINE = "random"
CERTAIN = 0.05  # of p after Holm's correction


@dataclass(frozen=True)
class Against:
    """One method beside random."""

    method: str
    last: Estimate
    area: Estimate
    gap: Estimate  # to random, on average over labels
    p: float | None  # of this gap, after Holm's correction over the methods
    labels: float  # at which it has what random has at the end; infinite: not reached
    saved: Estimate  # share of labels


@dataclass(frozen=True)
class Comparison:
    """An answer with its reasons."""

    answer: HelpVerdict
    best: str
    sentences: tuple[str, ...]
    table: TextTable
    p: float | None  # of the best method minus random, after Holm's correction
    p_of: str  # which test this p comes from, in a sentence
    scene: Scene
    methods: tuple[str, ...]  # the best first, random last

    def facts(self) -> dict[str, Any]:
        """The same for machines."""
        rows = [dict(zip(self.table.columns, row, strict=True)) for row in self.table.rows]
        test = {"p": self.p, "p_of": self.p_of}
        return {"answer": self.answer, "best": self.best, "sentences": list(self.sentences), **test, "methods": rows}


def compare_with_random(results: ResultsTable, scene: Scene | None = None) -> Comparison:
    """Whether the best of some methods is better than random, by how many labels, and how certain that is."""
    evidence = Evidence(results)
    if not evidence.accuracy:
        raise DataError("these results have no accuracies to compare: the runs need a test set")
    scene = scene or evidence.scenes[0]
    lines = evidence.plain_curves(scene)
    if BASELINE not in lines or len(lines) < 2:
        raise DataError(
            f"a comparison needs {BASELINE} and at least one other method, but {scene.task!r} has only "
            f"{', '.join(lines)}"
        )
    together = matched(*lines.values())
    if together is None:
        raise DataError(f"the methods on {scene.task!r} have no seed or no number of labels in common")
    curves = dict(zip(lines, together, strict=True))
    random = curves.pop(BASELINE)
    others = sorted(_against(curves, random), key=lambda each: -each.area.mean)
    best = others[0]
    answer = _answer(best)
    gap = last_gap(curves[best.method], random)
    assert gap is not None  # they were matched
    sentences = [_first(answer, best, random, len(others)), *_labels(best, random), _end(best, random, gap)]
    if answer == "cannot tell":
        sentences.append(_wanting(best, len(others)))
    table = _table(scene, others, random, unequal_told(lines))
    methods = (*(each.method for each in others), BASELINE)
    test = tested_how(best, random, sum(each.p is not None for each in others))
    return Comparison(answer, best.method, tuple(sentences), table, best.p, test, scene, methods)


def tested_how(best: Against, random: Curves, methods: int) -> str:
    """What the one p-value is of."""
    if best.p is None:
        return "There is no p-value: a test needs at least two seeds whose differences are not all the same."
    corrected = f", after Holm's correction over {methods} methods" if methods > 1 else ""
    return (
        f"p {_p(best.p)} comes from a two-sided paired t-test of {best.method} minus random, paired by seed "
        f"({seeds_counted(best.gap.runs)}), on accuracy averaged over {random.labels[0]:,} to {random.labels[-1]:,} "
        f"labels{corrected}."
    )


def _against(curves: dict[str, Curves], random: Curves) -> list[Against]:
    gaps = {method: mean_gap(each, random) for method, each in curves.items()}
    known = {method: gap for method, gap in gaps.items() if gap is not None}
    corrected = holm([gap.p for gap in known.values()])
    found = []
    for (method, gap), p in zip(known.items(), corrected, strict=True):
        each = curves[method]
        at = matching(each, random)
        assert at is not None  # they were matched
        areas = estimate(list(each.areas().values()))
        found.append(Against(method, estimate(each.values[:, -1].tolist()), areas, gap, p, *at))
    return found


def _answer(best: Against) -> HelpVerdict:
    """By the best method on average: if even that is behind, so are all."""
    if best.gap.runs < FEWEST_SEEDS or best.p is None or best.p >= CERTAIN:
        return "cannot tell"
    return "helps" if best.gap.mean > 0 else "hurts"


def _first(answer: HelpVerdict, best: Against, random: Curves, methods: int) -> str:
    labels = f"on average over {random.labels[0]:,} to {random.labels[-1]:,} labels"
    of = f"the best of {methods} methods, {best.method}," if methods > 1 else best.method
    corrected = f" after Holm's correction over {methods} methods" if methods > 1 else ""
    test = seeds_counted(best.gap.runs) + ("" if best.p is None else f", p {_p(best.p)}{corrected}")
    number = f"{_interval(best.gap)} points {labels} ({test})"
    if answer == "helps":
        return f"Active learning helps here: {of} is ahead of random by {number}."
    if answer == "hurts":
        even = f"even {of}" if methods > 1 else of
        return f"Active learning hurts here: {even} differs from random by {number}."
    return f"These runs cannot tell whether active learning helps here: {of} differs from random by {number}."


def _labels(best: Against, random: Curves) -> list[str]:
    """Labels that are saved at random's last accuracy."""
    end, accuracy = random.labels[-1], in_percent(float(random.mean[-1]))
    if math.isinf(best.labels):
        return [
            f"{best.method} never reaches the {accuracy} % that random reaches with {end:,} labels: it saves no labels."
        ]
    saved = end - best.labels
    told = f"{best.method} needs {best.labels:,.0f} labels for the {accuracy} % that random reaches with {end:,}"
    if saved < 0.5:
        return [f"{told}: it saves no labels."]
    told += f": it saves {saved:,.0f} labels or {100 * best.saved.mean:.0f} %"
    if best.saved.bounds is None:
        return [f"{told}; {seeds_counted(best.saved.runs)} cannot say how certain that is."]
    low, high = (100 * min(1.0, bound) for bound in best.saved.bounds)
    return [f"{told} (95 % interval over seeds: {_minus(low)} to {_minus(high)} %)."]


def _end(best: Against, random: Curves, gap: Estimate) -> str:
    end, last = random.labels[-1], estimate(random.values[:, -1].tolist())
    return (
        f"With {end:,} labels {best.method} has {spread_told(best.last)} % and random {spread_told(last)} %: "
        f"a difference of {_interval(gap)} points."
    )


def _wanting(best: Against, methods: int) -> str:
    """What more would be needed."""
    seeds = best.gap.runs
    if seeds < FEWEST_SEEDS:
        return f"A verdict needs at least {FEWEST_SEEDS} seeds, and there {'is 1' if seeds == 1 else f'are {seeds}'}."
    if best.gap.bounds is None:
        return "All seeds gave the same difference, so its variation is unknown: use a larger test set or other seeds."
    wanted = runs_wanted(best.gap, methods)
    if wanted is None:
        return f"Detecting such a small difference would take more than {MOST_RUNS} seeds, by a rough estimate."
    more = max(1, wanted - seeds)
    told = f"About {more} more seed{'' if more == 1 else 's'} would probably detect a difference of this size"
    return f"{told}, by a rough estimate from {seeds} seeds."


def _table(scene: Scene, others: list[Against], random: Curves, unequal: str) -> TextTable:
    end = random.labels[-1]
    rows = [
        [
            each.method,
            spread_told(each.last),
            spread_told(each.area),
            gap_told(each.gap),
            f"not within {end:,}" if math.isinf(each.labels) else f"{each.labels:,.0f}",
        ]
        for each in others
    ]
    last, areas = estimate(random.values[:, -1].tolist()), estimate(list(random.areas().values()))
    rows.append([BASELINE, spread_told(last), spread_told(areas), "–", f"{end:,}"])
    columns = ["method", f"at {end:,} labels", "on average", "minus random", "labels for random's last accuracy"]
    seeds = seeds_counted(len(random.seeds))
    title = f"{scene.shown}: accuracy in percent over {seeds} ({scene.model}, {scene.learner})"
    note = "Means ± standard deviations over seeds. Differences are of the average over labels, with 95 % intervals."
    if unequal:
        note += f" All are compared under {seeds_named(random.seeds)}, which all have: {unequal}."
    return TextTable("comparison", title, columns, rows, note)


def _interval(found: Estimate) -> str:
    if found.bounds is None:
        return signed(found.mean, 1)
    return f"{signed(found.mean, 1)} [{signed(found.bounds[0], 1)}, {signed(found.bounds[1], 1)}]"


def _p(p: float) -> str:
    told = p_told(p)
    return told if told.startswith("<") else f"= {told}"


def _minus(number: float) -> str:
    return f"{number:.0f}".replace("-", "−")
