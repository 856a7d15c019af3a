"""What bfloat16 changes in a readout of real questions: next to nothing, and never who is asked."""

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
from actune.models.finetuning import FineTuning
from actune.models.layers import UpperLayers
from actune.models.learners import CPU
from actune.models.probing import Probing


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


def test_embeddings_of_another_precision_are_other_embeddings(
    minilm: Path, trec_pool: Pool, cpu: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = Probing(minilm, 6, 32, CPU, cpu)
    whole = learner.prepare(trec_pool.texts[:20])
    monkeypatch.setattr(precision, "native", lambda device: True)
    half = learner.prepare(trec_pool.texts[:20])
    assert not torch.equal(whole, half)
    assert torch.cosine_similarity(whole, half).min() > 0.999
