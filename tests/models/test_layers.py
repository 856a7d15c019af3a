"""Upper layers on kept outputs of the lower ones: the same network as one whose lower layers are frozen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from actune.core.objective import Objective
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.errors import MissingSignal, ModelError
from actune.models import layers
from actune.models.encoders import load_classifier, load_encoder
from actune.models.finetuning import FineTuned, FineTuning
from actune.models.layers import HiddenStates, Recomputed, UpperLayers
from actune.models.learners import make_learner
from actune.models.signals import check_layers
from tests.models.tiny import CONFIGS, TEXTS, save_tiny, training_of

CPU = torch.device("cpu")
RECIPE = Training(learning_rate=1e-3, epochs=2, steps=6, train_layers=1)
OPEN = Objective(threshold=0.0)
FAMILIES = [family for family in CONFIGS if family != "albert"]  # whose layers are one and the same
every_family = pytest.mark.parametrize("family", FAMILIES)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {family: save_tiny(tmp_path_factory.mktemp(family), family) for family in CONFIGS}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "layers"


def made(folder: Path, **changes: Any) -> UpperLayers:
    learner = make_learner("finetune", folder, 3, 128, replace(RECIPE, **changes), CPU)
    assert isinstance(learner, UpperLayers)
    return learner


@every_family
def test_kept_outputs_lead_to_the_same_prediction(family: str, folders: dict[str, Path]) -> None:
    """Before any step, the cut network on kept states says what the whole network says about the texts."""
    learner = made(folders[family], learning_rate=0.0)
    inputs = learner.prepare(TEXTS)
    cut = learner.fit(inputs, training_of(12, 14), OPEN, Streams(0)).read(inputs)
    whole = FineTuning(folders[family], 3, 128, replace(RECIPE, learning_rate=0.0, train_layers=0), CPU)
    tokens = whole.prepare(TEXTS)
    expected = whole.fit(tokens, training_of(12, 14), OPEN, Streams(0)).read(tokens)
    torch.testing.assert_close(cut.log_proba, expected.log_proba, rtol=0, atol=5e-3)  # float16 in between
    torch.testing.assert_close(cut.embedding, expected.embedding, rtol=0, atol=2e-2)


@every_family
def test_a_saved_model_stands_on_the_lower_layers_again(family: str, folders: dict[str, Path], tmp_path: Path) -> None:
    learner = made(folders[family])
    inputs = learner.prepare(TEXTS)
    classifier = learner.fit(inputs, training_of(12, 14), OPEN, Streams(0))
    said = classifier.read(inputs)
    classifier.save(tmp_path / "model", ["a", "b", "c"], "a card")
    whole = FineTuned(load_classifier(tmp_path / "model", None, CPU).eval(), learner.tokenizer, CPU, RECIPE)
    tokens = FineTuning(folders[family], 3, 128, RECIPE, CPU).prepare(TEXTS)
    torch.testing.assert_close(whole.read(tokens).log_proba, said.log_proba, rtol=0, atol=5e-3)
    again = learner.load(tmp_path / "model").read(inputs)
    assert torch.equal(again.log_proba, said.log_proba)


@every_family
def test_only_the_upper_layers_learn(family: str, folders: dict[str, Path], tmp_path: Path) -> None:
    """What layers share, such as relative positions, must stay: the kept outputs of the lower ones come from it."""
    learner = made(folders[family])
    classifier = learner.fit(learner.prepare(TEXTS), training_of(12, 14), OPEN, Streams(0))
    classifier.save(tmp_path / "model", ["a", "b", "c"], "a card")
    before, after = load_encoder(folders[family], CPU), load_encoder(tmp_path / "model", CPU)
    moved = {
        name
        for (name, old), new in zip(before.named_parameters(), after.parameters(), strict=True)
        if not torch.equal(old, new) and "pooler" not in name
    }
    stack, name = layers.layers_of(before, 1)
    upper = f"{name}.{len(stack) - 1}."
    assert moved and all(each.startswith(upper) or "final_norm" in each for each in moved)


def test_outputs_are_kept_on_the_disk_and_found_again(
    folders: dict[str, Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = made(folders["bert"])
    first = learner.prepare(TEXTS)
    assert isinstance(first, HiddenStates) and first.states.dtype == "float16" and len(first.states) == len(first.flat)
    assert len(list(cache.iterdir())) == 1 and "in the cache" in learner.notes[-1]
    monkeypatch.setattr(UpperLayers, "_all_lower", None)  # nothing may be computed now
    again = made(folders["bert"]).prepare(TEXTS)
    assert isinstance(again, HiddenStates) and (again.states == first.states).all()


def test_above_the_limit_they_are_computed_anew(folders: dict[str, Path], cache: Path) -> None:
    kept, flowing = made(folders["mpnet"]), made(folders["mpnet"], cache_limit=1e-9)
    inputs, flow = kept.prepare(TEXTS), flowing.prepare(TEXTS)
    assert isinstance(flow, Recomputed) and "recomputed when needed" in flowing.notes[-1]
    assert len(list(cache.iterdir())) == 1
    one = kept.fit(inputs, training_of(12, 14), OPEN, Streams(0)).read(inputs)
    other = flowing.fit(flow, training_of(12, 14), OPEN, Streams(0)).read(flow)
    torch.testing.assert_close(one.log_proba, other.log_proba, rtol=0, atol=1e-3)


def test_a_broken_file_is_made_again(folders: dict[str, Path], cache: Path) -> None:
    made(folders["bert"]).prepare(TEXTS)
    (file,) = cache.iterdir()
    file.write_bytes(file.read_bytes()[:100])
    assert isinstance(made(folders["bert"]).prepare(TEXTS), HiddenStates)


def test_encoders_that_cannot_be_cut_say_so(folders: dict[str, Path]) -> None:
    with pytest.raises(ModelError, match="cannot be trained separately"):
        check_layers(folders["albert"], 1)
    with pytest.raises(ModelError, match="has 2 layers: --train-layers must be below 2"):
        check_layers(folders["bert"], 2)
    check_layers(folders["bert"], 1)


def test_there_are_no_words_to_perturb(folders: dict[str, Path]) -> None:
    learner = made(folders["bert"])
    inputs = learner.prepare(TEXTS)
    with pytest.raises(MissingSignal, match="train all layers"):
        learner.fit(inputs, training_of(12), OPEN, Streams(0)).perturbed(inputs, 0, 1.0)
