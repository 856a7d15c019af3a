"""A head on frozen embeddings, and the cache that keeps them."""

from __future__ import annotations

import json
import os
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
from actune.models.cache import Room, cached_vectors
from actune.models.encoders import load_encoder, load_tokenizer, pool, pooling_mode
from actune.models.learners import PROBE
from actune.models.probing import Probing, one_thread
from tests.models.tiny import TEXTS, save_tiny, training_of

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
    found = probe(minilm, 64).prepare(texts).vectors
    encoder, tokenizer = load_encoder(minilm, CPU), load_tokenizer(minilm)
    with torch.inference_mode():
        alone = [encoder(**tokenizer(text, return_tensors="pt"))[0][0].mean(0) for text in texts]
    expected = torch.nn.functional.normalize(torch.stack(alone), dim=1)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    assert not any(parameter.requires_grad for parameter in encoder.parameters()) and not encoder.training


# the cache


def never() -> Any:
    raise AssertionError("computed although it was kept")


def kept(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()} if folder.is_dir() else set()


def test_what_was_read_is_read_from_the_cache(tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = probe(tiny).prepare(TEXTS).vectors
    assert len(kept(cache)) == 1 and cache.stat().st_mode & 0o077 == 0
    recomputed = torch.from_numpy(probe(tiny)._embed(TEXTS, lambda *_: None)[0])
    monkeypatch.setattr(Probing, "_embed", never)
    assert torch.equal(probe(tiny).prepare(TEXTS).vectors, first) and torch.equal(recomputed, first)


def test_the_cache_has_a_name_for_all_that_decides_a_vector(tiny: Path, tmp_path: Path, cache: Path) -> None:
    names: set[str] = set()

    def is_new(texts: list[str], limit: int = 128, folder: Path = tiny) -> bool:
        before = len(names)
        probe(folder, limit).prepare(texts)
        names.update(kept(cache))
        return len(names) == before + 1

    assert is_new(["who", "where"])
    assert not is_new(["who", "where"])
    assert is_new(["where", "who"]) and is_new(["whow", "here"]) and is_new(["who"])
    assert is_new(["who", "where"], limit=4)
    with one_thread(CPU):
        assert is_new(["who", "where"]) or torch.get_num_threads() == 1
    (tiny / "1_Pooling").mkdir()
    (tiny / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    assert is_new(["who", "where"])
    other = save_tiny(tmp_path / "other", "electra")
    assert is_new(["who", "where"], folder=other)
    tokenizer = json.loads((tiny / "tokenizer.json").read_text())
    tokenizer["normalizer"] = {"type": "Lowercase"}
    (tiny / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert is_new(["who", "where"])


def test_the_thread_count_is_part_of_the_name(tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for threads in (1, 2, 2):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        cached_vectors(tiny, ["who"], "mean", lambda room: (np.zeros((1, 2), np.float32), 0))
    assert len(kept(cache)) == 2


def test_what_is_kept_is_mapped_and_knows_how_many_texts_were_cut(tiny: Path, cache: Path) -> None:
    made = np.arange(6, dtype=np.float32).reshape(3, 2)
    for _ in ("computed", "kept"):
        vectors, cut = cached_vectors(tiny, ["who", "where", "when"], "mean", lambda room: (made, 2))
        assert type(vectors) is np.memmap and np.array_equal(vectors, made) and cut == 2


def test_cut_texts_are_told_whether_they_are_read_or_kept(tiny: Path, cache: Path) -> None:
    for _ in ("computed", "kept"):
        learner = probe(tiny, limit=4)
        learner.prepare(["who", "who is the man", "where is the man"])
        assert learner.cut == 2 and learner.notes == ["2 of 3 texts were cut at 4 tokens"]
    learner.prepare(["who"])
    assert learner.cut == 0


def test_what_a_killed_process_has_left_is_not_taken_for_whole(tiny: Path, cache: Path) -> None:
    def killed(room: Room) -> Any:
        room((3, 2))[:] = 7
        os._exit(0)

    def whole(room: Room) -> Any:
        made = room((3, 2))
        made[:] = 1
        return made, 0

    if (child := os.fork()) == 0:
        cached_vectors(tiny, ["who", "where", "when"], "mean", killed)
    os.waitpid(child, 0)
    assert [name[:4] for name in kept(cache)] == ["tmp-"]
    assert (cached_vectors(tiny, ["who", "where", "when"], "mean", whole)[0] == 1).all()
    assert [name[:4] == "tmp-" for name in kept(cache)] == [False]


def test_an_interrupted_computation_leaves_nothing(tiny: Path, cache: Path) -> None:
    def interrupted(room: Room) -> Any:
        room((3, 2))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cached_vectors(tiny, ["who"], "mean", interrupted)
    assert kept(cache) == set()


def test_two_that_compute_the_same_both_have_it(tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one removes the file of the first, which still holds what it has computed."""

    def second(room: Room) -> Any:
        made = room((3, 2))
        made[:] = 2
        return made, 0

    def first(room: Room) -> Any:
        made = room((3, 2))
        made[:] = 1
        with monkeypatch.context() as other:
            other.setattr(os, "getpid", lambda: 1)
            assert (cached_vectors(tiny, ["who"], "mean", second)[0] == 2).all()
        return made, 0

    assert (cached_vectors(tiny, ["who"], "mean", first)[0] == 1).all()
    assert len(kept(cache)) == 1


def test_a_cache_that_cannot_be_written_only_costs_time(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = probe(tiny).prepare(TEXTS).vectors
    (tmp_path / "a file").write_text("not a folder")
    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / "a file"))
    assert torch.equal(probe(tiny).prepare(TEXTS).vectors, usual)
    assert (tmp_path / "a file").read_text() == "not a folder"


@pytest.mark.parametrize("rubbish", [b"", b"\x93NUMPY", b"anything"])
def test_a_broken_cache_file_is_replaced(tiny: Path, cache: Path, rubbish: bytes) -> None:
    usual = probe(tiny).prepare(TEXTS).vectors.clone()  # the array itself is mapped from the file that is broken here
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    for broken in (rubbish, whole[: len(whole) // 2]):
        file.write_bytes(broken)
        assert torch.equal(probe(tiny).prepare(TEXTS).vectors, usual)
        assert file.read_bytes() == whole


def test_a_full_disk_leaves_no_scraps(tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    def full_file(file: Path, *_: Any, **__: Any) -> None:
        Path(file).write_bytes(b"half")
        full()

    usual = probe(tiny).prepare(TEXTS).vectors
    (cache / kept(cache).pop()).unlink()
    monkeypatch.setattr(os, "posix_fallocate", full)  # of the array that is computed into
    monkeypatch.setattr(np, "save", full_file)  # of what was computed in memory then
    assert torch.equal(probe(tiny).prepare(TEXTS).vectors, usual)
    assert kept(cache) == set()


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
