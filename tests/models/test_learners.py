"""Learners by name, their recipes, and what a round is estimated to cost."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from actune.core.settings import Training
from actune.errors import SettingError
from actune.models import learners
from actune.models.finetuning import FineTuning
from actune.models.learners import (
    AUTO,
    CPU,
    GPU,
    LEARNERS,
    PAPER,
    PROBE,
    LearnerKind,
    RoundSize,
    check_learner,
    described,
    estimate_rounds,
    find_learner,
    make_learner,
    recipe_for,
    register,
)
from actune.models.probing import Probing
from actune.models.tokens import Tokens
from tests.models.centroids import CENTROIDS, Centroids
from tests.models.tiny import TEXTS


def test_every_learner_and_device_has_its_recipe() -> None:
    assert recipe_for("finetune", "cuda") == GPU == replace(PAPER, freeze_embeddings=True)
    assert recipe_for("finetune", "cpu") == CPU != PAPER
    assert recipe_for("probe", "cpu") == recipe_for("probe", "cuda") == PROBE


def test_the_paper_recipe_is_the_papers() -> None:
    assert (PAPER.learning_rate, PAPER.weight_decay, PAPER.clip, PAPER.warmup) == (2e-5, 1e-8, 1.0, 0.1)
    assert (PAPER.epochs, PAPER.steps, PAPER.dev_every, PAPER.labelled_batch) == (15, 2000, 50, 8)
    assert PAPER.dev_at_epoch_end and not PAPER.freeze_embeddings


def test_an_unknown_learner_is_corrected() -> None:
    assert [check_learner(name) for name in described()] == [AUTO, *LEARNERS]
    with pytest.raises(SettingError, match="unknown learner 'finetun': did you mean 'finetune'"):
        check_learner("finetun")


def test_learners_by_name(tiny: Path, cpu: torch.device) -> None:
    assert type(make_learner("finetune", tiny, 3, 64, CPU, cpu)) is FineTuning
    assert type(make_learner("probe", tiny, 3, 64, PROBE, cpu)) is Probing


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, LearnerKind]:
    """The learners as they are; what a test adds is forgotten."""
    monkeypatch.setattr(learners, "LEARNERS", dict(LEARNERS))
    return learners.LEARNERS


def test_a_learner_that_is_registered_is_known_by_its_name(
    registry: dict[str, LearnerKind], tiny: Path, cpu: torch.device
) -> None:
    assert register(CENTROIDS) is register(CENTROIDS) is find_learner("centroids") is registry["centroids"]
    assert type(make_learner("centroids", tiny, 3, 64, PROBE, cpu)) is Centroids
    assert described()["centroids"] == CENTROIDS.help and recipe_for("centroids", "cuda") == PROBE
    for taken in (replace(CENTROIDS, help="another"), replace(CENTROIDS, name="auto")):
        with pytest.raises(SettingError, match="choose another name"):
            register(taken)


def install(folder: Path, name: str, value: str) -> None:
    """A package of somebody else, as pip would leave it."""
    facts = folder / "their_package-1.0.dist-info"
    facts.mkdir(parents=True, exist_ok=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[actune.learners]\n{name} = {value}\n")


def test_a_learner_of_an_installed_package_is_found(
    registry: dict[str, LearnerKind], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingError, match=r"unknown learner 'centroids': known: .*installed with that package"):
        check_learner("centroids")
    install(tmp_path / "site", "centroids", "tests.models.centroids:CENTROIDS")
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(SettingError, match="did you mean 'centroids'"):
        check_learner("centroid")
    assert check_learner("centroids") == "centroids" and registry["centroids"].make.__name__ == "Centroids"
    assert "centroids" in described()


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("no_such_module:KIND", "of the package their-package cannot be loaded: ModuleNotFoundError"),
        ("tests.models.centroids:Centroids", "the entry point 'theirs' of the package their-package is"),
        ("tests.models.centroids:CENTROIDS", "it must be a LearnerKind with this name"),  # of another name
    ],
)
def test_a_package_whose_learner_cannot_be_used_is_named(
    registry: dict[str, LearnerKind], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, sentence: str
) -> None:
    install(tmp_path / "site", "theirs", value)
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(SettingError, match=sentence):
        find_learner("theirs")
    assert "theirs" not in described()


def test_a_price_that_is_not_stated_is_a_high_one() -> None:
    assert find_learner("probe").price_on("cuda") < find_learner("probe").price_on("xpu")
    assert CENTROIDS.price_on("cpu") == find_learner("finetune").price_on("cpu")


def estimate(
    folder: Path, recipe: Training, trusts: bool, labels: int = 40, dev: int = 0, texts: list[str] = TEXTS
) -> float:
    learner = FineTuning(folder, 3, 64, recipe, torch.device("cpu"))
    tokens: Tokens = learner.prepare(texts)
    (seconds,) = estimate_rounds(learner, tokens, [RoundSize(len(texts), dev, labels, trusts)])
    assert learner.recipe == recipe  # the trial is another learner
    return seconds


@pytest.mark.parametrize("trusts", [False, True])
@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1]], ids=["pool", "one text"])
def test_an_estimate_is_a_number_of_seconds(tiny: Path, trusts: bool, texts: list[str]) -> None:
    seconds = estimate(tiny, CPU, trusts, dev=20, texts=texts)
    assert 0 < seconds < 600 and math.isfinite(seconds)


@pytest.mark.parametrize("trusts", [False, True])
def test_an_estimate_is_made_however_few_steps_there_may_be(tiny: Path, trusts: bool) -> None:
    assert 0 < estimate(tiny, replace(CPU, most_steps=1), trusts) < 600


def test_an_estimate_counts_steps_and_reads(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that moves by one second a glance: a step takes one, and so does the read of the 30 texts.

    So a step on pseudo-labels too takes 3 / 30 of a second more for each of 10 of them: two in all.
    """
    recipe = replace(CPU, dev_every=50, pseudo_batch=10)

    def seconds(recipe: Training, trusts: bool, labels: int = 40, dev: int = 0) -> float:
        monkeypatch.setattr(learners, "time", SimpleNamespace(perf_counter=count().__next__))
        return estimate(tiny, recipe, trusts, labels, dev)

    assert seconds(replace(recipe, steps=200), trusts=True) == pytest.approx(400 + 1)
    assert seconds(replace(recipe, steps=2000), trusts=True) == pytest.approx(4000 + 1)
    assert seconds(replace(recipe, epochs=15), trusts=False) == pytest.approx(15 * 5 + 1)
    assert seconds(replace(recipe, epochs=15), trusts=False, labels=41) == pytest.approx(15 * 6 + 1)
    assert seconds(replace(recipe, steps=200), trusts=True, dev=60) == pytest.approx(400 + 1 + 5 * 2)
    at_epochs = replace(recipe, epochs=10, dev_at_epoch_end=True)
    assert seconds(at_epochs, trusts=False, dev=30) == pytest.approx(50 + 1 + (1 + 1 + 10))
