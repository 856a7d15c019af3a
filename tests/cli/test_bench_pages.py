"""`figures` and `report` of a folder of results, as commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from actune.cli import bench_pages
from actune.cli.failures import Commands
from tests.bench.planted import Planted, cell

app = typer.Typer(cls=Commands)
app.command()(bench_pages.figures)
app.command()(bench_pages.report)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [row for seed in range(3) for method in ("random", "cal") for row in _curve(method, seed)]
    return Planted(rows).save(tmp_path / "results")


def invoke(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_figures_are_drawn_and_what_is_missing_is_listed(folder):
    done = invoke("figures", folder, "--formats", "png", "--json")
    facts = json.loads(done.stdout.splitlines()[-1])
    assert done.exit_code == 0, done.output
    assert facts["drawn"] == ["fig1-al", "table1-data", "table2-settings", "table3-seconds"]
    assert sorted(file.name for file in (folder / "figures").glob("fig*")) == ["fig1-al.png"]
    assert {"fig2-weak", "fig6-maps"} <= {each["name"] for each in facts["missing"]}
    assert "missing: Fig. 2: a start from votes of rules (needs" in done.stderr


def test_a_report_with_its_tables_for_latex(folder, tmp_path):
    done = invoke("report", folder, "--out", tmp_path / "page.html", "--latex", "--json")
    facts = json.loads(done.stdout.splitlines()[-1])
    assert done.exit_code == 0, done.output
    assert facts["files"] == [str(tmp_path / "page.html"), str(tmp_path / "page.tex")]
    assert all(Path(file).stat().st_size > 1000 for file in facts["files"])
    assert {each["verdict"] for each in facts["claims"]} == {"not enough runs"}
    shown = invoke("report", folder).stdout
    assert "sst2, mpnet, finetune" in shown and "minus random" in shown and (folder / "report.html").exists()
    assert "claims of the paper" not in shown  # these runs say nothing about any of them


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("figures", "FOLDER", "--formats", "png,gif"), "--formats takes svg, pdf, png, not 'gif'"),
        (("figures", "FOLDER", "--formats", ","), "--formats takes svg, pdf, png, not ','"),
        (("figures", "NOTHING"), "there is no folder"),
        (("report", "NOTHING"), "there is no folder"),
        (("report", "FOLDER", "--out", "FOLDER"), "is a folder"),
    ],
)
def test_bad_input_is_one_sentence(folder, tmp_path, words, sentence):
    done = invoke(
        *(str(word).replace("FOLDER", str(folder)).replace("NOTHING", str(tmp_path / "none")) for word in words)
    )
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and sentence in done.stderr
    assert sorted(file.name for file in folder.iterdir()) == ["results.csv"]


def test_help_ends_with_an_example():
    for command in ("figures", "report"):
        assert "Example: actune bench" in invoke(command, "--help").stdout


def test_the_commands_cost_nothing_until_they_are_used():
    program = (
        "import sys, actune.cli.bench_pages; print(*{'numpy', 'pandas', 'matplotlib', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def _curve(method: str, seed: int) -> list[dict]:
    return cell("sst2", method, [0.5 + seed / 100 + len(method) * place / 100 for place in range(3)], seed)
