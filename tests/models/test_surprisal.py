"""Surprisal: -log p of a text's own tokens in plain sight, at drawn places, however it is batched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from actune.core.pool import Pool
from actune.core.streams import Streams
from actune.errors import MissingSignal
from actune.models import masking
from actune.models import surprisal as module
from actune.models.encoders import load_masked_lm, load_tokenizer
from actune.models.surprisal import normalised, surprisal
from actune.models.tokens import tokenize
from tests.models.tiny import CONFIGS, LIMIT, TEXTS, save_tiny

CPU = torch.device("cpu")


def save_whole(folder: Path, family: str = "bert") -> Path:
    """A tiny encoder whose folder holds its masked-LM head; larger weights make it sure of something."""
    network: Any
    network, _ = load_masked_lm(save_tiny(folder / "bare", family), CPU)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3)
    network.save_pretrained(folder / "whole")
    load_tokenizer(folder / "bare").save_pretrained(folder / "whole")
    return folder / "whole"


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return save_whole(tmp_path)


def read(folder: Path, texts: list[str] = TEXTS, seed: int = 0, **options: Any) -> torch.Tensor:
    return surprisal(folder, texts, options.pop("max_tokens", 64), seed, CPU, **options)


def naive(folder: Path, texts: list[str], seed: int, share: float = 0.15) -> torch.Tensor:
    """The formula, one text at a time, from all logits."""
    network, _ = load_masked_lm(folder, CPU)
    network.eval()
    tokenizer = load_tokenizer(folder)
    special = set(tokenizer.all_special_ids)
    rng = Streams(seed).rng("surprisal")
    vectors = torch.zeros(len(texts), LIMIT)
    for row, text in enumerate(texts):
        ids = tokenizer(text, truncation=True, max_length=LIMIT)["input_ids"]
        with torch.inference_mode():
            log_proba = network(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        for place, token in enumerate(ids):
            if rng.random() < share and token not in special:
                vectors[row, place] = -log_proba[place, token]
        if vectors[row].any():
            vectors[row] /= vectors[row].norm()
    return vectors


@pytest.mark.parametrize("family", sorted(CONFIGS))
def test_rows_are_the_formula_of_every_family(family: str, tmp_path: Path) -> None:
    folder = save_whole(tmp_path, family)
    found = read(folder, seed=3)
    assert found.shape == (len(TEXTS), LIMIT) and found.dtype == torch.float32
    torch.testing.assert_close(found, naive(folder, TEXTS, 3), rtol=1e-4, atol=1e-5)
    lengths = found.norm(dim=1)
    drawn = found.any(1)
    assert drawn.any() and not drawn.all()
    torch.testing.assert_close(lengths, drawn.float())


def test_special_tokens_and_padding_are_never_scored(whole: Path) -> None:
    tokens = tokenize(tokenizer := load_tokenizer(whole), TEXTS, LIMIT)
    found = read(whole, share=1.0)
    for row, vector in enumerate(found):
        ids = tokens.flat[tokens.offsets[row] : tokens.offsets[row + 1]]
        text = [token not in tokenizer.all_special_ids for token in ids.tolist()]
        assert (vector != 0).tolist() == text + [False] * (LIMIT - len(text))
    assert not found[3].any() and not found[8].any()  # no token, and unknown ones alone


def test_the_share_of_drawn_tokens(whole: Path) -> None:
    texts = TEXTS * 20
    share = (read(whole, texts) != 0).sum() / (read(whole, texts, share=1.0) != 0).sum()
    assert share.item() == pytest.approx(0.15, abs=0.02)


def test_trap_10_the_model_reads_the_text_without_gaps(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trap of METHODS 10.10: only the places of the loss are drawn, nothing is hidden."""
    shown: list[int] = []
    usual = masking.answers

    def spy(network: torch.nn.Module, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        shown.extend(batch["input_ids"][batch["attention_mask"] == 1].tolist())
        return usual(network, batch)

    monkeypatch.setattr(module, "answers", spy)
    found = read(whole)
    tokens = tokenize(tokenizer := load_tokenizer(whole), TEXTS, LIMIT)
    assert tokenizer.mask_token_id not in shown
    assert sorted(shown) == sorted(tokens.flat.tolist())
    hidden = tokens.flat.copy()
    hidden[Streams(0).rng("surprisal").random(len(hidden)) < 0.15] = tokenizer.mask_token_id
    assert not torch.allclose(found, _scored(whole, hidden), atol=1e-3)


def _scored(folder: Path, shown: Any) -> torch.Tensor:
    """What rows would be if these tokens were shown in place of the text's own."""
    network, _ = load_masked_lm(folder, CPU)
    network.eval()
    tokens = tokenize(tokenizer := load_tokenizer(folder), TEXTS, LIMIT)
    drawn = Streams(0).rng("surprisal").random(len(shown)) < 0.15
    asked = masking.ask(tokens, drawn & masking.ordinary(tokens, tokenizer)).asked
    batch = masking.Cloze(shown, tokens.offsets, tokens.pad, 0, asked).batch(range(len(TEXTS)))
    with torch.inference_mode():
        losses = torch.nn.functional.cross_entropy(masking.answers(network, batch), batch["labels"], reduction="none")
    return normalised(masking.in_place(losses, batch))


def test_batches_decide_nothing(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for budget in (1, 50, 100_000):
        monkeypatch.setitem(module.TOKENS_WITH_VOCABULARY, "cpu", budget)
        monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / str(budget)))
        found.append(read(whole))
    for other in found[1:]:
        assert torch.equal(other == 0, found[0] == 0)
        torch.testing.assert_close(other, found[0], rtol=1e-4, atol=1e-5)
    part = read(whole, TEXTS[:7])
    torch.testing.assert_close(part, found[0][:7], rtol=1e-4, atol=1e-5)


def test_what_was_read_is_kept(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []
    found = read(whole, progress=lambda *place: told.append(place))
    assert {stage for stage, *_ in told} == {"surprisal"} and told[-1][1:] == (len(TEXTS), len(TEXTS))
    shorter, luckier = read(whole, max_tokens=8), read(whole, seed=1)
    assert shorter.shape == (len(TEXTS), 8) and not torch.equal(luckier, found)
    before = torch.get_rng_state()
    monkeypatch.setattr(module, "load_masked_lm", None)
    assert torch.equal(read(whole), found)
    assert torch.equal(read(whole, seed=1), luckier)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_folder_without_head_says_what_to_use(minilm: Path, trec_pool: Pool) -> None:
    with pytest.raises(MissingSignal) as error:
        surprisal(minilm, trec_pool.texts[:3], 128, 0, CPU)
    assert str(error.value) == (
        f"ALPS needs a masked language model, and the encoder in {minilm} has none: "
        "add --adapt 200, or use --method badge"
    )
