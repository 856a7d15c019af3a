"""Texts end to end: the same numbers as transformers gives for padded ones, forwards and backwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from actune.core.settings import Training
from actune.models.encoders import load_classifier, load_encoder, load_tokenizer
from actune.models.fast import packing, rotary
from actune.models.fast.blocks import DropoutMasks, LayerSettings, Layout, Parts, layer
from actune.models.fast.packing import FAMILIES, LAYOUT, draw_dropout_masks, packable, packed
from actune.models.finetuning import FineTuned, said
from actune.models.reader import read_tokens
from actune.models.tokens import Tokens, tokenize
from tests.models.tiny import CONFIGS, LIMIT, TEXTS, save_tiny

CPU = torch.device("cpu")
ALL = [*FAMILIES, *rotary.FAMILIES]
Batches = list[list[int]]
MIXED, EQUAL, ONE = list(range(10)), [0, 10, 20], [6]  # of many lengths, of one length, a single text


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    home = tmp_path_factory.mktemp("families")
    return lambda family: home / family if (home / family).exists() else save_tiny(home / family, family)


def loaded(folder: Path) -> tuple[nn.Module, Tokens]:
    """A classifier whose weights are large enough for its attention to matter, and the tokens of some texts."""
    network = load_classifier(folder, 3, CPU, seed=1).eval()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(3)
        for parameter in network.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape))
    return network, tokenize(load_tokenizer(folder), TEXTS, LIMIT)


def close(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rows", [MIXED, EQUAL, ONE], ids=["mixed", "equal", "one"])
@pytest.mark.parametrize("family", ALL)
def test_logits_and_first_tokens_are_those_of_padded_texts(
    family: str, rows: list[int], folders: Callable[[str], Path]
) -> None:
    network, tokens = loaded(folders(family))
    with torch.no_grad():
        expected, given = said(network, tokens.batch(rows)), said(network, tokens.packed(rows))
    assert expected[0].std() > 0.05  # else anything would be close
    close(given[0], expected[0])
    close(given[1], expected[1])


@pytest.mark.parametrize("family", ALL)
def test_gradients_are_those_of_padded_texts(family: str, folders: Callable[[str], Path]) -> None:
    network, tokens = loaded(folders(family))
    found = []
    for batch in (tokens.batch(MIXED), tokens.packed(MIXED)):
        network.zero_grad()
        nn.functional.cross_entropy(said(network, batch)[0], torch.arange(10) % 3).backward()
        found.append({name: p.grad.clone() for name, p in network.named_parameters() if p.grad is not None})
    assert found[0].keys() == found[1].keys()
    for name, gradient in found[0].items():
        close(found[1][name], gradient)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_compiled_layers_have_the_gradients_of_padded_texts(
    family: str, folders: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a GPU runs them, for texts of any length; torch 2.11 lost the gradient of what was filled in place."""
    network, tokens = loaded(folders(family))
    compiled = torch.compile(layer.__wrapped__, backend="aot_eager")  # type: ignore[attr-defined]

    def of_any_length(tensor: torch.Tensor | None, *axes: int) -> None:
        for axis in axes if tensor is not None else ():
            torch._dynamo.maybe_mark_dynamic(tensor, axis)

    found = []
    for batch in (tokens.batch(MIXED), tokens.packed(MIXED, fill_to=64, round_to=16)):
        network.zero_grad()
        nn.functional.cross_entropy(said(network, batch)[0], torch.arange(10) % 3).backward()
        found.append({name: p.grad.clone() for name, p in network.named_parameters() if p.grad is not None})
        monkeypatch.setattr(packing, "layer", compiled)
        monkeypatch.setattr(packing, "of_any_length", of_any_length)
    assert found[0].keys() == found[1].keys()
    for name, gradient in found[0].items():
        close(found[1][name], gradient)


@pytest.mark.parametrize("fill_to", [64, len(MIXED) * 16])  # the second makes as many tokens as the grid has cells
@pytest.mark.parametrize("family", ALL)
def test_filler_changes_neither_logits_nor_gradients(family: str, fill_to: int, folders: Callable[[str], Path]) -> None:
    """A GPU records whole steps, so their shapes are filled up to a few that recur."""
    network, tokens = loaded(folders(family))
    found = []
    for batch in (tokens.packed(MIXED), tokens.packed(MIXED, fill_to=fill_to, round_to=16)):
        network.zero_grad()
        logits = said(network, batch)[0]
        nn.functional.cross_entropy(logits, torch.arange(10) % 3).backward()
        found.append([logits.detach(), *(p.grad.clone() for p in network.parameters() if p.grad is not None)])
    assert batch["input_ids"].shape[1] % fill_to == 0 and batch["source"].shape[1] == 16
    assert batch["input_ids"].shape[1] > sum(tokens.lengths[MIXED])
    for one, other in zip(*found, strict=True):
        close(other, one)


@pytest.mark.parametrize("family", ALL)
def test_every_token_is_that_of_padded_texts(family: str, folders: Callable[[str], Path]) -> None:
    network, tokens = load_encoder(folders(family), CPU), tokenize(load_tokenizer(folders(family)), TEXTS, LIMIT)
    padded, batch = tokens.batch(MIXED), tokens.packed(MIXED)
    mask = padded["attention_mask"][..., None]
    with torch.no_grad(), packed(network, batch, every=True) as inputs:
        given = network(**inputs)[0]
    with torch.no_grad():
        close(given, network(**padded)[0] * mask)


