"""Drawings of a table of one's own: how methods look, and what a figure of a scene shows."""

from __future__ import annotations

from itertools import combinations

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from actune.bench.evidence import Evidence
from actune.bench.figures.scenes import methods_drawing, settings_drawings
from actune.methods.recipes import RECIPES
from actune.report.looks import LOOKS, looks
from tests.bench.planted import Planted, cell


def test_every_pair_of_methods_differs_without_colour():
    signs = {(str(look.line), look.marker) for look in LOOKS.values()}
    assert len(signs) == len(LOOKS) and set(RECIPES) <= set(LOOKS)


def test_names_that_nobody_knows_differ_too():
    names = ["actune", "random", *(f"mine {number}" for number in range(20))]
    for a, b in combinations(looks(names).values(), 2):
        assert (a.line, a.marker) != (b.line, b.marker)


ASKING, TRUSTING = ("random", "entropy", "bald", "badge", "cal"), ("st", "ust", "cosine", "asst", "ceal")


def test_many_methods_are_shown_in_two_panels():
    rows = [row for method in (*ASKING, *TRUSTING) for row in cell("mine", method, [0.5, 0.6])]
    evidence, figure = Evidence(Planted(rows)), Figure(layout="constrained")
    methods_drawing(evidence, evidence.scenes[0]).draw(figure)
    first, second = figure.axes
    assert (len(first.lines), len(second.lines)) == (len(ASKING), len(TRUSTING))


def test_changed_settings_stand_beside_the_usual_ones_unless_another_figure_has_them():
    rows = [row for variant in ("", "growth=10", "beta=1") for row in cell("mine", "actune", [0.5, 0.6], 0, variant)]
    evidence = Evidence(Planted(rows))
    drawings = [settings_drawings(evidence, evidence.scenes[0], left_out) for left_out in ((), ("beta",))]
    lines = []
    for (drawing,) in drawings:
        drawing.draw(figure := Figure(layout="constrained"))
        lines.append([text.get_text() for text in figure.axes[0].texts])
        assert not figure.legends
    assert lines == [["as usual", "growth=10", "beta=1"], ["as usual", "growth=10"]]
    assert settings_drawings(evidence, evidence.scenes[0], ("beta", "growth")) == []


def test_only_the_best_method_and_random_have_bands():
    ends = {"random": 0.6, "entropy": 0.7, "badge": 0.8, "cal": 0.65}
    rows = [row for method, end in ends.items() for seed in (0, 1) for row in cell("mine", method, [0.5, end], seed)]
    evidence, figure = Evidence(Planted(rows)), Figure(layout="constrained")
    drawing = methods_drawing(evidence, evidence.scenes[0])
    drawing.draw(figure)
    (axes,) = figure.axes
    colours = {tuple(band.get_facecolor()[0][:3]) for band in axes.collections}
    assert colours == {to_rgb(LOOKS[method].colour) for method in ("random", "badge")}
    assert "for the best line and for Random only" in drawing.caption
    assert [text.get_text() for text in axes.texts] == ["Random", "Entropy", "BADGE", "CAL"] and not figure.legends
