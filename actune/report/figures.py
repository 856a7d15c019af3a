"""Figures of numbers: learning curves, pseudo-labels, classes by round. Each is an inline <svg>."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from actune.core.facts import RoundFacts
from actune.report.axes import LineEnd, from_zero, integers, name_lines, widen
from actune.report.classes import interval
from actune.report.facts import ReportedRun
from actune.report.looks import Look, looks
from actune.report.svg import COLOURS, HATCHES, MARKERS, PAGE_WIDTH, PAPER, legend_columns, picture, write_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CLASSES = 12  # that one picture tells apart; the rest are drawn as one

MOST_TICKS = 12
LEAST_POINTS = 3  # of a chart


def drawable(runs: Sequence[ReportedRun]) -> bool:
    """Whether any of these runs has enough rounds for a chart; fewer points are told as numbers."""
    return any(len(run.rounds) >= LEAST_POINTS for run in runs)


def learning_curve(runs: Sequence[ReportedRun]) -> str:
    """Test accuracy over labels, a line for each run that was measured, and the first one's error by its test set."""
    styles = run_looks(runs)
    measured = [run for run in runs if run.measured]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        ends = []
        for run in measured:
            look = styles[run.name]
            facts = [facts for facts in run.rounds if facts.accuracy is not None]
            labels, values = [each.labels for each in facts], [100 * (each.accuracy or 0.0) for each in facts]
            axes.plot(labels, values, **look.words())
            ends.append(LineEnd(labels[-1], values[-1], run.name, look.colour))
            for final in run.finals:
                if final.accuracy is not None:
                    axes.plot(final.labels, 100 * final.accuracy, **_star(look))
                    ends.append(LineEnd(final.labels, 100 * final.accuracy, f"{run.name}, fine-tuned", look.colour))
        _error_band(axes, measured[0], styles[measured[0].name])
        _label_ticks(axes, sorted({facts.labels for run in measured for facts in run.rounds}))
        widen(axes)
        axes.set(xlabel="labels", ylabel="test accuracy (%)")
        axes.grid(True, axis="y")
        if len(ends) > 1:
            name_lines(figure, [(axes, ends)])

    return picture("curve", "Test accuracy over the number of labels.", (PAGE_WIDTH, 3.2), draw)


def pseudo_labels(runs: Sequence[ReportedRun]) -> str:
    """Number of pseudo-labels by round and, where the truth is known, the share of right ones."""
    styles = run_looks(runs)
    trusting = [run for run in runs if run.trusts]
    judged = any(run.judged for run in trusting)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 1 + judged, squeeze=False)[0]
        titles = ("number of pseudo-labels", "right pseudo-labels (%)")
        named: list[tuple[Axes, list[LineEnd]]] = []
        for axes, title, fact in zip(panels, titles, (_count, _percent_right), strict=False):
            ends = []
            for run in trusting:
                found = [(each.round, value) for each in run.rounds if (value := fact(each)) is not None]
                if found:
                    look = styles[run.name]
                    axes.plot([place for place, _ in found], [value for _, value in found], **look.words())
                    ends.append(LineEnd(*found[-1], run.name, look.colour))
            integers(axes, "x")
            axes.set(title=title, xlabel="round")
            axes.grid(True, axis="y")
            named.append((axes, ends))
        integers(panels[0], "y")
        from_zero(panels[0])
        if judged:
            widen(panels[1])
        if len(trusting) > 1:
            name_lines(figure, named)

    return picture("pseudo-labels", "Number and accuracy of the pseudo-labels by round.", (PAGE_WIDTH, 2.8), draw)


def run_looks(runs: Sequence[ReportedRun]) -> dict[str, Look]:
    """A look for each run by its name: its method's own, unless two runs have the same method."""
    methods = [run.config.request.method for run in runs]
    if len(set(methods)) == len(methods):
        return dict(zip((run.name for run in runs), looks(methods).values(), strict=True))
    return looks([run.name for run in runs])


