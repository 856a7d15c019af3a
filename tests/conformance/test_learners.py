"""The contract of every learner on encoders of every family that we name, with tiny random weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from actune.core.classifier import Classifier, Learner, Moments, Readout
from actune.core.objective import Objective
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.errors import MissingSignal
from actune.models.finetuning import FineTuning
from actune.models.learners import LEARNERS, find_learner, make_learner
from actune.models.starting import saved_classes, saved_learner
from actune.testing import check_learner
from tests.models.centroids import CENTROIDS
from tests.models.tiny import CONFIGS, LIMIT, PADS_WITH_ONE, TEXTS, save_tiny, training_of

RECIPE = Training(learning_rate=1e-3, epochs=1, steps=2)
CPU = torch.device("cpu")
OPEN = Objective(threshold=0.0)  # every trusted row passes
TRUSTING = training_of(12, 14)
pytestmark = pytest.mark.usefixtures("in_float32")
every_learner = pytest.mark.parametrize("name", ["finetune", "probe", "centroids"])
every_network = pytest.mark.parametrize("name", ["finetune", "probe"])  # learners that train one by gradient descent


@pytest.fixture(autouse=True)
def our_own_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner that is added from outside obeys the same contract."""
    monkeypatch.setitem(LEARNERS, CENTROIDS.name, CENTROIDS)


@pytest.fixture(scope="module", params=CONFIGS)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp(family), family)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACTUNE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def made(name: str, folder: Path, **changes: Any) -> tuple[Learner, Any]:
    learner = make_learner(name, folder, 3, 128, replace(RECIPE, **changes), CPU)
    return learner, learner.prepare(TEXTS)


def state(classifier: Classifier) -> dict[str, torch.Tensor]:
    weights: dict[str, torch.Tensor] = classifier.network.state_dict()  # type: ignore[attr-defined]
    return {name: value.clone() for name, value in weights.items()}


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def same(one: Readout, other: Readout) -> bool:
    return torch.equal(one.log_proba, other.log_proba) and torch.equal(one.embedding, other.embedding)


