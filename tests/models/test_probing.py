"""A head on frozen embeddings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from actune.core.objective import Objective
from actune.core.pool import Pool
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.models import probing
from actune.models.encoders import load_encoder, load_tokenizer, pool, pooling_mode
from actune.models.learners import PROBE
from actune.models.probing import Probing, one_thread
from tests.models.tiny import TEXTS, training_of

CPU = torch.device("cpu")
QUICK = replace(PROBE, epochs=3, steps=5)


def probe(folder: Path, limit: int = 128) -> Probing:
    return Probing(folder, 3, limit, QUICK, CPU)


# pooling


def naive_pool(hidden: list[list[float]], mode: str) -> np.ndarray[Any, np.dtype[Any]]:
    vectors = np.asarray(hidden)
    pooled = {"cls": vectors[0], "mean": vectors.mean(0), "max": vectors.max(0)}[mode]
    return pooled / np.sqrt((pooled**2).sum())  # type: ignore[no-any-return]


@pytest.mark.parametrize("mode", ["mean", "cls", "max"])
def test_pooling_leaves_padding_out(mode: str) -> None:
    hidden = torch.randn(4, 6, 5, generator=torch.Generator().manual_seed(0))
    lengths = [6, 1, 3, 5]
    mask = (torch.arange(6) < torch.tensor(lengths)[:, None]).long()
    hidden[mask == 0] = 1e3  # would show
    found = pool(hidden, mask, mode)
    for row, length in enumerate(lengths):
        np.testing.assert_allclose(found[row], naive_pool(hidden[row, :length].tolist(), mode), atol=1e-6)
    torch.testing.assert_close(found.norm(dim=1), torch.ones(4))


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        (None, "mean"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_cls_token": True}, "cls"),
        ({"pooling_mode_max_tokens": True}, "max"),
        ({"pooling_mode": "cls"}, "cls"),  # as sentence-transformers 6 writes it
        ({"pooling_mode": "mean"}, "mean"),
    ],
)
def test_the_authors_own_pooling_is_used(settings: dict[str, Any] | None, mode: str, tmp_path: Path) -> None:
    if settings is not None:
        (tmp_path / "1_Pooling").mkdir()
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(settings))
    assert pooling_mode(tmp_path) == mode


def test_embeddings_are_the_encoders_own(minilm: Path, trec_pool: Pool) -> None:
    """One text at a time through transformers, mean over tokens, unit length."""
    texts = trec_pool.texts[:12]
    found = torch.nn.functional.normalize(probe(minilm, 64).own_embeddings(texts), dim=1)
    encoder, tokenizer = load_encoder(minilm, CPU), load_tokenizer(minilm)
    with torch.inference_mode():
        alone = [encoder(**tokenizer(text, return_tensors="pt"))[0][0].mean(0) for text in texts]
    expected = torch.nn.functional.normalize(torch.stack(alone), dim=1)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    assert not any(parameter.requires_grad for parameter in encoder.parameters()) and not encoder.training


# the head


def test_a_probe_learns_real_questions(minilm: Path, trec_pool: Pool) -> None:
    texts, labels = trec_pool.texts[:300], np.asarray(trec_pool.labels[:300])
    learner = Probing(minilm, len(trec_pool.classes), 64, PROBE, CPU)
    inputs = learner.prepare(texts)
    training = TrainingSet(np.arange(100), labels[:100], PseudoLabels.none())
    threads = torch.get_num_threads()
    readout = learner.fit(inputs, training, Objective(), Streams(0)).read(inputs)
    predicted = readout.log_proba.argmax(1).numpy()
    assert (predicted[:100] == labels[:100]).mean() > 0.9
    assert (predicted[100:] == labels[100:]).mean() > 0.45  # chance is near a quarter
    assert torch.get_num_threads() == threads


def test_the_embedding_of_a_probe_is_its_hidden_layer(tiny: Path) -> None:
    learner = probe(tiny)
    inputs = learner.prepare(TEXTS)
    classifier = learner.fit(inputs, training_of(12), Objective(), Streams(0))
    readout = classifier.read(inputs)
    assert readout.embedding.shape == (len(TEXTS), 256) and (readout.embedding >= 0).all()
    with torch.no_grad():
        torch.testing.assert_close(classifier.network.out(readout.embedding).log_softmax(1), readout.log_proba)


def test_threads_come_back_after_an_error() -> None:
    threads = torch.get_num_threads()
    with pytest.raises(KeyError), one_thread(CPU):
        assert torch.get_num_threads() == 1
        raise KeyError
    assert torch.get_num_threads() == threads


def test_a_saved_probe_names_its_classes(tiny: Path, tmp_path: Path) -> None:
    learner = probe(tiny)
    inputs = learner.prepare(TEXTS)
    folder = tmp_path / "new" / "folder"
    learner.fit(inputs, training_of(12), Objective(), Streams(0)).save(folder, ["a", "é", "c"], "a card")
    assert json.loads((folder / "probe.json").read_text())["classes"] == ["a", "é", "c"]
    assert {file.name for file in folder.iterdir()} == {"head.safetensors", "probe.json", "README.md"}


def test_very_many_embeddings_are_read_in_blocks(
    minilm: Path, trec_pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = Probing(minilm, len(trec_pool.classes), 64, QUICK, CPU)
    inputs = learner.prepare(trec_pool.texts[:300])
    training = TrainingSet(np.arange(50), np.array(trec_pool.labels[:50]), PseudoLabels.none())
    classifier = learner.fit(inputs, training, Objective(), Streams(0))
    whole = classifier.read(inputs, head_input=True)
    monkeypatch.setattr(probing, "MANY", 200)
    monkeypatch.setattr(probing, "BLOCK", 64)
    inputs = learner.prepare(trec_pool.texts[:300])
    assert inputs.mapped is not None
    blocks = classifier.read(inputs, head_input=True)
    for name in ("log_proba", "embedding", "head_input"):
        torch.testing.assert_close(getattr(blocks, name), getattr(whole, name), rtol=1e-5, atol=1e-6)
    again = learner.prepare(trec_pool.texts[:300])
    assert torch.equal(inputs.vectors, again.vectors)  # what was given back is read again
    released: list[int] = []
    monkeypatch.setattr(probing, "FEW", 50)
    monkeypatch.setattr(probing.Embeddings, "let_go", lambda inputs: released.append(len(inputs)))
    rows = np.random.default_rng(0).permutation(300)[:120]
    assert torch.equal(inputs.only(rows).vectors, inputs.vectors[torch.from_numpy(rows)]) and released == [300] * 3
