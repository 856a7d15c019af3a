"""What needs the run folders of cells: maps, predictions, sizes and settings."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from actune.bench.evidence import Evidence
from actune.bench.figures.drawing import Drawing
from actune.bench.paper import subjects
from actune.bench.paper.figures.maps import figure_6, find_maps
from actune.bench.paper.figures.missing import Missing
from actune.bench.paper.tables import data_table, task_settings_table
from actune.bench.ranking import ranking_table
from actune.bench.store import Results
from tests.bench.conftest import make
from tests.bench.planted import Planted


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, grid_of) -> Results:
    """Cells of a grid on a small task."""
    folder = tmp_path_factory.mktemp("grid") / "results"
    methods = ("random", "entropy", "cal", "actune", "actune-cal")
    return make(grid_of(methods, [0], initial=30, batch=20, rounds=2), folder).results


def test_predictions_are_as_right_as_the_table_says(results):
    for cell, rows in results.table().groupby("cell"):
        right = (results.predictions(cell) == results.truth(cell)).mean(1)
        assert right.tolist() == pytest.approx(rows["accuracy"].tolist())


def test_sizes_and_settings_are_those_of_the_runs(results, questions):
    evidence = Evidence(results)
    assert data_table(evidence, evidence.scenes).rows == [["questions", "6", "300", "60", "100", "–"]]
    settings = dict(task_settings_table(evidence, evidence.scenes).rows)
    assert settings["regions (K)"] == f"{questions.settings.regions}"


def test_a_ranking_with_predictions_tells_what_texts_drawn_anew_do(results):
    evidence = Evidence(results)
    table = ranking_table(evidence, evidence.scenes[0])
    assert table.columns.count("bootstrap") == 2 and len(table.rows) == 5
    assert all(row[5] in ("not enough runs", "–") for row in table.rows)  # one seed
    assert any(cell.startswith("[") for row in table.rows for cell in row)


def test_maps_of_real_runs_with_their_spread(results, tmp_path):
    found = find_maps(Evidence(results))
    assert [part.method for part in found.parts] == list(subjects.MAPPED) and found.seed == 0
    (drawing,) = figure_6(found)
    assert isinstance(drawing, Drawing) and "The paper has ag_news here." in drawing.caption
    figure = Figure(layout="constrained")
    drawing.draw(figure)
    for part, panel in zip(found.parts, figure.axes, strict=True):
        rings = panel.collections[-1].get_offsets()
        assert len(rings) == 20 == part.map.asked.sum()
        assert f"{part.distances[0].asked:.2f}" in panel.get_xlabel()
        assert np.isfinite(part.places).all()
    assert all(file.stat().st_size > 10_000 for file in drawing.save(tmp_path))


def test_a_table_without_its_runs_has_no_maps(results, tmp_path):
    evidence = Evidence(Planted(results.table().to_dict("records"), folder=tmp_path))
    (missing,) = figure_6(find_maps(evidence))
    assert isinstance(missing, Missing) and missing.grid == "core.toml"
