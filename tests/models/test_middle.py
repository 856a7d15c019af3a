"""The middle layers beside an encoder's own embedding: the same numbers whichever way texts are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from actune.core.objective import PLAIN
from actune.core.streams import Streams
from actune.errors import ModelError
from actune.models.encoders import load_encoder, load_tokenizer, pool
from actune.models.learners import PROBE
from actune.models.middle import middle_layers, middle_of, stack_of
from actune.models.probing import OWN, Probing, own_part
from tests.models.tiny import CONFIGS, TEXTS, save_tiny, training_of

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    home = tmp_path_factory.mktemp("families")
    return lambda family: home / family if (home / family).exists() else save_tiny(home / family, family)


def probe(folder: Path, **changes: object) -> Probing:
    return Probing(folder, 3, 16, replace(PROBE, epochs=2, **changes), CPU)


def test_the_middle_is_from_a_half_of_the_layers_to_two_thirds() -> None:
    counts = {1: [], 2: [1], 3: [1, 2], 4: [2], 6: [3, 4], 12: [6, 7, 8], 24: [12, 13, 14, 15, 16]}
    for count, expected in counts.items():
        assert list(middle_of(count)) == (expected if count > 1 else list(middle_of(1)))
        network = nn.Sequential(nn.ModuleList(nn.Linear(1, 1) for _ in range(count)))
        assert list(middle_layers(network)) == expected
    assert list(middle_layers(nn.Linear(2, 2))) == []


@pytest.mark.parametrize("fast", [True, False], ids=["packed", "padded"])
@pytest.mark.parametrize("family", CONFIGS)
def test_embeddings_are_those_of_transformers(family: str, fast: bool, folders: Callable[[str], Path]) -> None:
    """One text at a time, with all hidden states."""
    folder = folders(family)
    found = probe(folder, fast=fast).prepare(TEXTS).vectors
    encoder, tokenizer = load_encoder(folder, CPU), load_tokenizer(folder)
    layers = middle_layers(encoder)
    assert bool(layers) is (family != "albert")  # whose layers are one, again and again
    for text, vector in zip(TEXTS, found, strict=True):
        given = tokenizer(text, return_tensors="pt", truncation=True, max_length=16, return_token_type_ids=False)
        with torch.inference_mode():
            said = encoder(**given, output_hidden_states=True)
        mask = given["attention_mask"]
        own = pool(said.last_hidden_state, mask, "mean")[0]
        expected = own
        if layers:
            middle = pool(torch.stack([said.hidden_states[layer] for layer in layers]).mean(0), mask, "mean")[0]
            expected = torch.cat([own * OWN**0.5, middle * (1 - OWN) ** 0.5])
        torch.testing.assert_close(vector, expected, rtol=0, atol=0.02 if fast else 1e-5)  # bfloat16 where native
        assert float(vector.norm()) == pytest.approx(1, abs=1e-3)


def test_the_own_part_is_the_embedding_without_the_middle_layers(folders: Callable[[str], Path]) -> None:
    folder = folders("bert")
    alone = probe(folder, middle_layers=False)
    plain = alone.prepare(TEXTS).vectors
    both = probe(folder).prepare(TEXTS).vectors
    assert both.shape[1] == 2 * plain.shape[1]
    torch.testing.assert_close(own_part(both, plain.shape[1]), plain)
    torch.testing.assert_close(probe(folder).own_embeddings(TEXTS), plain * OWN**0.5)
    assert torch.equal(alone.own_embeddings(TEXTS), plain)


def test_a_probe_of_own_embeddings_still_reads(folders: Callable[[str], Path], tmp_path: Path) -> None:
    """A run or a saved model of an earlier version, which had no middle layers."""
    folder = folders("bert")
    older, newer = probe(folder, middle_layers=False), probe(folder)
    training = training_of(12)
    model = older.fit(older.prepare(TEXTS), training, PLAIN, Streams(0))
    expected = model.read(older.prepare(TEXTS)).log_proba
    model.save(tmp_path / "old", ["a", "b", "c"], "")
    found = newer.load(tmp_path / "old").read(newer.prepare(TEXTS)).log_proba
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    new = newer.fit(newer.prepare(TEXTS), training, PLAIN, Streams(0))
    assert new.network.hidden.in_features == 2 * model.network.hidden.in_features
    with pytest.raises(ModelError, match="use the encoder that it was trained with"):
        new.read(older.prepare(TEXTS))


def test_no_hook_stays(folders: Callable[[str], Path]) -> None:
    by = probe(folders("bert"), fast=False)
    by.prepare(TEXTS)
    assert not any(layer._forward_hooks for layer in stack_of(by._encoder))


def test_a_real_encoder_has_them_too(minilm: Path, trec_pool) -> None:
    """That the numbers of a real encoder go where they should, not that one is better: both are far above chance."""
    texts, labels = trec_pool.texts[:400], np.asarray(trec_pool.labels[:400])
    by = Probing(minilm, len(trec_pool.classes), 64, PROBE, CPU)
    inputs = by.prepare(texts)
    assert inputs.vectors.shape == (400, 768)
    training = training_of(0)
    training = replace(training, rows=np.arange(100), labels=labels[:100])
    predicted = by.fit(inputs, training, PLAIN, Streams(0)).read(inputs).log_proba.argmax(1).numpy()
    assert (predicted[100:] == labels[100:]).mean() > 0.55  # chance is near a quarter
