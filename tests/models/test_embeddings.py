"""Embeddings are kept text by text: nothing is embedded twice, by whichever process, in whatever pool."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from actune.core.pool import Pool
from actune.core.progress import silent
from actune.core.strings import Strings
from actune.models import embeddings, precision
from actune.models.cache import without_cache
from actune.models.embeddings import EmbeddingStore, keys_of, stored_vectors
from actune.models.learners import PROBE
from actune.models.probing import Probing, one_thread
from tests.models.tiny import TEXTS, save_tiny

CPU = torch.device("cpu")
QUICK = replace(PROBE, epochs=3, steps=5)


def probe(folder: Path, limit: int = 128) -> Probing:
    return Probing(folder, 3, limit, QUICK, CPU)


class Counting:
    """Embeds a text as its length and first letter, and tells what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str], progress: Any = silent) -> tuple[Any, Any]:
        self.asked += texts
        vectors = np.array([[len(text), ord(text[0])] for text in texts], np.float32)
        return vectors, np.array([len(text) > 4 for text in texts])


def stored(folder: Path, texts: Sequence[str], how: str = "mean") -> tuple[Any, int, list[str]]:
    embed = Counting()
    vectors, cut = stored_vectors(folder, texts, how, embed)
    assert np.array_equal(vectors, Counting()(texts)[0])
    return vectors, cut, embed.asked


def files(cache: Path) -> set[str]:
    return {file.name for file in cache.rglob("*") if file.is_file()}


