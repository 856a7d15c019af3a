"""The switch: off, no fast code runs, and plain transformers and torch code gives the same numbers up to rounding."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import actune
from actune.core.classifier import Classifier, Labelled, Readout
from actune.core.objective import NO_GATE, Objective
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.models import fast
from actune.models.adaptation import RECIPE as ADAPTING
from actune.models.adaptation import adapt
from actune.models.fast.packing import packs
from actune.models.learners import CPU, PROBE, make_learner
from tests.models.tiny import CONFIGS, TEXTS, save_tiny, training_of

DEVICE = torch.device("cpu")
TRUSTING = Objective(0.7, NO_GATE, power=0.5)


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Tiny encoders without dropout: padding would draw other numbers."""
    home = tmp_path_factory.mktemp("families")

    def made(family: str) -> Path:
        if not (home / family).exists():
            file = save_tiny(home / family, family) / "config.json"
            config = json.loads(file.read_text())
            without = {name: 0.0 for name in config if "dropout" in name}
            file.write_text(json.dumps(config | without))
        return home / family

    return made


def fitted(name: str, folder: Path, recipe: Training) -> tuple[Classifier, Readout]:
    learner = make_learner(name, folder, 3, 16, recipe, DEVICE)
    inputs = learner.prepare(TEXTS)
    dev = Labelled(learner.prepare(TEXTS[:10]), np.arange(10) % 3)
    classifier = learner.fit(inputs, training_of(12, 14), TRUSTING, Streams(0), dev)
    return classifier, classifier.read(inputs, head_input=True)


def check_equal(name: str, folder: Path, recipe: Training) -> None:
    """The trained weights and what they say, with the switch on and off; both have learnt something."""
    (one, on), (other, off) = (fitted(name, folder, replace(recipe, fast=switch)) for switch in (True, False))
    _, untrained = fitted(name, folder, replace(recipe, learning_rate=0.0))
    assert (on.log_proba - untrained.log_proba).abs().max() > 0.005
    for part, value in vars(on).items():
        torch.testing.assert_close(getattr(off, part), value, rtol=1e-4, atol=1e-5, msg=part)
    expected: dict[str, torch.Tensor] = one.network.state_dict()  # type: ignore[attr-defined]
    for part, value in other.network.state_dict().items():  # type: ignore[attr-defined]
        torch.testing.assert_close(value, expected[part], rtol=1e-4, atol=1e-5, msg=part)


@pytest.mark.parametrize("family", CONFIGS)
def test_fine_tuning_gives_the_same_numbers(family: str, folder_of: Callable[[str], Path]) -> None:
    check_equal("finetune", folder_of(family), replace(CPU, learning_rate=1e-3, steps=10, epochs=2))


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_fine_tuning_of_upper_layers_gives_the_same_numbers(family: str, folder_of: Callable[[str], Path]) -> None:
    check_equal("finetune", folder_of(family), replace(CPU, learning_rate=1e-3, steps=10, epochs=2, train_layers=1))


@pytest.mark.parametrize("family", CONFIGS)
def test_a_probe_gives_the_same_numbers_and_its_dropout_draws_the_same(
    family: str, folder_of: Callable[[str], Path]
) -> None:
    check_equal("probe", folder_of(family), replace(PROBE, learning_rate=1e-2, steps=60))


def test_adapting_gives_the_same_numbers(tiny: Path) -> None:
    on, off = (adapt(tiny, TEXTS, 12, 16, 0, DEVICE, recipe=replace(ADAPTING, fast=switch)) for switch in (True, False))
    assert on.folder != off.folder
    assert (on.loss, on.accuracy) == pytest.approx((off.loss, off.accuracy), rel=1e-4)


@pytest.mark.parametrize("how", ["setting", "environment"])
def test_off_no_fast_code_runs(how: str, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("fast code ran")

    for place in ("finetuning.packed", "probing.packed", "probing.steps_by_hand", "training.make_fast_steps"):
        monkeypatch.setattr(f"actune.models.{place}", refuse)
    if how == "environment":
        monkeypatch.setenv(fast.VARIABLE, "0")
    switch = how == "environment"
    for name, recipe in (("finetune", CPU), ("probe", PROBE)):
        short = replace(recipe, steps=2, epochs=1)
        fitted(name, tiny, replace(short, fast=switch))
        monkeypatch.setenv(fast.VARIABLE, "1")
        with pytest.raises(AssertionError, match="fast code ran"):
            fitted(name, tiny, short)
        if how == "environment":
            monkeypatch.setenv(fast.VARIABLE, "0")
    adapt(tiny, TEXTS, 2, 16, 0, DEVICE, recipe=replace(ADAPTING, fast=switch))


def test_both_the_setting_and_the_environment_turn_it_off(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner: Any = make_learner("finetune", tiny, 3, 16, CPU, DEVICE)
    tokens, network = learner.prepare(TEXTS), learner._fresh(Streams(0)).network
    for variable, setting, expected in (("1", True, True), ("1", False, False), ("0", True, False), ("", True, True)):
        monkeypatch.setenv(fast.VARIABLE, variable)
        recipe = replace(CPU, fast=setting)
        assert fast.enabled(recipe) is packs(network, tokens, recipe) is expected
    monkeypatch.delenv(fast.VARIABLE)
    assert fast.enabled(CPU)


def test_only_the_fast_code_makes_private_calls_of_torch() -> None:
    root = Path(actune.__file__).parent
    found = {file.relative_to(root) for file in root.rglob("*.py") if private_calls(ast.parse(file.read_text()))}
    assert found and all(file.parts[:2] == ("models", "fast") for file in found), found


def private_calls(tree: ast.AST) -> list[str]:
    """What a module takes from torch by a name that begins with an underscore: `torch._x`, `torch.ops.aten._x`."""
    names = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return [
        name
        for name in names
        if name.startswith("torch.") and any(p[:1] == "_" and p[:2] != "__" for p in name.split("."))
    ]
