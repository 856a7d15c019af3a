"""What bfloat16 changes in a readout of real questions: next to nothing, and never who is asked or trusted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from actune.core.objective import Objective
from actune.core.pool import Pool
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.models import precision
from actune.models.encoders import load_classifier
from actune.models.finetuning import FineTuned, FineTuning, last_linear
from actune.models.layers import UpperLayers
from actune.models.learners import CPU
from actune.models.probing import Probing
from actune.models.sampling import dropout_layers
from actune.models.tokens import Tokens
from tests.models.tiny import CONFIGS, LIMIT, TEXTS, save_tiny

# on a CPU only texts that lie end to end are read in bfloat16
pytestmark = pytest.mark.usefixtures("fast_code")


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any CPU computes in bfloat16 if it must."""
    monkeypatch.setattr(precision, "native", lambda device: True)


def test_a_network_that_is_half_already_is_taken_as_it_is(native: None) -> None:
    network = torch.nn.Linear(3, 3)
    half = precision.halved(network)
    assert half is not network and half.weight.dtype == torch.bfloat16 and network.weight.dtype == torch.float32
    assert precision.halved(half) is half


def test_where_it_is_not_native_nothing_is_copied() -> None:
    network = torch.nn.Linear(3, 3)
    assert precision.halved(network) is network


@pytest.mark.parametrize("kind", [FineTuning, UpperLayers])
def test_a_readout_in_bfloat16_asks_the_same_questions(
    kind: type[FineTuning], minilm: Path, trec_pool: Pool, cpu: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = kind(minilm, 6, 32, replace(CPU, epochs=3, train_layers=2), cpu)
    tokens, rows = learner.prepare(trec_pool.texts[:600]), np.arange(60)
    labels = np.asarray(trec_pool.labels)[rows]
    classifier = learner.fit(tokens, TrainingSet(rows, labels, PseudoLabels.none()), Objective(), Streams(0))
    whole = classifier.read(tokens)
    monkeypatch.setattr(precision, "native", lambda device: True)
    half = classifier.read(tokens)
    assert not torch.equal(whole.log_proba, half.log_proba)
    assert torch.cosine_similarity(whole.embedding, half.embedding).min() > 0.999
    uncertain = [
        set((-(said.log_proba.exp() * said.log_proba).sum(1)).topk(100).indices.tolist()) for said in (whole, half)
    ]
    assert len(uncertain[0] & uncertain[1]) >= 95


def tiny_classifier(folder: Path, family: str, cpu: torch.device) -> tuple[FineTuned, Tokens]:
    learner = FineTuning(save_tiny(folder / family, family), 3, LIMIT, CPU, cpu)
    network = load_classifier(learner.folder, 3, cpu, seed=0).eval()
    return FineTuned(network, learner.tokenizer, cpu, learner.recipe), learner.prepare([text for text in TEXTS if text])


def check_head_is_exact(classifier: FineTuned, tokens: Tokens) -> None:
    """The last product is one of float32 numbers, in a read and in passes with dropout; the network stays as it was."""
    modules = [*classifier.network.modules()]
    found = classifier.read(tokens, head_input=True)
    last = last_linear(classifier.network)
    assert found.head_input is not None and isinstance(last, torch.nn.Linear)
    with torch.no_grad():
        logits = torch.nn.functional.linear(found.head_input, last.weight.float(), last.bias.float())
    torch.testing.assert_close(found.log_proba, logits.log_softmax(1), rtol=0, atol=1e-6)
    said = [found.log_proba]
    if dropout_layers(classifier.network):
        said.append(classifier.sample(tokens, np.arange(len(tokens)), samples=2, seed=0).mean)
    assert all(len(each[:, 0].unique()) > len(each[:, 0].bfloat16().unique()) for each in said)
    assert [*classifier.network.modules()] == modules and "forward" not in vars(last)


@pytest.mark.parametrize("family", CONFIGS)
def test_the_head_computes_in_float32_whatever_is_below_it(
    family: str, tmp_path: Path, cpu: torch.device, native: None
) -> None:
    check_head_is_exact(*tiny_classifier(tmp_path, family, cpu))


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_a_network_in_training_that_is_bfloat16_itself_is_read_with_a_float32_head(
    family: str, tmp_path: Path, cpu: torch.device, native: None
) -> None:
    classifier, tokens = tiny_classifier(tmp_path, family, cpu)
    classifier.network.to(torch.bfloat16)
    check_head_is_exact(classifier, tokens)
    assert {weight.dtype for weight in classifier.network.parameters()} == {torch.bfloat16}


def test_embeddings_of_another_precision_are_other_embeddings(
    minilm: Path, trec_pool: Pool, cpu: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Probing(minilm, 6, 32, CPU, cpu).prepare(trec_pool.texts[:20]).vectors
    monkeypatch.setattr(precision, "native", lambda device: True)
    half = Probing(minilm, 6, 32, CPU, cpu).prepare(trec_pool.texts[:20]).vectors
    assert not torch.equal(whole, half)
    assert torch.cosine_similarity(whole, half).min() > 0.999