# what a vector depends on


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("fast", [True, False])
def test_a_vector_depends_on_its_own_text_alone(
    half: bool, fast: bool, minilm: Path, trec_pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit, whatever texts are read beside it and with however many threads."""
    if half and not torch.cpu.get_capabilities().get("avx512_bf16"):
        pytest.skip("this machine computes in float32")
    monkeypatch.setattr(precision, "native", lambda device: half)
    learner = Probing(minilm, 6, 64, replace(PROBE, fast=fast), CPU)
    texts = [*trec_pool.texts[:60], " ".join(trec_pool.texts[:9]), "?"]
    whole, _ = learner._embed(texts)
    rows = np.random.default_rng(0).permutation(len(texts))
    for size in (1, 7, 50):
        for part in np.array_split(rows[:40], -(-40 // size)):
            assert np.array_equal(learner._embed([texts[row] for row in part])[0], whole[part])
    with one_thread(CPU):
        assert np.array_equal(learner._embed(texts)[0], whole)


# what is kept


def test_what_was_read_is_not_read_again(tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = probe(tiny).prepare(TEXTS).vectors
    assert files(cache) == {"about.json", "keys", "vectors", "lock"}
    assert cache.stat().st_mode & 0o077 == 0 and all(path.stat().st_mode & 0o077 == 0 for path in cache.iterdir())
    recomputed = torch.from_numpy(probe(tiny)._embed(TEXTS)[0])
    monkeypatch.setattr(Probing, "_embed", lambda *_: pytest.fail("embedded although it was kept"))
    assert torch.equal(probe(tiny).prepare(TEXTS).vectors, first) and torch.equal(recomputed, first)


def test_only_new_texts_are_embedded(tiny: Path, cache: Path) -> None:
    assert stored(tiny, ["who", "where", "when"])[2] == ["who", "where", "when"]
    assert stored(tiny, ["when", "who"])[2] == []  # another split
    assert stored(tiny, Strings.of(["who", "how", "where", "how"]))[2] == ["how", "how"]  # a larger pool
    assert stored(tiny, ["how", "when"])[2] == []
    assert stored(tiny, ["how"], "cls")[2] == ["how"]


def test_all_that_decides_a_vector_has_a_store_of_its_own(tiny: Path, tmp_path: Path, cache: Path) -> None:
    def is_new(limit: int = 128, folder: Path = tiny) -> bool:
        before = len(list(cache.glob("*")))
        probe(folder, limit).prepare(["who", "where"])
        return len(list(cache.glob("*"))) == before + 1

    assert is_new() and not is_new() and is_new(limit=4)
    with one_thread(CPU):
        assert is_new() or torch.get_num_threads() == 1
    (tiny / "1_Pooling").mkdir()
    (tiny / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    assert is_new()
    assert is_new(folder=save_tiny(tmp_path / "other", "electra"))
    tokenizer = json.loads((tiny / "tokenizer.json").read_text())
    tokenizer["normalizer"] = {"type": "Lowercase"}
    (tiny / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert is_new()


def test_a_pool_in_one_piece_is_mapped_and_others_are_gathered(
    tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = ["who", "where", "who", "when", "where"]  # with repeated texts, as real pools have them
    assert type(stored(tiny, pool)[0]) is np.memmap and type(stored(tiny, pool)[0]) is np.memmap
    assert type(stored(tiny, [*pool, "how", "why"])[0]) is np.memmap  # texts that were added
    assert type(stored(tiny, pool[1:4])[0]) is np.memmap
    assert type(stored(tiny, pool[::-1])[0]) is np.ndarray
    monkeypatch.setattr(embeddings, "MOST_IN_MEMORY", 8)
    assert "mmap" in type(stored(tiny, pool[::-1])[0].base).__name__
    assert len(files(cache)) == 4  # the file that it lies in has no name


def test_cut_texts_are_told_whether_they_are_read_or_kept(tiny: Path, cache: Path) -> None:
    for _ in ("computed", "kept"):
        learner = probe(tiny, limit=4)
        learner.prepare(["who", "who is the man", "where is the man"])
        assert learner.cut == 2 and learner.notes == ["2 of 3 texts were truncated to 4 tokens"]
    learner.prepare(["who"])
    assert learner.cut == 0
    assert stored(tiny, ["where", "who", "whither"])[1] == 2 and stored(tiny, ["who", "where"])[1] == 1


def test_texts_to_predict_leave_nothing(tiny: Path, cache: Path) -> None:
    with without_cache():
        assert stored(tiny, ["who", "where"])[1:] == (1, ["who", "where"])
    assert not cache.exists()


def test_digests_that_begin_alike_are_told_apart(tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def alike(texts: Sequence[str]) -> Any:
        keys = keys_of(texts)
        keys[:, 0] = 7
        return keys

    monkeypatch.setattr(embeddings, "keys_of", alike)
    stored(tiny, ["who", "where", "when"])
    assert stored(tiny, ["when", "how", "where"])[2] == ["how"]


# several processes, and kills


def test_progress_counts_all_texts(tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "CHUNK", 10)
    probe(tiny).prepare(TEXTS[:5])
    seen: list[tuple[str, int, int]] = []
    probe(tiny).prepare(TEXTS, lambda *step: seen.append(step))
    assert {total for _, _, total in seen} == {len(TEXTS)} and seen[-1] == ("embed", len(TEXTS), len(TEXTS))
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen) and seen[0][1] > 5


def test_a_killed_process_keeps_what_it_had_written(tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "CHUNK", 2)
    if (child := os.fork()) == 0:
        write, done = embeddings._write_at, []

        def killed(file: Path, place: int, array: Any) -> None:
            done.append(file)
            write(file, place, array[: len(array) // 2 if len(done) == 4 else None])
            if len(done) == 4:
                os._exit(0)  # half of the second chunk's keys are written

        embeddings._write_at = killed
        stored_vectors(tiny, ["who", "where", "when", "how", "why"], "mean", Counting())
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    (store,) = cache.iterdir()
    with (store / "keys").open("ab") as file:
        file.write(b"half")
    assert stored(tiny, ["who", "where", "when", "how", "why"])[2] == ["how", "why"]
    assert stored(tiny, ["why", "where", "when", "how", "who"])[2] == []


def test_processes_that_embed_the_same_texts_agree(tiny: Path, cache: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from actune.models import embeddings\n"
        "from tests.models.test_embeddings import stored\n"
        "embeddings.CHUNK = 50; shift = int(sys.argv[2])\n"
        "texts = [f'text {(number * 7 + shift) % 400}' for number in range(400)]\n"
        "stored(Path(sys.argv[1]), texts); print(stored(Path(sys.argv[1]), texts[::-1])[2])"
    )
    command = [sys.executable, "-c", program, str(tiny)]
    running = [subprocess.Popen([*command, str(shift)], stdout=subprocess.PIPE) for shift in (0, 0, 90)]
    assert [process.communicate(timeout=60)[0].strip() for process in running] == [b"[]"] * 3
    (store,) = cache.iterdir()
    assert len(EmbeddingStore(store).rows_of(keys_of(["text 5"]))) == 1
    assert (store / "keys").stat().st_size // 16 == (store / "vectors").stat().st_size // 8 <= 500


def test_what_another_process_adds_meanwhile_is_used(tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "CHUNK", 2)
    texts, other = ["who", "where", "when", "how"], Counting()

    class Slow(Counting):
        def __call__(self, given: Sequence[str], progress: Any = silent) -> tuple[Any, Any]:
            if not self.asked:
                stored_vectors(tiny, texts[1:], "mean", other)
            return super().__call__(given, progress)

    slow = Slow()
    vectors, _ = stored_vectors(tiny, texts, "mean", slow)
    assert slow.asked == ["who", "where"] and other.asked == texts[1:]
    assert np.array_equal(vectors, Counting()(texts)[0])


# a cache that is broken, full or closed


def test_a_cache_that_cannot_be_written_only_costs_time(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = probe(tiny).prepare(TEXTS).vectors
    (tmp_path / "a file").write_text("not a folder")
    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / "a file"))
    assert torch.equal(probe(tiny).prepare(TEXTS).vectors, usual)
    assert (tmp_path / "a file").read_text() == "not a folder"


@pytest.mark.parametrize("name", ["about.json", "keys", "vectors"])
@pytest.mark.parametrize("rubbish", [b"", b"rubbish"])
def test_a_broken_store_begins_anew(name: str, rubbish: bytes, tiny: Path, cache: Path) -> None:
    texts = ["who", "where", "when"]
    stored(tiny, texts)
    (store,) = cache.iterdir()
    (store / name).write_bytes(rubbish)
    assert set(stored(tiny, texts)[2]) >= {"where", "when"}
    assert stored(tiny, texts)[2] == []


def test_a_disk_that_fills_up_keeps_what_fits(tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "CHUNK", 2)
    write, done = embeddings._write_at, []

    def full(file: Path, place: int, array: Any) -> None:
        done.append(file)
        write(file, place, array[:1] if len(done) > 2 else array)
        if len(done) > 2:
            raise OSError(28, "No space left on device")

    texts = ["who", "whither", "when", "whence", "how", "why"]
    with monkeypatch.context() as patch:
        patch.setattr(embeddings, "_write_at", full)
        vectors, cut, asked = stored(tiny, texts)
    assert type(vectors) is np.ndarray and cut == 2 and asked == texts
    assert stored(tiny, texts)[2] == texts[2:] and stored(tiny, texts)[2] == []


def test_files_of_earlier_versions_are_cleared_away(tiny: Path, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "0123-4.npy").write_bytes(b"all texts of a pool")
    stored(tiny, ["who"])
    assert "0123-4.npy" not in files(cache)
