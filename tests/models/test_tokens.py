"""Ragged token arrays, with the real tokenizer on real questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.core.pool import Pool
from actune.errors import StorageError
from actune.models import tokens as tokens_module
from actune.models.encoders import load_tokenizer
from actune.models.tokens import Tokens, tokenize
from tests.models.tiny import save_tiny

CPU = torch.device("cpu")
LONG = "how long is this question " * 20


@pytest.fixture(scope="module")
def tokenizer(minilm: Path) -> Any:
    return load_tokenizer(minilm)


def ragged(lengths: list[int], pad: int = 0) -> Tokens:
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Tokens(np.arange(1, offsets[-1] + 1, dtype=np.int32), offsets.astype(np.int64), pad, 0)


def unpadded(tokens: Tokens, rows: Any) -> list[list[int]]:
    batch = tokens.batch(rows, CPU)
    pairs = zip(batch["input_ids"], batch["attention_mask"], strict=True)
    return [ids[mask == 1].tolist() for ids, mask in pairs]


def test_texts_come_back_as_the_tokenizer_gave_them(tokenizer: Any, trec_pool: Pool) -> None:
    texts = [*trec_pool.texts[:40], "", "naïve 日本 🙂"]
    tokens = tokenize(tokenizer, texts, 64)
    expected = [tokenizer(text)["input_ids"] for text in texts]
    assert len(tokens) == 42 and tokens.cut == 0
    assert tokens.lengths.tolist() == [len(ids) for ids in expected]
    assert unpadded(tokens, np.arange(42)) == expected
    assert all(ids[0] == tokenizer.cls_token_id and ids[-1] == tokenizer.sep_token_id for ids in expected)


def test_chunks_change_nothing(tokenizer: Any, trec_pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tokenize(tokenizer, trec_pool.texts[:25], 12)
    monkeypatch.setattr(tokens_module, "CHUNK", 10)
    told: list[tuple[str, int, int]] = []
    pieces = tokenize(tokenizer, trec_pool.texts[:25], 12, lambda *facts: told.append(facts))
    assert (pieces.flat == whole.flat).all() and (pieces.offsets == whole.offsets).all() and pieces.cut == whole.cut
    assert told == [("tokenize", 10, 25), ("tokenize", 20, 25), ("tokenize", 25, 25)]


def test_long_texts_are_cut_counted_and_still_closed(tokenizer: Any) -> None:
    exact = "one two three four five six"  # eight tokens with both special ones
    tokens = tokenize(tokenizer, ["short", LONG, exact, f"{exact} seven", LONG], 8)
    assert tokens.cut == 3 and tokens.lengths.tolist() == [3, 8, 8, 8, 8]
    assert {ids[-1] for ids in unpadded(tokens, np.arange(5))} == {tokenizer.sep_token_id}


@pytest.mark.parametrize(("family", "pad"), [("bert", 0), ("roberta", 1)])
def test_batches_are_padded_with_the_tokenizers_own_id(family: str, pad: int, tmp_path: Path) -> None:
    batch = tokenize(load_tokenizer(save_tiny(tmp_path, family)), ["who is the man", "who"], 16).batch([0, 1], CPU)
    assert batch["input_ids"].dtype == batch["attention_mask"].dtype == torch.int64
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]]
    assert batch["input_ids"][1, 3:].tolist() == [pad] * 3


def test_a_batch_keeps_the_order_asked_for() -> None:
    tokens = ragged([2, 1, 3], pad=99)
    assert tokens.batch([2, 0, 2], CPU)["input_ids"].tolist() == [[4, 5, 6], [1, 2, 99], [4, 5, 6]]


def test_only_some_rows() -> None:
    tokens = ragged([2, 1, 3, 4], pad=5)
    some = tokens.only(np.array([3, 0, 2]))
    assert some.lengths.tolist() == [4, 2, 3] and some.pad == 5 and some.offsets.dtype == np.int64
    assert unpadded(some, np.arange(3)) == unpadded(tokens, np.array([3, 0, 2]))
    assert len(tokens.only(np.empty(0, np.int64))) == 0


@settings(deadline=None)
@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 200))
def test_batches_cover_every_row_once_within_the_budget(lengths: list[int], budget: int) -> None:
    tokens = ragged(lengths)
    batches = [rows.tolist() for rows in tokens.batches(budget)]
    order = [row for rows in batches for row in rows]
    assert sorted(order) == list(range(len(lengths)))
    assert order == sorted(order, key=lambda row: (-lengths[row], row))
    for rows in batches:
        assert len(rows) == 1 or len(rows) * max(lengths[row] for row in rows) <= budget


def test_no_texts_are_no_tokens(tokenizer: Any) -> None:
    tokens = tokenize(tokenizer, [], 16)
    assert len(tokens) == 0 and not list(tokens.batches(100))


def test_many_tokens_lie_in_a_file(
    tokenizer: Any, trec_pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / "cache"))
    texts = trec_pool.texts[:95]
    usual = tokenize(tokenizer, texts, 12)
    assert not (tmp_path / "cache").exists()
    monkeypatch.setattr(tokens_module, "CHUNK", 10)
    monkeypatch.setattr(tokens_module, "MOST_IN_MEMORY", 150)
    many = tokenize(tokenizer, texts, 12)
    assert many.flat.dtype == np.int32 and not many.flat.flags.writeable  # mapped from the file
    assert (many.flat == usual.flat).all() and (many.offsets == usual.offsets).all() and many.cut == usual.cut
    rows = np.array([90, 3, 40])
    assert torch.equal(many.batch(rows)["input_ids"], usual.batch(rows)["input_ids"])
    assert not list((tmp_path / "cache").iterdir())  # the file has no name, so nothing is left behind


def test_without_a_cache_tokens_stay_in_memory(
    tokenizer: Any, trec_pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = tokenize(tokenizer, trec_pool.texts[:95], 12)
    monkeypatch.setattr(tokens_module, "CHUNK", 10)
    monkeypatch.setattr(tokens_module, "MOST_IN_MEMORY", 150)
    (tmp_path / "a file").write_text("not a folder")
    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / "a file"))
    assert (tokenize(tokenizer, trec_pool.texts[:95], 12).flat == usual.flat).all()


def test_tokens_on_a_full_disk(
    tokenizer: Any, trec_pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        def write(self, _: Any) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path))
    monkeypatch.setattr(tokens_module, "MOST_IN_MEMORY", 150)
    monkeypatch.setattr(tokens_module, "TemporaryFile", lambda dir: Full())
    with pytest.raises(
        StorageError,
        match=r"could not be written to .* \(No space left on device\): free some space, or set ACTUNE_CACHE",
    ):
        tokenize(tokenizer, trec_pool.texts[:95], 12)
