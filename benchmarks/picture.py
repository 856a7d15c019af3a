"""Draws the picture of the README: the learning curve of the default method beside random sampling.

    python benchmarks/picture.py

A line is the mean over the data sets of few_loop.jsonl, round by round; a band is the 95 % interval of that mean over
seeds. A data set with more than 50 classes begins with more than 50 labels, one for each class. The file is an SVG
without a background whose colours can be read on a light and on a dark page.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas
from matplotlib import style
from matplotlib.figure import Figure
from scipy.stats import t

from actune.report.axes import integers
from actune.report.svg import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HERE = Path(__file__).parent
TABLE = HERE / "results" / "few_loop.jsonl"
PICTURE = HERE.parent / "docs" / "images" / "curve.svg"
INK, BLUE, GREY = "#7d8590", "#2f81d6", "#8b949e"  # each has a contrast of 3.5 or more on white and on #0d1117
LINES = {"thrifty": ("thrifty (the default)", BLUE, "-"), "random": ("random sampling", GREY, "--")}
LOOK = {
    **STYLE,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    "svg.fonttype": "path",  # letters look alike wherever the file is shown
    "svg.hashsalt": "curve",
    "grid.color": "#80808040",
    "font.size": 11,
    "axes.titlesize": 11,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the picture of the README.")
    parser.add_argument("--table", type=Path, default=TABLE, help="lines of benchmarks/few/loop.py")
    parser.add_argument("--out", type=Path, default=PICTURE)
    words = parser.parse_args()
    rows = read(words.table)
    with style.context(["default", LOOK]):
        figure = Figure(figsize=(7.6, 3.7), layout="constrained")
        draw(figure.subplots(), rows)
        words.out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(words.out, transparent=True, metadata={"Date": None})
    print(f"{words.out}: {words.out.stat().st_size:,} bytes")


def read(table: Path) -> Any:
    """A row for each round of both methods, with the usual number of labels in this round."""
    rows = pandas.read_json(table, lines=True)
    rows = rows[rows["method"].isin(LINES)].explode(["labels", "accuracy"]).astype({"labels": int, "accuracy": float})
    rows["round"] = rows.groupby(["method", "task", "seed"]).cumcount()
    rows["labels"] = rows.groupby("round")["labels"].transform("min")
    return rows


def draw(axes: Axes, rows: Any) -> None:
    """A line and a band for each method, with its name beside its end."""
    for method, (name, colour, line) in LINES.items():
        by_seed = means_of_seeds(rows[rows["method"] == method])
        mean = by_seed.mean()
        half = t.ppf(0.975, len(by_seed) - 1) * by_seed.sem()
        axes.plot(mean.index, mean, color=colour, linestyle=line, linewidth=2.4, marker="o", markersize=4.5)
        axes.fill_between(mean.index, mean - half, mean + half, color=colour, alpha=0.18, linewidth=0)
        end = (mean.index[-1], mean.iloc[-1])
        axes.annotate(name, end, (9, 0), textcoords="offset points", va="center", color=colour, fontweight="bold")
    data, seeds = rows["task"].nunique(), rows["seed"].nunique()
    axes.set_xticks([int(rows["labels"].min()), *range(100, int(rows["labels"].max()) + 1, 100)])
    integers(axes, "y")
    axes.set(xlabel="labels", ylabel="test accuracy (%)", title=f"Mean of {data} data sets, {seeds} seeds each")
    axes.grid(True, axis="y")


def means_of_seeds(rows: Any) -> Any:
    """Accuracy in per cent, averaged over the data sets: a row for each seed, a column for each number of labels."""
    whole = rows.pivot_table(index="seed", columns=["labels", "task"], values="accuracy")
    return 100 * whole.T.groupby(level="labels").mean().T


if __name__ == "__main__":
    main()
