"""Axes that do not make much of noise, and names that do not hide each other."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from actune.methods.recipes import RECIPES
from actune.report.axes import LEAST_SPAN, LineEnd, from_zero, name_lines, spread, widen
from actune.report.names import METHOD_NAMES, method_name


@pytest.mark.parametrize("values", [[77.0, 77.4, 77.1], [99.8, 100.0], [0.0, 0.1], [50.0, 90.0]])
def test_an_axis_of_percentages_has_a_least_span_and_shows_every_point(values):
    axes = Figure().subplots()
    axes.plot(values)
    widen(axes)
    low, high = axes.get_ylim()
    assert high - low >= LEAST_SPAN and low <= min(values) and high > max(values)
    assert low >= -1 and high <= 101


def test_a_line_at_zero_is_not_clipped():
    axes = Figure().subplots()
    axes.plot([0, 500, 1000])
    from_zero(axes)
    assert axes.get_ylim()[0] < 0


def test_names_are_spread_in_the_order_of_their_lines():
    wanted = [0.5, 0.52, 0.5, 0.99, 0.1]
    places = spread(wanted, 0.1)
    assert np.diff(sorted(places)).min() >= 0.1 - 1e-9 and min(places) >= 0 and max(places) <= 1 + 1e-9
    assert places[4] == pytest.approx(0.1) and np.argsort(places).tolist() == [4, 0, 2, 1, 3]


def test_names_beside_a_panel_do_not_overlap():
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    ends = [LineEnd(1, 80 + 0.01 * number, f"method {number}", "black") for number in range(9)]
    axes.plot([0, 1], [70, 80])
    name_lines(figure, [(axes, ends)])
    figure.draw_without_rendering()
    labels = [text for text in axes.texts if text.get_text()]
    assert len(labels) == 9
    heights = sorted(text.get_position()[1] for text in labels)
    assert np.diff(heights).min() * axes.get_window_extent().height * 72 / figure.dpi > 8  # points of type
    assert max(text.get_window_extent().x1 for text in labels) <= figure.bbox.x1 + 1


def test_every_method_has_one_display_name():
    assert set(RECIPES) <= set(METHOD_NAMES) and len(set(METHOD_NAMES.values())) == len(METHOD_NAMES)
    assert (method_name("actune"), method_name("badge"), method_name("mine")) == ("AcTune", "BADGE", "mine")
