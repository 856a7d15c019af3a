"""How each method is drawn, the same in every figure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from actune.report.svg import COLOURS, INK, LINES, MARKERS, OTHER, PAPER

BLUE, ORANGE, GREEN, PINK, SKY, RED, _ = COLOURS
SOLID, DASHED, DOTTED, MIXED, FINE = LINES
PALETTE = (BLUE, ORANGE, GREEN, PINK, SKY, RED, INK, OTHER)


@dataclass(frozen=True)
class Look:
    """How a method is drawn: dashes and marker tell it from all others without any colour."""

    colour: str
    line: Any
    marker: str
    bold: bool = False  # our own: heavy lines and full markers

    def words(self) -> dict[str, Any]:
        """As Matplotlib's words."""
        return {
            "color": self.colour,
            "linestyle": self.line,
            "linewidth": 2.0 if self.bold else 1.3,
            "marker": self.marker,
            "markersize": 5 if self.bold else 4.5,
            "markerfacecolor": self.colour if self.bold else PAPER,
            "markeredgecolor": PAPER if self.bold else self.colour,
            "markeredgewidth": 0.6 if self.bold else 1.0,
            "zorder": 3 if self.bold else 2,
        }


LOOKS = {
    "thrifty": Look(INK, SOLID, "X", True),
    "thrifty-query": Look(INK, FINE, "X", True),
    "thrifty-any": Look(RED, DOTTED, "p"),
    "thrifty-one-student": Look(SKY, FINE, "p"),
    "actune": Look(BLUE, SOLID, "o", True),
    "actune-cal": Look(RED, SOLID, "s", True),
    "actune-badge": Look(GREEN, SOLID, "^", True),
    "actune-alps": Look(PINK, SOLID, "D", True),
    "actune-bald": Look(SKY, SOLID, "v", True),
    "actune-margin": Look(ORANGE, SOLID, "P", True),
    "actune-query": Look(BLUE, FINE, "o", True),
    "actune-cal-query": Look(RED, FINE, "s", True),
    "random": Look(OTHER, DOTTED, "o"),
    "entropy": Look(ORANGE, DASHED, "s"),
    "bald": Look(GREEN, MIXED, "^"),
    "badge": Look(PINK, DOTTED, "D"),
    "alps": Look(SKY, DASHED, "v"),
    "cal": Look(INK, MIXED, "P"),
    "st": Look(OTHER, DOTTED, "^"),
    "ust": Look(ORANGE, DASHED, "o"),
    "cosine": Look(GREEN, MIXED, "D"),
    "asst": Look(PINK, DOTTED, "s"),
    "ceal": Look(SKY, DASHED, "P"),
    "bass": Look(INK, MIXED, "v"),
    "revival": Look(OTHER, DASHED, "X"),
    "least-confidence": Look(GREEN, DOTTED, "X"),
    "margin": Look(INK, MIXED, "X"),
    "hast": Look(GREEN, DASHED, "p"),
    "typiclust": Look(PINK, MIXED, "p"),
    "actune-no-regions": Look(ORANGE, DASHED, "^"),
    "actune-no-memory": Look(GREEN, DOTTED, "v"),
    "actune-no-weights": Look(INK, MIXED, "s"),
}


def looks(names: Sequence[str], panels: Sequence[Collection[str]] | None = None) -> dict[str, Look]:
    """A look for each name: a method's own, and for others one that nobody in the same figure has.

    No two lines of a panel share a colour as long as there are colours left; by default all names are one panel.
    """
    found = {name: LOOKS[name] for name in names if name in LOOKS}
    taken = {(look.line, look.marker) for look in found.values()}
    free = [each for each in product(LINES[1:] if found else LINES, MARKERS) if each not in taken]
    # neighbours differ in both: every line in turn, and every marker in turn
    free = sorted(free, key=lambda each: (MARKERS.index(each[1]) - LINES.index(each[0])) % len(MARKERS))
    for place, name in enumerate(name for name in names if name not in found):
        found[name] = Look(PALETTE[place % len(PALETTE)], *free[place % len(free)])
    coloured = _recoloured(found, panels or [names])
    return {name: coloured[name] for name in names}


def _recoloured(found: dict[str, Look], panels: Sequence[Collection[str]]) -> dict[str, Look]:
    """The same looks with other colours where two of one panel have the same; our own and Random keep theirs."""
    colours: dict[str, str] = {}
    for name, look in sorted(found.items(), key=lambda each: not (each[1].bold or each[0] == "random")):
        beside = [colours[other] for panel in panels if name in panel for other in panel if other in colours]
        choice = [look.colour, *PALETTE]
        colours[name] = min(choice, key=lambda colour: (beside.count(colour), choice.index(colour)))
    return {name: replace(look, colour=colours[name]) for name, look in found.items()}
