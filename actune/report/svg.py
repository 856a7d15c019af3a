"""Matplotlib drawings as SVG that lives inside a page: readable text, the page's own ink, the same bytes every time."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from actune.core.printing import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

# Okabe and Ito's colours, which the colour-blind tell apart; markers and hatches do it without any colour
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx")
OTHER = "#8a8a8a"

# colours that stand for the page's own, which follow its light or dark scheme
INK, RULE, PAPER = "#010101", "#020202", "#fefefe"
SCHEME = {
    INK: "currentColor",
    RULE: "var(--rule)",
    PAPER: "var(--paper)",
    **{colour: f"var(--hue{number})" for number, colour in enumerate(COLOURS, 1)},
}
PAGE_WIDTH = 7.4  # inches of every picture: at the page's width a point of type is a little more than a pixel
REM_PER_INCH = 6.5  # of a picture in a page that has room for it

STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a class may be called $x$
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
}
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")  # a hundredth of a point is less than anybody sees
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"


def picture(name: str, alt: str, size: tuple[float, float], draw: Callable[[Figure], None]) -> str:
    """An inline <svg> of what `draw` puts on a figure of `size` inches; `name` is unique in the page."""
    from matplotlib import style
    from matplotlib.figure import Figure

    buffer = BytesIO()
    with style.context(["default", {**STYLE, "svg.hashsalt": name}]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the reader's browser has the letter
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return _inline(buffer.getvalue(), name, alt, size[0])


def short_line(text: str, longest: int = 28) -> str:
    """A user's words as one short printable line."""
    line = printable(text)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def legend_columns(names: Sequence[str], width: float = PAGE_WIDTH, longest: int = 28) -> int:
    """How many names of a legend fit side by side into so many inches: long names need wide columns."""
    letters = max((len(short_line(name, longest)) for name in names), default=0)
    return max(1, min(4, int(72 * width / (42 + 5.3 * letters))))


def write_names(legend: Legend, names: list[str], longest: int = 28) -> None:
    """Sets the names of a legend afterwards: Matplotlib would drop an entry that begins with an underscore."""
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(short_line(name, longest))


def _inline(content: bytes, name: str, alt: str, width: float) -> str:
    root = ElementTree.fromstring(content)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):  # a style in a page is a style for all of it
                parent.remove(child)
    for group in root.iter(f"{_SVG}g"):
        _share_style(group)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        element.attrib.update({key: _in_page(key, value, name) for key, value in element.attrib.items()})
        if _LINK in element.attrib:
            element.set("href", element.attrib.pop(_LINK))
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    widest = f"max-width: {width * REM_PER_INCH:.1f}rem; min-width: min(32rem, {width * REM_PER_INCH:.1f}rem)"
    root.attrib.update({"role": "img", "aria-label": alt, "style": widest})
    return ElementTree.tostring(root, encoding="unicode")


def _share_style(group: ElementTree.Element) -> None:
    """A style that all points of a group have is said once: a map has thousands of them."""
    points = group.findall(f"{_SVG}use")
    styles = {point.get("style") for point in points}
    alone = len(points) == len([child for child in group if child.tag != f"{_SVG}defs"]) > 1
    if alone and len(styles) == 1 and (style := styles.pop()):
        group.set("style", style)
        for point in points:
            del point.attrib["style"]


def _in_page(key: str, value: str, name: str) -> str:
    """An attribute with ids of this picture alone and with the page's colours."""
    if key == "id":
        return f"{name}-{value}"
    if key == _LINK:
        return f"#{name}-{value.removeprefix('#')}"
    if key in ("x", "y", "d"):
        return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}", value)
    value = value.replace("url(#", f"url(#{name}-")
    for stand_in, colour in SCHEME.items():
        value = value.replace(stand_in, colour)
    return value
