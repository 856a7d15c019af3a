"""Fine-tuning the real small encoder on real questions."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from actune.core.classifier import Labelled, Readout
from actune.core.objective import Objective
from actune.core.pool import Pool
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.core.view import View
from actune.errors import Diverged
from actune.models.encoders import load_classifier
from actune.models.finetuning import FineTuned, FineTuning
from actune.models.learners import CPU
from actune.models.tokens import Tokens
from tests.models.tiny import CONFIGS, LIMIT, TEXTS, save_tiny, training_of

READ, LABELLED = 90, 24
RECIPE = replace(CPU, epochs=8, learning_rate=3e-4)  # 24 steps, so in bigger ones


@pytest.fixture(scope="module")
def learner(minilm: Path, trec_pool: Pool, cpu: torch.device) -> FineTuning:
    return FineTuning(minilm, len(trec_pool.classes), 64, RECIPE, cpu)


@pytest.fixture(scope="module")
def tokens(learner: FineTuning, trec_pool: Pool) -> Tokens:
    return learner.prepare(trec_pool.texts[:READ])


@pytest.fixture(scope="module")
def training(trec_pool: Pool) -> TrainingSet:
    return TrainingSet(np.arange(LABELLED), np.array(trec_pool.labels[:LABELLED]), PseudoLabels.none())


@pytest.fixture(scope="module")
def fitted(learner: FineTuning, tokens: Tokens, training: TrainingSet) -> FineTuned:
    return learner.fit(tokens, training, Objective(), Streams(0))


@pytest.fixture(scope="module")
def readout(fitted: FineTuned, tokens: Tokens) -> Readout:
    return fitted.read(tokens)


@pytest.fixture(scope="module")
def saved(fitted: FineTuned, trec_pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    fitted.save(folder, trec_pool.classes, "a card: naïve")
    return folder


def test_a_readout_has_a_distribution_and_an_embedding_for_every_text(readout: Readout, trec_pool: Pool) -> None:
    assert readout.log_proba.shape == (READ, len(trec_pool.classes)) and readout.embedding.shape == (READ, 384)
    assert readout.log_proba.dtype == readout.embedding.dtype == torch.float32
    torch.testing.assert_close(readout.log_proba.exp().sum(1), torch.ones(READ), rtol=0, atol=1e-5)


@pytest.mark.parametrize("budget", [40, 300, 10**6])
def test_a_readout_does_not_depend_on_its_batches(
    fitted: FineTuned, tokens: Tokens, readout: Readout, budget: int
) -> None:
    other = fitted.read(tokens, budget=budget)
    torch.testing.assert_close(other.log_proba, readout.log_proba, rtol=0, atol=1e-5)
    torch.testing.assert_close(other.embedding, readout.embedding, rtol=0, atol=1e-5)


def test_a_readout_is_in_the_order_of_the_texts(fitted: FineTuned, tokens: Tokens, readout: Readout) -> None:
    rows = np.random.default_rng(0).permutation(READ)[:30]
    other = fitted.read(tokens.only(rows))
    torch.testing.assert_close(other.log_proba, readout.log_proba[rows], rtol=0, atol=1e-5)
    torch.testing.assert_close(other.embedding, readout.embedding[rows], rtol=0, atol=1e-5)


def test_reading_twice_gives_the_same_bits(fitted: FineTuned, tokens: Tokens, readout: Readout) -> None:
    again = fitted.read(tokens)
    assert torch.equal(again.log_proba, readout.log_proba) and torch.equal(again.embedding, readout.embedding)


def test_fitting_learns_its_own_rows(
    learner: FineTuning, readout: Readout, tokens: Tokens, training: TrainingSet
) -> None:
    labels = torch.from_numpy(training.labels)
    network = load_classifier(learner.folder, learner.classes, learner.device, Streams(0).integer("head")).eval()
    fresh = FineTuned(network, learner.tokenizer, learner.device, learner.recipe).read(tokens)
    before, after = (
        torch.nn.functional.nll_loss(found.log_proba[:LABELLED], labels).item() for found in (fresh, readout)
    )
    assert after < 0.7 * before
    assert (readout.log_proba[:LABELLED].argmax(1) == labels).float().mean() > 0.6  # chance is near a quarter


def test_the_same_streams_give_the_same_model_and_the_global_generator_rests(
    learner: FineTuning, tokens: Tokens, training: TrainingSet
) -> None:
    quick = FineTuning(learner.folder, learner.classes, 64, replace(RECIPE, epochs=1), learner.device)
    before = torch.get_rng_state()
    one = quick.fit(tokens, training, Objective(), Streams(5, 2)).network.state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(99)
    two = quick.fit(tokens, training, Objective(), Streams(5, 2)).network.state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_frozen_embeddings_keep_their_values(learner: FineTuning, fitted: FineTuned) -> None:
    network = load_classifier(learner.folder, learner.classes, learner.device)
    old, new = network.state_dict(), fitted.network.state_dict()
    still = [key for key in new if torch.equal(new[key], old[key]) and not key.endswith(("position_ids", "bias"))]
    assert RECIPE.freeze_embeddings
    assert still == [f"bert.embeddings.{name}_embeddings.weight" for name in ("word", "position", "token_type")]


@pytest.mark.parametrize("family", CONFIGS)
def test_only_embedding_tables_are_frozen(family: str, tmp_path: Path, cpu: torch.device) -> None:
    """MPNet keeps the learnt bias of attention by distance in an nn.Embedding, which is no table of vectors."""
    learner = FineTuning(save_tiny(tmp_path / family, family), 3, LIMIT, RECIPE, cpu)
    network = learner._fresh(Streams(0)).network
    frozen = [name for name, weight in network.named_parameters() if not weight.requires_grad]
    assert frozen and all(".embeddings." in name and name.endswith("embeddings.weight") for name in frozen), frozen


def test_a_model_says_the_same_after_save_and_load(
    learner: FineTuning, saved: Path, tokens: Tokens, readout: Readout
) -> None:
    loaded = learner.load(saved).read(tokens)
    assert torch.equal(loaded.log_proba, readout.log_proba) and torch.equal(loaded.embedding, readout.embedding)


def test_transformers_alone_opens_a_saved_model(saved: Path, trec_pool: Pool, readout: Readout) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline

    texts, names = list(trec_pool.texts[:10]), list(trec_pool.classes)
    network: Any = AutoModelForSequenceClassification.from_pretrained(saved)
    tokenizer = AutoTokenizer.from_pretrained(saved)
    assert network.config.id2label == dict(enumerate(names))
    with torch.inference_mode():
        output = network(**tokenizer(texts, padding=True, return_tensors="pt"), output_hidden_states=True)
    torch.testing.assert_close(output.logits.log_softmax(1), readout.log_proba[:10], rtol=0, atol=1e-5)
    torch.testing.assert_close(output.hidden_states[-1][:, 0], readout.embedding[:10], rtol=0, atol=1e-5)
    classify: Any = pipeline("text-classification", str(saved), device="cpu")
    for said, log_proba in zip(classify(texts, top_k=None), readout.log_proba[:10], strict=True):
        found = {entry["label"]: entry["score"] for entry in said}
        assert found == pytest.approx(dict(zip(names, log_proba.exp().tolist(), strict=True)), abs=1e-5)


def test_a_saved_folder_holds_safetensors_and_the_card(saved: Path) -> None:
    names = {file.name for file in saved.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "README.md"} <= names
    assert not {name for name in names if name.endswith((".bin", ".pt", ".pkl"))}
    assert (saved / "README.md").read_text(encoding="utf-8") == "a card: naïve"


def test_a_diverged_model_is_reported_with_ids(
    learner: FineTuning, saved: Path, tokens: Tokens, trec_pool: Pool
) -> None:
    broken = learner.load(saved)
    with torch.no_grad():
        broken.network.get_submodule("classifier").weight.fill_(torch.nan)  # type: ignore[operator]
    view = View(broken.read(tokens), range(READ), ids=trec_pool.ids[:READ])
    with pytest.raises(Diverged, match=f"NaN for {READ} of {READ} texts .ids {trec_pool.ids[0]}, {trec_pool.ids[1]}"):
        view.log_proba  # noqa: B018


# laws that need no real encoder


def tiny_learner(folder: Path, **changes: Any) -> tuple[FineTuning, Tokens]:
    learner = FineTuning(folder, 3, 128, replace(CPU, epochs=4, **changes), torch.device("cpu"))
    return learner, learner.prepare(TEXTS)


def test_cut_texts_are_told(tiny: Path) -> None:
    learner, _ = tiny_learner(tiny)
    assert learner.notes == ["3 of 30 texts were truncated to 16 tokens"] and learner.cut == 3


def test_the_best_dev_checkpoint_is_what_is_kept(tiny: Path) -> None:
    """A dev set labelled by the last step keeps it; one where the last step is always wrong keeps an earlier one."""
    learner, tokens = tiny_learner(tiny, learning_rate=0.02, dev_every=4)
    training = training_of(18)
    last = learner.fit(tokens, training, Objective(), Streams(0))
    dev = Labelled(tokens, last.read(tokens).log_proba.argmax(1).numpy())
    best = learner.fit(tokens, training, Objective(), Streams(0), dev)
    assert (best.read(tokens).log_proba.argmax(1).numpy() == dev.labels).all()
    inverted = Labelled(tokens, (dev.labels + 1) % 3)
    other = learner.fit(tokens, training, Objective(), Streams(0), inverted)
    assert (other.read(tokens).log_proba.argmax(1).numpy() != dev.labels).any()


def test_a_dropped_classifier_leaves_memory_at_once(tiny: Path) -> None:
    """No reference cycle: a round's network must be gone before the next one is loaded."""
    learner, tokens = tiny_learner(tiny)
    gc.disable()
    try:
        classifier = learner.fit(tokens, training_of(9), Objective(), Streams(0))
        classifier.read(tokens)
        network = weakref.ref(classifier.network)
        del classifier
        assert network() is None
    finally:
        gc.enable()
