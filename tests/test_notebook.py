"""The notebook of the documentation is valid, has no stored outputs, and runs from its first cell to its last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTEBOOK = json.loads((Path(__file__).parents[1] / "docs/tutorial.ipynb").read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_it_is_a_notebook_of_format_4_5_without_outputs():
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    cells = NOTEBOOK["cells"]
    assert 15 <= len(cells) <= 30 and len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        expected = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            expected |= {"execution_count", "outputs"}
            assert cell["outputs"] == [] and cell["execution_count"] is None
        else:
            assert cell["cell_type"] == "markdown"
        assert set(cell) == expected and all(isinstance(line, str) for line in cell["source"])


def test_all_cells_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    names: dict[str, object] = {}
    for number, source in enumerate(CODE):
        exec(compile(source, f"code cell {number}", "exec"), names)
    pyplot.close("all")
    assert [facts.labels for facts in names["session"].rounds()] == [30, 50, 70, 90, 110]
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] in names["classes"] for line in printed[-2:]] == [True, True]
