"""The tables of a comparison: accuracy beside macro-F1, differences, labels for a target, and one for a paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from actune.bench.comparison import last_gap, matched, mean_gap
from actune.bench.evidence import Curves, Evidence
from actune.bench.statistics import Estimate, estimate, labels_needed
from actune.bench.tables import TextTable
from actune.bench.verdict import BASELINE, Comparison
from actune.bench.wording import file_name, gap_told, in_percent, seeds_counted, spread_told
from actune.report.names import method_name

MEASURES = {"accuracy": "accuracy", "macro-F1": "macro_f1"}
TARGETS = 4  # accuracies whose price in labels is told
Lines = dict[str, Curves]


@dataclass(frozen=True)
class Compared:
    """The curves of a comparison, the best method first: only the seeds and labels that all methods have."""

    comparison: Comparison
    lines: Mapping[str, Lines]  # by measure, then by method

    @property
    def accuracy(self) -> Lines:
        return self.lines["accuracy"]

    @property
    def random(self) -> Curves:
        return self.accuracy[BASELINE]

    @property
    def methods(self) -> tuple[str, ...]:
        return self.comparison.methods

    @property
    def scene_told(self) -> str:
        scene = self.comparison.scene
        return f"{scene.shown}, {scene.model}, {scene.learner}, {seeds_counted(len(self.random.seeds))}"


def compared(evidence: Evidence, comparison: Comparison) -> Compared:
    """The curves that a comparison is about; results of an earlier version may lack macro-F1."""
    lines = {}
    for name, measure in MEASURES.items():
        found = evidence.plain_curves(comparison.scene, comparison.methods, measure)  # type: ignore[arg-type]
        together = matched(*found.values()) if len(found) == len(comparison.methods) else None
        if together is not None:
            lines[name] = dict(zip(found, together, strict=True))
    return Compared(comparison, lines)


def by_labels(found: Compared) -> TextTable:
    """Every measure of every method by number of labels, the best of each row in bold."""
    columns = [f"{method_name(method)} {measure}" for method in found.methods for measure in found.lines]
    rows, bold = [], set()
    for place, labels in enumerate(found.random.labels):
        means = {
            (method, measure): float(lines[method].mean[lines[method].labels.index(labels)])
            for measure, lines in found.lines.items()
            for method in found.methods
        }
        order = [(method, measure) for method in found.methods for measure in found.lines]
        rows.append([f"{labels:,}", *(in_percent(means[each]) for each in order)])
        for measure in found.lines:
            shown = {method: in_percent(means[method, measure]) for method in found.methods}
            best = max(shown.values(), key=float)
            bold |= {(place, 1 + order.index((each, measure))) for each, value in shown.items() if value == best}
    note = "Means over seeds in percent; the best of each row is bold."
    return TextTable("by-labels", "Accuracy and macro-F1", ["labels", *columns], rows, note, frozenset(bold))


def differences(found: Compared) -> TextTable:
    """Every method minus random, with intervals."""
    others = [method for method in found.methods if method != BASELINE]
    end = found.random.labels[-1]
    rows = []
    for method in others:
        cells = [method_name(method)]
        for lines in found.lines.values():
            pair = lines[method], lines[BASELINE]
            cells += [gap_told(mean_gap(*pair)), gap_told(last_gap(*pair))]
        rows.append(cells)
    columns = [part for measure in found.lines for part in (f"{measure}, average", f"{measure} at {end:,} labels")]
    note = (
        "Points, each method minus random, paired by seed, with 95 % t-intervals. The intervals are not corrected for "
        "the number of methods."
    )
    return TextTable("differences", "Differences to random", ["method", *columns], rows, note)


def prices(found: Compared) -> TextTable:
    """The labels that every method needs for some accuracies, by its mean curve."""
    rows = []
    for target in targets(found):
        cells = [f"{100 * target:.1f} %"]
        for method in found.methods:
            curves = found.accuracy[method]
            needed = labels_needed(curves.labels, curves.mean.tolist(), target)
            cells.append(f"more than {curves.labels[-1]:,}" if math.isinf(needed) else f"{needed:,.0f}")
        rows.append(cells)
    last = in_percent(float(found.random.mean[-1]))
    note = (
        "The number of labels at which the mean curve first reaches the accuracy, interpolated between two rounds. "
        f"Random ends at {last} %."
    )
    return TextTable(
        "labels-needed", "Labels needed for an accuracy", ["accuracy", *map(method_name, found.methods)], rows, note
    )


def targets(found: Compared) -> list[float]:
    """What random has at its end, and round accuracies between the first point and the best last one."""
    low = max(float(curves.mean[0]) for curves in found.accuracy.values())
    high = max(float(curves.mean[-1]) for curves in found.accuracy.values())
    last = float(found.random.mean[-1])
    step = next((step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if (high - low) / step <= TARGETS + 1), 0.5)
    marks = [step * number for number in range(math.floor(low / step) + 1, math.floor(high / step) + 1)]
    return sorted({*(round(mark, 4) for mark in marks if mark < high and abs(mark - last) > step / 4), last})


def for_a_paper(found: Compared) -> TextTable:
    """One line for each method with the best of each column in bold."""
    end = found.random.labels[-1]
    columns: dict[str, list[Estimate]] = {}
    for measure, lines in found.lines.items():
        columns[f"{measure}, average"] = [estimate(list(lines[each].areas().values())) for each in found.methods]
        columns[f"{measure} at {end:,}"] = [estimate(lines[each].values[:, -1].tolist()) for each in found.methods]
    gaps = [
        "–" if each == BASELINE else gap_told(mean_gap(found.accuracy[each], found.random)) for each in found.methods
    ]
    told = {name: [spread_told(each) for each in values] for name, values in columns.items()}
    rows = [
        [method_name(method), *(cells[place] for cells in told.values()), gaps[place]]
        for place, method in enumerate(found.methods)
    ]
    bold = {
        (place, 1 + column)
        for column, values in enumerate(columns.values())
        for place in _best([each.mean for each in values])
    }
    title = f"Active learning on {found.scene_told}"
    note = (
        f"Means and standard deviations in percent, averaged over {found.random.labels[0]:,} to {end:,} labels and at "
        f"{end:,} labels. The last column is the difference in average accuracy in points, with its 95 % interval. "
        f"{found.comparison.p_of}"
    )
    names = ["method", *told, "minus random"]
    name = file_name(f"compare-{found.comparison.scene.task}")
    return TextTable(name, title, names, rows, note, frozenset(bold))


def _best(values: Sequence[float]) -> list[int]:
    """The places of the largest, as they are printed."""
    shown = [in_percent(value) for value in values]
    best = in_percent(max(values))
    return [place for place, value in enumerate(shown) if value == best]
