"""Fits in a place that a GPU keeps; here a CPU keeps one, so steps are not recorded but all weights are handed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from actune.core.objective import PLAIN, Objective
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import TrainingSet
from actune.models import finetuning
from actune.models.fast import kept
from actune.models.learners import make_learner
from actune.models.training import accuracy_on
from tests.models.tiny import TEXTS, save_tiny, training_of

DEVICE = torch.device("cpu")
RECIPE = Training(learning_rate=1e-3, epochs=2, steps=6, labelled_batch=4, freeze_embeddings=True)
POOLED = replace(RECIPE, pooled_head=True, label_contrast=1.0, balanced_batches=True)
TRUSTING = Objective(threshold=0.0)
ALONE, BOTH = training_of(12, 0), training_of(12, 8)
Weights = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("encoder") / "tiny", "mpnet")


@pytest.fixture(autouse=True)
def keeping(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(finetuning, "pays", lambda device: True)
    kept.forget()
    yield
    kept.forget()


def learner(tiny: Path, recipe: Training = RECIPE, classes: int = 3) -> Any:
    return make_learner("finetune", tiny, classes, 16, recipe, DEVICE)


def fitted(by: Any, training: TrainingSet, objective: Objective = PLAIN, seed: int = 0, **more: Any) -> Weights:
    found: Weights = by.fit(by.prepare(TEXTS), training, objective, Streams(seed), **more).network.state_dict()
    return {name: value.clone() for name, value in found.items()}


def alone(tiny: Path, recipe: Training, training: TrainingSet, objective: Objective, seed: int) -> Weights:
    kept.forget()
    return fitted(learner(tiny, recipe), training, objective, seed)


def same(one: Weights, other: Weights) -> bool:
    return all(torch.equal(value, other[name]) for name, value in one.items())


@pytest.mark.parametrize("recipe", [RECIPE, POOLED], ids=["paper", "contrastive"])
def test_a_fit_in_a_used_place_is_the_fit_in_a_new_one(recipe: Training, tiny: Path) -> None:
    plans = [(ALONE, PLAIN, 0), (BOTH, TRUSTING, 0), (ALONE, PLAIN, 1), (ALONE, PLAIN, 0)]
    expected = [alone(tiny, recipe, *plan) for plan in plans]
    kept.forget()
    by = learner(tiny, recipe)
    found = [fitted(by, *plan) for plan in plans]
    assert len(kept._kept) == 1
    assert all(map(same, found, expected))
    assert same(found[0], found[3]) and not same(found[0], found[1]) and not same(found[0], found[2])


def test_a_model_does_not_change_when_the_next_one_is_trained(tiny: Path) -> None:
    by = learner(tiny)
    tokens = by.prepare(TEXTS)
    first = by.fit(tokens, ALONE, PLAIN, Streams(0))
    before = first.read(tokens).log_proba
    second = by.fit(tokens, ALONE, PLAIN, Streams(1))
    assert torch.equal(first.read(tokens).log_proba, before)
    assert not torch.equal(second.read(tokens).log_proba, before)
    assert not first.network.training and not second.network.training
    assert {value.dtype for value in first.network.parameters()} == {torch.float32}


def test_a_student_begins_with_its_teacher_s_weights(tiny: Path) -> None:
    still = learner(tiny, replace(RECIPE, learning_rate=1e-9))
    teacher = learner(tiny).fit(still.prepare(TEXTS), ALONE, PLAIN, Streams(0))
    student = fitted(still, ALONE, PLAIN, 1, start=teacher)
    for name, value in teacher.network.state_dict().items():
        torch.testing.assert_close(student[name], value, rtol=0, atol=1e-6)


def test_checkpoints_are_judged_where_the_network_is_trained(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[torch.Tensor] = []

    def judging(dev: Any, read: Callable[[Any], Any]) -> Callable[[], float]:
        def judge() -> float:
            seen.append(read(tokens).log_proba)
            return float(len(seen))

        return judge

    by = learner(tiny, replace(RECIPE, dev_every=1))
    tokens = by.prepare(TEXTS)
    monkeypatch.setattr(finetuning, "accuracy_on", judging)
    model = by.fit(tokens, ALONE, PLAIN, Streams(0))
    assert accuracy_on is not judging and len(seen) == 6
    assert len({float(each.sum()) for each in seen}) == 6  # it moved between any two looks
    torch.testing.assert_close(model.read(tokens).log_proba, seen[-1], rtol=0.05, atol=0.05)


def test_networks_of_other_kinds_take_no_kept_place(tiny: Path) -> None:
    fitted(learner(tiny), ALONE)
    (first,) = kept._kept.values()
    for recipe, classes in (
        (POOLED, 3),
        (RECIPE, 4),
        (replace(RECIPE, freeze_embeddings=False), 3),
        (replace(RECIPE, train_layers=1), 3),
    ):
        fitted(learner(tiny, recipe, classes), ALONE)
        (other,) = kept._kept.values()
        assert other is not first
    fitted(learner(tiny, replace(RECIPE, train_layers=1, learning_rate=1e-4, epochs=1)), ALONE)
    assert list(kept._kept.values()) == [other]  # a rate and a length of training decide nothing here


def test_a_fit_that_fails_leaves_no_place(tiny: Path) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    by = learner(tiny)
    expected = fitted(by, ALONE)
    assert kept._kept
    with pytest.raises(KeyboardInterrupt):
        fitted(by, ALONE, progress=interrupt)
    assert not kept._kept
    assert same(fitted(by, ALONE), expected)