@pytest.mark.parametrize("family", FAMILIES)
def test_dropout_drops_in_attention_and_behind_it(family: str, folders: Callable[[str], Path]) -> None:
    network, tokens = loaded(folders(family))
    names = [name for name, module in network.named_modules() if isinstance(module, nn.Dropout) and ".layer." in name]
    assert names
    for name in names:
        drop = network.get_submodule(name)
        drop.train()
        with torch.no_grad():
            one, other = (said(network, tokens.packed(MIXED))[0] for _ in range(2))
        drop.eval()
        assert not torch.equal(one, other), name


@pytest.mark.parametrize("family", sorted(set(CONFIGS) - set(ALL)))
def test_other_families_stay_with_padding(family: str, folders: Callable[[str], Path]) -> None:
    assert not packable(load_encoder(folders(family), CPU))


def test_a_decoder_stays_with_padding(folders: Callable[[str], Path]) -> None:
    network = load_encoder(folders("bert"), CPU)
    assert packable(network)
    network.config.is_decoder = True  # type: ignore[union-attr]
    assert not packable(network)


def test_afterwards_the_network_is_as_it_was(folders: Callable[[str], Path]) -> None:
    network, tokens = loaded(folders("bert"))
    with torch.no_grad():
        before = network(**tokens.batch(MIXED)).logits
        with pytest.raises(KeyError), packed(network, tokens.packed(MIXED)):
            raise KeyError
        assert torch.equal(network(**tokens.batch(MIXED)).logits, before)


def test_a_text_without_tokens_is_read_all_the_same(folders: Callable[[str], Path]) -> None:
    network, tokens = loaded(folders("bert"))
    empty = Tokens(tokens.flat, tokens.offsets[[0, 1, 1, 2]], tokens.pad, 0)
    classifier = FineTuned(network, None, CPU, Training())
    assert classifier.packs(tokens) and not classifier.packs(empty)
    found = classifier.read(empty).log_proba
    close(found[[0, 2]], classifier.read(tokens.only(torch.arange(2).numpy())).log_proba)


def test_reading_end_to_end_is_reading_padded(folders: Callable[[str], Path]) -> None:
    network, tokens = loaded(folders("mpnet"))
    outputs = [
        read_tokens(lambda batch: said(network, batch), tokens, CPU, budget=40, pack=pack) for pack in (False, True)
    ]
    for padded, end_to_end in zip(*outputs, strict=True):
        close(end_to_end, padded)


# a GPU runs layers compiled, which must not draw for themselves

PLAIN = LayerSettings(4, 1e-6, nn.functional.gelu, smooth=True, drop_attention=0.0, drop_out=0.0, drop_down=0.0)


def test_what_dropout_leaves_is_drawn_for_all_layers() -> None:
    all_settings = [PLAIN._replace(drop_out=0.1, drop_down=0.5), PLAIN, PLAIN._replace(drop_out=0.1, drop_down=0.1)]
    torch.manual_seed(0)
    first, second, third = draw_dropout_masks(all_settings, torch.zeros(500, 40))
    assert second == DropoutMasks(None, None)
    for mask, share in ((first.out, 0.9), (first.down, 0.5), (third.out, 0.9), (third.down, 0.9)):
        assert mask is not None and mask.shape == (500, 40)
        assert mask.float().mean().item() == pytest.approx(share, abs=0.01)
    assert not torch.equal(first.out, third.out) and not torch.equal(third.out, third.down)  # type: ignore[arg-type]


def test_a_layer_obeys_what_was_drawn_and_makes_up_for_the_rest(folders: Callable[[str], Path]) -> None:
    _, tokens = loaded(folders("bert"))
    batch, width = tokens.packed(MIXED), 16
    layout, firsts = Layout(*(batch[name] for name in LAYOUT)), batch["bounds"][: len(MIXED)]
    torch.manual_seed(0)
    states = torch.randn(len(layout.place), width)
    square, norm = (torch.randn(width, width), torch.randn(width)), (torch.ones(width), torch.zeros(width))
    parts = Parts(square, square, square, square, norm, square, square, norm)
    larger = parts._replace(out=(2 * square[0], 2 * square[1]), down=(4 * square[0], 4 * square[1]))
    settings = PLAIN._replace(drop_out=0.5, drop_down=0.75)
    mask, every = layout.present[:, None, None], torch.ones(states.shape, dtype=torch.bool)
    for wanted, asking in ((None, states), (firsts, states[firsts])):

        def run(
            parts: Parts, settings: LayerSettings, kept: DropoutMasks, wanted: torch.Tensor | None = wanted
        ) -> torch.Tensor:
            return layer(states, parts, settings, layout, mask, wanted, kept)

        close(run(parts, settings, DropoutMasks(every, every)), run(larger, PLAIN, DropoutMasks(None, None)))
        nothing = nn.functional.layer_norm(asking, (width,), eps=1e-6)
        close(run(parts, settings, DropoutMasks(~every, ~every)), nn.functional.layer_norm(nothing, (width,), eps=1e-6))
