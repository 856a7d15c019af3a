"""`--learner auto` where fine-tuning every round would take too long: probe chooses, the encoder is fine-tuned once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import CLASSES, PLAN, answer, done, read
from tests.models.tiny import save_tiny

AUTO = ["--learner", "auto", "--round-seconds", "0"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "tiny")


def test_a_run_ends_with_fine_tuning(tmp_path: Path, files: Path, tiny: Path) -> None:
    words = ["run", files / "labelled.csv", *PLAN, "--rounds", 2, *AUTO, "--model", tiny, "--out", tmp_path / "run"]
    said = done(*words, "--json")
    assert said.facts["learner"] == "probe"
    assert "the learner is probe" in said.err
    assert 0 <= said.facts["final_accuracy"] <= 1
    again = done(*words, "--json")
    assert again.facts == said.facts
    assert "fine-tuned" in done(*words, "--quiet").out


def test_a_project_is_fine_tuned_when_asked(tmp_path: Path, files: Path, tiny: Path, truth: dict[str, str]) -> None:
    folder = tmp_path / "p"
    words = ["--labels", CLASSES, *AUTO, "--model", tiny, "--initial", 20, "--batch", 5, "--out", folder]
    done("start", files / "bare.csv", *words)
    answer(folder, truth)
    done("advance", folder)
    said = done("advance", folder, "--finish", "--json")
    assert "fine-tuned: 20 labels" in said.err
    assert said.facts["labels"] == 20
    done("predict", folder, files / "test.csv", "--out", tmp_path / "out.csv")
    assert {row["label"] for row in read(tmp_path / "out.csv")} <= {*CLASSES.split(",")}
