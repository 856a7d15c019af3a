"""One drawing, as files for a paper and inside a page; every method looks the same in all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.bench.paper import shown
from actune.report.svg import COLOURS, INK, LINES, MARKERS, OTHER, PAPER, STYLE, picture, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png")
WIDTH = 7.4  # inches, as wide as a page
BLUE, ORANGE, GREEN, PINK, SKY, RED, _ = COLOURS
SOLID, DASHED, DOTTED, MIXED, FINE = LINES


@dataclass(frozen=True)
class Drawing:
    """A figure: what it shows, in words, and how it is drawn."""

    name: str  # of its files
    title: str
    caption: str
    size: tuple[float, float]  # inches
    draw: Callable[[Figure], None]

    def inline(self) -> str:
        """As an <svg> of a page, in the page's own ink."""
        return picture(self.name, self.title, self.size, self.draw)

    def save(self, folder: Path, formats: Iterable[str] = FORMATS) -> list[Path]:
        """As files, the same bytes every time."""
        from matplotlib import style
        from matplotlib.figure import Figure

        files = []
        with style.context(["default", {**STYLE, **_ON_PAPER, "svg.hashsalt": self.name}]), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")
            figure = Figure(figsize=self.size, layout="constrained")
            self.draw(figure)
            for kind in formats:
                files.append(folder / f"{self.name}.{kind}")
                figure.savefig(files[-1], format=kind, dpi=200, metadata=_NO_DATE[kind])
        return files


@dataclass(frozen=True)
class Missing:
    """A figure or table that no cell speaks for, and the grid that would fill it."""

    name: str
    title: str
    needs: str
    grid: str


_ON_PAPER: dict[str, Any] = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "grid.color": "#d5d5d5",
    "svg.fonttype": "path",  # letters look alike wherever the file is opened
    "pdf.fonttype": 42,
}
_NO_DATE: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}


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
    "auto": Look(INK, SOLID, "X", True),
    "auto-query": Look(INK, FINE, "X", True),
    "auto-no-groups": Look(ORANGE, DASHED, "D"),
    "auto-no-balance": Look(GREEN, MIXED, "o"),
    "auto-one-student": Look(SKY, DOTTED, "P"),
    "auto-no-switch": Look(RED, FINE, "D"),
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


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each name: a method's own, and for others one that nobody in the same figure has."""
    found = {name: LOOKS[name] for name in names if name in LOOKS}
    taken = {(look.line, look.marker) for look in found.values()}
    free = [each for each in product(LINES[1:] if found else LINES, MARKERS) if each not in taken]
    # neighbours differ in both: every line in turn, and every marker in turn
    free = sorted(free, key=lambda each: (MARKERS.index(each[1]) - LINES.index(each[0])) % len(MARKERS))
    for place, name in enumerate(name for name in names if name not in found):
        line, marker = free[place % len(free)]
        found[name] = Look(COLOURS[place % (len(COLOURS) - 1)], line, marker)
    return {name: found[name] for name in names}


def legend(figure: Figure, handles: dict[str, Any], columns: int = 4, names: dict[str, str] | None = None) -> None:
    """Names below all panels."""
    texts = [plain((names or {}).get(name) or shown(name), longest=40) for name in handles]
    box = figure.legend(list(handles.values()), ["-"] * len(handles), loc="outside lower left", ncols=columns)
    for text, name in zip(box.get_texts(), texts, strict=True):
        text.set_text(name)


def axes_in_rows(figure: Figure, count: int, columns: int) -> list[Axes]:
    """Axes in rows; places that are not needed stay empty."""
    rows = -(-count // columns)
    grid = figure.subplots(rows, columns, squeeze=False)
    found = list(grid.flat)
    for axes in found[count:]:
        axes.set_visible(False)
    return found[:count]