def close(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


@every_learner
def test_every_learner_keeps_the_contract(name: str, folder: Path) -> None:
    learner, _ = made(name, folder)
    check_learner(learner, TEXTS, classes=3, tolerance=1e-3)  # in float32


@every_network
def test_an_embedding_is_as_wide_as_its_layer_and_equal_texts_are_read_alike(name: str, folder: Path) -> None:
    learner, inputs = made(name, folder)
    readout = learner.fit(inputs, TRUSTING, OPEN, Streams(0)).read(inputs)
    assert readout.embedding.shape == (len(TEXTS), 32 if name == "finetune" else 256)
    close(readout.embedding[:10], readout.embedding[10:20])


@every_network
def test_another_round_is_another_model_and_pseudo_labels_that_count_change_it(name: str, folder: Path) -> None:
    learner, inputs = made(name, folder)
    first = state(learner.fit(inputs, TRUSTING, OPEN, Streams(0)))
    assert not equal(first, state(learner.fit(inputs, TRUSTING, OPEN, Streams(0, 1))))
    assert not equal(first, state(learner.fit(inputs, training_of(12), OPEN, Streams(0))))


@every_learner
def test_a_saved_classifier_is_recognised(name: str, folder: Path, tmp_path: Path) -> None:
    learner, inputs = made(name, folder)
    learner.fit(inputs, TRUSTING, OPEN, Streams(0)).save(tmp_path / "model", ["a", "b", "c"], "a card")
    assert find_learner(name).saved_here(tmp_path / "model")
    assert saved_learner(tmp_path / "model").name == name and saved_classes(tmp_path / "model") == ["a", "b", "c"]


@every_network
def test_every_weight_is_saved_and_no_later_fit_touches_it(name: str, folder: Path, tmp_path: Path) -> None:
    learner, inputs = made(name, folder)
    classifier = learner.fit(inputs, TRUSTING, OPEN, Streams(0))
    before = state(classifier)
    classifier.save(tmp_path / "model", ["a", "b", "c"], "a card")
    assert equal(before, state(learner.load(tmp_path / "model")))
    learner.fit(inputs, TRUSTING, OPEN, Streams(0, 1))
    assert equal(before, state(classifier))


@every_learner
def test_prepared_texts_are_chosen_by_row(name: str, folder: Path) -> None:
    learner, inputs = made(name, folder)
    rows = np.array([4, 1, 1, 6])
    few, classifier = inputs.only(rows), learner.fit(inputs, TRUSTING, OPEN, Streams(0))
    assert len(few) == 4
    close(classifier.read(few).log_proba, classifier.read(inputs).log_proba[rows])


@every_learner
def test_what_a_learner_cannot_do_it_refuses(name: str, folder: Path) -> None:
    learner, inputs = made(name, folder)
    kind, classifier = find_learner(name), learner.fit(inputs, TRUSTING, OPEN, Streams(0))
    with nullcontext() if kind.has_dropout(folder) else pytest.raises(MissingSignal):
        classifier.sample(inputs, np.arange(3), 2, seed=0)
    with nullcontext() if kind.perturbs_words else pytest.raises(MissingSignal):
        classifier.perturbed(inputs, 0, 1.0)


@every_network
def test_a_round_has_a_fresh_encoder_and_its_own_head(name: str, folder: Path) -> None:
    """With a learning rate of zero nothing moves: what differs between rounds is the head alone."""
    learner, inputs = made(name, folder, learning_rate=0.0)
    classifiers: list[Any] = [learner.fit(inputs, TRUSTING, OPEN, Streams(0, round)) for round in (0, 1)]
    one, other = map(state, classifiers)
    moved = {part for part in one if not torch.equal(one[part], other[part])}
    assert moved
    if name == "finetune":
        prefix = f"{classifiers[0].network.base_model_prefix}."
        body = {part for part in one if part.startswith(prefix)}
        assert len(body) > 10 and not moved & body


@every_network
def test_trap_16_the_head_is_that_of_its_seed_and_round_whatever_else(name: str, folder: Path) -> None:
    """Methods that are compared begin alike: neither what they trust nor any earlier draw changes the head."""
    learner, inputs = made(name, folder, learning_rate=0.0)
    first = state(learner.fit(inputs, TRUSTING, OPEN, Streams(0, 3)))
    torch.manual_seed(5)
    for training, objective in ((training_of(5), OPEN), (training_of(9, 4), Objective(power=0.7, threshold=0.0))):
        assert equal(first, state(learner.fit(inputs, training, objective, Streams(0, 3))))
    for streams in (Streams(0, 4), Streams(1, 3)):
        assert not equal(first, state(learner.fit(inputs, TRUSTING, OPEN, streams)))


@every_network
def test_a_fit_can_begin_where_another_ended(name: str, folder: Path) -> None:
    """With a learning rate of zero the start's weights come back; the start itself is never touched."""
    learner, inputs = made(name, folder, learning_rate=0.02)
    start = learner.fit(inputs, TRUSTING, OPEN, Streams(0))
    before = state(start)
    still, _ = made(name, folder, learning_rate=0.0)
    assert equal(before, state(still.fit(inputs, training_of(9), OPEN, Streams(0, 1), start=start)))
    assert not equal(before, state(still.fit(inputs, training_of(9), OPEN, Streams(0, 1))))
    onward = learner.fit(inputs, TRUSTING, OPEN, Streams(0, 1), start=start)
    assert not equal(before, state(onward)) and equal(before, state(start))


# what methods ask for beside predictions


def network_of(classifier: Classifier) -> nn.Module:
    network: nn.Module = classifier.network  # type: ignore[attr-defined]
    return network


def rests(classifier: Classifier) -> bool:
    """Nothing is in training, and nothing listens to its layers."""
    layers = list(network_of(classifier).modules())
    return not any(layer.training or layer._forward_hooks or layer._forward_pre_hooks for layer in layers)


def dropping(name: str, folder: Path, share: float = 0.1) -> tuple[Classifier, Any]:
    """A classifier whose predictions differ, and whose dropout layers drop as much in every family."""
    learner, inputs = made(name, folder, learning_rate=3e-3, steps=60)
    classifier = learner.fit(inputs, TRUSTING, OPEN, Streams(0))
    for layer in network_of(classifier).modules():
        if isinstance(layer, nn.Dropout):
            layer.p = share
    return classifier, inputs


def equal_moments(one: Moments, other: Moments) -> bool:
    return all(torch.equal(getattr(one, part), getattr(other, part)) for part in vars(one))


@every_network
def test_trap_8_the_head_input_is_what_the_last_linear_layer_sees(name: str, folder: Path) -> None:
    learner, inputs = made(name, folder)
    classifier = learner.fit(inputs, TRUSTING, OPEN, Streams(0))
    readout, usual = classifier.read(inputs, head_input=True), classifier.read(inputs)
    parameters = list(network_of(classifier).parameters())
    weight = [values for values in parameters if values.ndim == 2 and len(values) == 3][-1]
    bias = [values for values in parameters if values.shape == (3,)][-1]
    assert readout.head_input is not None and readout.head_input.dtype == torch.float32
    with torch.no_grad():
        logits = readout.head_input @ weight.T + bias
    torch.testing.assert_close(logits.log_softmax(1), readout.log_proba, rtol=0, atol=1e-4)
    assert usual.head_input is None and same(usual, readout)
    assert rests(classifier)


@every_network
def test_trap_9_the_moments_of_sampling_are_those_of_its_passes(name: str, folder: Path) -> None:
    classifier, inputs = dropping(name, folder)
    for row in (0, 6, 3):  # alone, so that there is one batch
        passes: list[torch.Tensor] = []

        def listen(_: nn.Module, __: Any, output: Any, passes: list[torch.Tensor] = passes) -> None:
            passes.append((output.logits if hasattr(output, "logits") else output[0]).double().log_softmax(1))

        with network_of(classifier).register_forward_hook(listen):
            found = classifier.sample(inputs, np.array([row]), 6, seed=4)
        log_proba = torch.stack(passes)
        proba = log_proba.exp()
        assert proba.shape == (6, 1, 3) and len(torch.unique(proba[:, 0, 0])) == 6
        close(found.mean.double(), proba.mean(0))
        close(found.entropy.double(), -(proba * log_proba).sum(2).mean(0))
        torch.testing.assert_close(found.variance.double(), proba.var(0, correction=0), rtol=1e-3, atol=1e-8)


@every_network
def test_sampling_is_of_its_rows_and_near_the_plain_prediction(name: str, folder: Path) -> None:
    classifier, inputs = dropping(name, folder)
    rows = np.random.default_rng(0).permutation(10)
    found = classifier.sample(inputs, rows, 100, seed=0)
    plain = classifier.read(inputs).log_proba.exp()
    torch.testing.assert_close(found.mean, plain[rows], rtol=0, atol=0.03)
    right, wrong = ((found.mean - plain[order]).abs().mean() for order in (rows, np.arange(10)))
    assert 3 * right < wrong  # another order would show
    assert found.mean.shape == found.variance.shape == (10, 3) and found.entropy.shape == (10,)
    assert (found.variance > 0).all() and rests(classifier)


@every_network
def test_a_seed_decides_what_is_dropped(name: str, folder: Path) -> None:
    classifier, inputs = dropping(name, folder)
    rows = np.arange(20)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = classifier.sample(inputs, rows, 3, seed=0)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert equal_moments(first, classifier.sample(inputs, rows, 3, seed=0))
    other = classifier.sample(inputs, rows, 3, seed=1)
    assert not torch.equal(first.mean, other.mean) and not torch.equal(first.entropy, other.entropy)


@every_network
def test_a_model_that_drops_nothing_cannot_be_sampled(name: str, folder: Path) -> None:
    classifier, inputs = dropping(name, folder, share=0.0)
    with pytest.raises(MissingSignal, match="no dropout to sample"):
        classifier.sample(inputs, np.arange(3), 3, seed=0)
    assert rests(classifier)


# fine-tuning alone


def test_trap_18_probabilities_are_taken_in_float32_from_a_network_of_less(folder: Path) -> None:
    """The softmax of bfloat16 logits in bfloat16 would miss 1 by some thousandths, and tie confident rows."""
    learner, inputs = made("finetune", folder)
    classifier = learner.fit(inputs, TRUSTING, OPEN, Streams(0))
    network_of(classifier).bfloat16()
    readout = classifier.read(inputs)
    assert readout.log_proba.dtype == readout.embedding.dtype == torch.float32
    torch.testing.assert_close(readout.log_proba.exp().sum(1), torch.ones(len(TEXTS)), rtol=0, atol=1e-6)
    assert not torch.equal(readout.log_proba, readout.log_proba.bfloat16().float())


def test_batches_do_not_change_a_readout(folder: Path) -> None:
    """Padding is masked and counted as the family does it: RoBERTa's positions depend on the padding id."""
    learner, inputs = made("finetune", folder)
    classifier: Any = learner.fit(inputs, TRUSTING, OPEN, Streams(0))
    usual = classifier.read(inputs)
    for budget in (1, 50, 10**6):
        other = classifier.read(inputs, budget=budget)
        close(other.log_proba, usual.log_proba)
        close(other.embedding, usual.embedding)


def test_trap_17_texts_are_padded_and_cut_as_the_family_wants(folder: Path, family: str) -> None:
    learner, inputs = made("finetune", folder)
    assert inputs.pad == (1 if family in PADS_WITH_ONE else 0)
    assert inputs.lengths.max() == LIMIT and inputs.cut == 3
    assert learner.notes == ["3 of 30 texts were truncated to 16 tokens"]


def test_the_embedding_is_the_last_layers_first_token(folder: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    learner, inputs = made("finetune", folder)
    classifier = learner.fit(inputs, TRUSTING, OPEN, Streams(0))
    classifier.save(tmp_path, ["a", "b", "c"], "a card")
    network: Any = AutoModelForSequenceClassification.from_pretrained(tmp_path)
    assert network.config.id2label == {0: "a", 1: "b", 2: "c"}
    tokenizer: Any = AutoTokenizer.from_pretrained(tmp_path)
    texts = tokenizer(TEXTS[:10], truncation=True, max_length=LIMIT, padding=True, return_tensors="pt")
    given = {key: texts[key] for key in ("input_ids", "attention_mask")}
    with torch.inference_mode():
        logits = network(**given).logits
        hidden = network.base_model(**given)[0]
    readout = classifier.read(inputs)
    close(logits.log_softmax(1), readout.log_proba[:10])
    close(hidden[:, 0], readout.embedding[:10])


def test_embeddings_can_be_frozen(folder: Path) -> None:
    for frozen in (True, False):
        learner, inputs = made("finetune", folder, freeze_embeddings=frozen)
        assert isinstance(learner, FineTuning)
        network: Any = learner.fit(inputs, TRUSTING, OPEN, Streams(0)).network
        untouched, _ = made("finetune", folder, learning_rate=0.0)
        original: Any = untouched.fit(inputs, TRUSTING, OPEN, Streams(0)).network  # type: ignore[attr-defined]
        same_words = torch.equal(network.get_input_embeddings().weight, original.get_input_embeddings().weight)
        assert same_words is frozen
