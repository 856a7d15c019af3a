"""Figures of numbers: learning curves, pseudo-labels, classes by round. Each is an inline <svg>."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from actune.core.facts import RoundFacts
from actune.report.facts import ReportedRun
from actune.report.svg import COLOURS, HATCHES, INK, LINES, MARKERS, OTHER, PAGE_WIDTH, PAPER, picture, write_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CLASSES = 12  # that one picture tells apart; the rest are drawn as one

MOST_TICKS = 12


def learning_curve(runs: Sequence[ReportedRun]) -> str:
    """Test accuracy over labels, a line for each run that was measured."""
    measured = [(place, run) for place, run in enumerate(runs) if run.measured]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        handles, names = [], []
        for place, run in measured:
            facts = [facts for facts in run.rounds if facts.accuracy is not None]
            (line,) = axes.plot(
                [each.labels for each in facts], [100 * (each.accuracy or 0.0) for each in facts], **_line(place)
            )
            handles.append(line)
            names.append(run.name)
            if run.final and run.final.accuracy is not None:
                (star,) = axes.plot(run.final.labels, 100 * run.final.accuracy, **_star(place))
                handles.append(star)
                names.append(f"{run.name}, fine-tuned at the end")
        counts = sorted({facts.labels for _, run in measured for facts in run.rounds})
        if len(counts) <= MOST_TICKS:
            axes.set_xticks(counts)
        else:
            _integers(axes, "x")
        axes.set(xlabel="labels", ylabel="test accuracy (%)")
        axes.grid(True, axis="y")
        legend = figure.legend(handles, ["-"] * len(handles), loc="outside lower left", ncols=3)
        write_names(legend, names, longest=60)

    return picture("curve", "Test accuracy over the number of labels.", (PAGE_WIDTH, 3.4), draw)


def pseudo_labels(runs: Sequence[ReportedRun]) -> str:
    """Number of pseudo-labels by round and, where the truth is known, the share of right ones."""
    trusting = [(place, run) for place, run in enumerate(runs) if run.trusts]
    judged = any(run.judged for _, run in trusting)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 1 + judged, squeeze=False)[0]
        titles = ("number of pseudo-labels", "right ones among them (%)")
        for axes, title, fact in zip(panels, titles, (_count, _percent_right), strict=False):
            handles: list[Any] = []
            for place, run in trusting:
                found = [(each.round, value) for each in run.rounds if (value := fact(each)) is not None]
                (line,) = axes.plot([place for place, _ in found], [value for _, value in found], **_line(place))
                handles.append(line)
            _integers(axes, "x")
            axes.set(title=title, xlabel="round")
            axes.grid(True, axis="y")
        _integers(panels[0], "y")
        panels[0].set_ylim(bottom=0)
        if len(trusting) > 1:
            legend = figure.legend(handles, ["-"] * len(handles), loc="outside lower left", ncols=3)
            write_names(legend, [run.name for _, run in trusting], longest=60)

    return picture("pseudo-labels", "Number and accuracy of the pseudo-labels by round.", (PAGE_WIDTH, 2.8), draw)


def _count(facts: RoundFacts) -> float:
    return facts.pseudo_labels.trained_on


def _percent_right(facts: RoundFacts) -> float | None:
    share = facts.pseudo_labels.accuracy_trained_on
    return None if share is None else 100 * share


def _labelled_classes(facts: RoundFacts) -> Sequence[int]:
    return facts.class_counts


def _pseudo_classes(facts: RoundFacts) -> Sequence[int]:
    return facts.pseudo_labels.classes_trained_on


def class_counts(run: ReportedRun, name: str) -> str:
    """Classes of the labelled rows by round and, where there are any, of the pseudo-labelled rows, as stacked bars."""
    classes = run.config.resolved.classes
    shown, others = shown_classes([facts.class_counts for facts in run.rounds])

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 1 + run.trusts, squeeze=False)[0]
        for axes, title, fact in zip(
            panels, ("labelled texts", "pseudo-labelled texts"), (_labelled_classes, _pseudo_classes), strict=False
        ):
            bars = _stack(axes, run, fact, shown, others)
            _integers(axes, "x")
            _integers(axes, "y")
            axes.set(title=title, xlabel="round")
            axes.grid(True, axis="y")
        legend = figure.legend(bars, ["-"] * len(bars), loc="outside lower left", ncols=4)
        write_names(legend, [classes[number] for number in shown] + _rest(others))

    rows = (len(shown) + 4) // 4
    return picture(
        name, "Classes of the labelled and of the pseudo-labelled texts by round.", (PAGE_WIDTH, 2.6 + 0.2 * rows), draw
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


def _stack(
    axes: Axes,
    run: ReportedRun,
    fact: Callable[[RoundFacts], Sequence[int]],
    shown: Sequence[int],
    others: Sequence[int],
) -> list[Any]:
    rounds = [facts.round for facts in run.rounds]
    floor = [0] * len(rounds)
    bars = []
    for place, group in enumerate([*([number] for number in shown), *([others] if others else [])]):
        heights = [sum(fact(facts)[number] for number in group) for facts in run.rounds]
        colour, _, hatch = class_style(place)
        bars.append(
            axes.bar(
                rounds,
                heights,
                bottom=floor,
                width=0.7,
                color=OTHER if group is others else colour,
                hatch=hatch,
                edgecolor=PAPER,
                linewidth=0.6,
            )
        )
        floor = [low + height for low, height in zip(floor, heights, strict=True)]
    return bars


def _rest(others: Sequence[int]) -> list[str]:
    return [f"{len(others)} other classes"] if others else []


def _line(place: int) -> dict[str, Any]:
    """A run's line: it differs from others by colour, dashes and marker."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": LINES[place % len(LINES)],
        "marker": MARKERS[place % len(MARKERS)],
        "markersize": 5,
        "linewidth": 1.8,
        "markeredgecolor": PAPER,
        "markeredgewidth": 0.6,
    }


def _star(place: int) -> dict[str, Any]:
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": "none",
        "marker": "*",
        "markersize": 13 - 2 * (place % 3),
        "markeredgecolor": INK,
        "markeredgewidth": 0.6,
    }


def _integers(axes: Axes, which: str) -> None:
    from matplotlib.ticker import MaxNLocator

    getattr(axes, f"{which}axis").set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