def _error_band(axes: Axes, run: ReportedRun, look: Look) -> None:
    """Where the accuracy lies with 95 % confidence, given how many test texts there are."""
    facts = [each for each in run.rounds if each.accuracy is not None]
    bounds = [interval(each.accuracy or 0.0, run.config.resolved.test) for each in facts]
    low, high = [100 * low for low, _ in bounds], [100 * high for _, high in bounds]
    axes.fill_between([each.labels for each in facts], low, high, color=look.colour, alpha=0.13, linewidth=0, zorder=1)


def _label_ticks(axes: Axes, counts: Sequence[int]) -> None:
    if len(counts) <= MOST_TICKS:
        axes.set_xticks(counts)
    else:
        integers(axes, "x")


def _count(facts: RoundFacts) -> float:
    return facts.pseudo_labels.trained_on


def _percent_right(facts: RoundFacts) -> float | None:
    share = facts.pseudo_labels.accuracy_trained_on
    return None if share is None else 100 * share


def _labelled_classes(facts: RoundFacts) -> Sequence[int]:
    return facts.class_counts


def _pseudo_classes(facts: RoundFacts) -> Sequence[int]:
    return facts.pseudo_labels.classes_trained_on


def class_counts(run: ReportedRun, name: str) -> str | None:
    """Classes of the labelled rows by round and, where there are any, of the pseudo-labelled rows, as stacked bars.

    None where there are too few rounds or too many classes to be seen: a table tells more then.
    """
    classes = run.config.resolved.classes
    if len(classes) > MOST_CLASSES or not drawable([run]):
        return None
    columns = legend_columns(classes)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 1 + run.trusts, squeeze=False)[0]
        for axes, title, fact in zip(
            panels, ("labelled texts", "pseudo-labelled texts"), (_labelled_classes, _pseudo_classes), strict=False
        ):
            bars = _stack(axes, run, fact)
            integers(axes, "x")
            integers(axes, "y")
            axes.set(title=title, xlabel="round")
            axes.grid(True, axis="y")
        legend = figure.legend(bars, ["-"] * len(bars), loc="outside lower left", ncols=columns)
        write_names(legend, list(classes))

    height = 2.6 + 0.2 * -(-len(classes) // columns)
    return picture(
        name, "Classes of the labelled and of the pseudo-labelled texts by round.", (PAGE_WIDTH, height), draw
    )


def shown_classes(counts: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """The classes that a picture tells apart, in their own order, and those it draws as one: the rarest."""
    total = [sum(column) for column in zip(*counts, strict=True)]
    if len(total) <= MOST_CLASSES:
        return list(range(len(total))), []
    ranked = sorted(range(len(total)), key=lambda number: (-total[number], number))
    return sorted(ranked[: MOST_CLASSES - 1]), sorted(ranked[MOST_CLASSES - 1 :])


def class_style(place: int) -> tuple[str, str, str]:
    """Colour, marker and hatch of the class in a place; no two of a picture share colour and marker."""
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)], HATCHES[place // len(COLOURS) % len(HATCHES)]


def _stack(axes: Axes, run: ReportedRun, fact: Callable[[RoundFacts], Sequence[int]]) -> list[Any]:
    rounds = [facts.round for facts in run.rounds]
    floor = [0] * len(rounds)
    bars = []
    for number in range(len(run.config.resolved.classes)):
        heights = [dict(enumerate(fact(facts))).get(number, 0) for facts in run.rounds]
        colour, _, hatch = class_style(number)
        how: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": PAPER, "linewidth": 0.6}
        bars.append(axes.bar(rounds, heights, bottom=floor, width=0.7, **how))
        floor = [low + height for low, height in zip(floor, heights, strict=True)]
    return bars


def _star(look: Look) -> dict[str, Any]:
    return {
        "color": look.colour,
        "linestyle": "none",
        "marker": "*",
        "markersize": 12,
        "markeredgecolor": PAPER,
        "markeredgewidth": 0.6,
        "zorder": 4,
    }
