"""One drawing, as files for a paper and inside a page."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.core.files import write_atomically
from actune.report.names import method_name
from actune.report.svg import STYLE, picture, short_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png")


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
                content = BytesIO()
                figure.savefig(content, format=kind, dpi=200, metadata=_NO_DATE[kind])
                write_atomically(files[-1], content.getvalue())
        return files


_ON_PAPER: dict[str, Any] = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "grid.color": "#d5d5d5",
    "svg.fonttype": "path",  # letters look alike wherever the file is opened
    "pdf.fonttype": 42,
}
_NO_DATE: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}


def legend(figure: Figure, handles: dict[str, Any], columns: int = 4, names: dict[str, str] | None = None) -> None:
    """Names below all panels."""
    texts = [short_line((names or {}).get(name) or method_name(name), longest=40) for name in handles]
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
