"""Adaptation: gaps as drawn, guesses that improve on unseen texts, and folders that load everywhere, whole or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from actune.core.pool import Pool
from actune.core.streams import Streams
from actune.errors import ModelError, SettingError, StorageError
from actune.models import adaptation
from actune.models.adaptation import Adapted, Exam, adapt
from actune.models.encoders import load_classifier, load_encoder, load_masked_lm, load_tokenizer, pooling_mode
from actune.models.masking import IGNORED, Cloze, answers, ask, hide, in_place, ordinary
from actune.models.tokens import Tokens, tokenize
from tests.models.test_encoders import change_json, change_weights
from tests.models.tiny import CONFIGS, LIMIT, TEXTS, WORDS, save_tiny

CPU = torch.device("cpu")
FAMILIES = sorted(CONFIGS)


def adapt_tiny(folder: Path, texts: list[str] = TEXTS, steps: int = 12, seed: int = 0, **options: Any) -> Adapted:
    return adapt(folder, texts, steps, options.pop("max_tokens", LIMIT), seed, CPU, **options)


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return load_masked_lm(folder, CPU)[0].state_dict()


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


# gaps


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load_tokenizer(save_tiny(tmp_path_factory.mktemp("tiny")))


@pytest.fixture(scope="module")
def tokens(tokenizer: Any) -> Tokens:
    return tokenize(tokenizer, TEXTS * 300, LIMIT)


def test_gaps_follow_their_shares(tokenizer: Any, tokens: Tokens) -> None:
    cloze = hide(tokens, tokenizer, np.random.default_rng(0))
    asked = cloze.asked != IGNORED
    assert asked[ordinary(tokens, tokenizer)].mean() == pytest.approx(0.15, abs=0.005)
    assert (cloze.asked[asked] == tokens.flat[asked]).all()
    assert (cloze.flat[~asked] == tokens.flat[~asked]).all()
    shown, true = cloze.flat[asked], tokens.flat[asked]
    kept, masked = shown == true, shown == tokenizer.mask_token_id
    by_chance = 0.1 / len(WORDS)  # a random token may be the true one
    assert masked.mean() == pytest.approx(0.8, abs=0.015)
    assert kept.mean() == pytest.approx(0.1 + by_chance, abs=0.015)
    assert (~masked & ~kept).mean() == pytest.approx(0.1 - by_chance, abs=0.015)
    assert len(np.unique(shown[~masked & ~kept])) == len(WORDS)


def test_special_tokens_are_never_asked_for_nor_shown_by_chance(tokenizer: Any, tokens: Tokens) -> None:
    cloze = hide(tokens, tokenizer, np.random.default_rng(0), share=0.5)
    special = np.isin(tokens.flat, tokenizer.all_special_ids)
    assert special.any()
    assert (cloze.asked[special] == IGNORED).all()
    assert (cloze.flat[special] == tokens.flat[special]).all()
    changed = cloze.flat[cloze.flat != tokens.flat]
    assert set(changed) & set(tokenizer.all_special_ids) == {tokenizer.mask_token_id}


def test_at_least_one_token_is_asked_for(tokenizer: Any) -> None:
    short = tokenize(tokenizer, ["what year", ""], LIMIT)
    for seed in range(20):
        assert (hide(short, tokenizer, np.random.default_rng(seed), share=0.0).asked != IGNORED).sum() == 1


def test_a_batch_names_the_asked_places(tokenizer: Any, tokens: Tokens) -> None:
    cloze = hide(tokens, tokenizer, np.random.default_rng(0))
    rows = np.array([6, 0, 3, 7])
    plain, rounded = cloze.batch(rows), cloze.batch(rows, round_to=8)
    wanted = np.concatenate([cloze.asked[cloze.offsets[row] : cloze.offsets[row + 1]] for row in rows])
    assert plain["labels"].tolist() == wanted[wanted != IGNORED].tolist()
    assert len(rounded["places"]) == len(rounded["labels"]) == 128
    assert [label for label in rounded["labels"].tolist() if label != IGNORED] == plain["labels"].tolist()
    for batch in (plain, rounded):
        back = in_place((batch["labels"] != IGNORED).long() * batch["labels"], batch)
        for row, found in zip(rows, back, strict=True):
            asked = cloze.asked[cloze.offsets[row] : cloze.offsets[row + 1]]
            assert found[: len(asked)].tolist() == np.where(asked == IGNORED, 0, asked).tolist()


def test_every_epoch_has_new_gaps(tokenizer: Any) -> None:
    few = tokenize(tokenizer, TEXTS, LIMIT)
    batches = adaptation._batches(few, tokenizer, Streams(0), CPU)
    epochs = [next(batches) for _ in range(3)]
    # rows come in another order, the asked tokens of an epoch do not depend on it
    asked = [sorted(batch["labels"].tolist()) for batch in epochs]
    assert asked[0] != asked[1] != asked[2] != asked[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_are_the_full_logits_at_the_asked_places(family: str, tmp_path: Path) -> None:
    folder = save_tiny(tmp_path, family)
    network = load_masked_lm(folder, CPU)[0].eval()
    tokenizer = load_tokenizer(folder)
    batch = hide(tokenize(tokenizer, TEXTS, LIMIT), tokenizer, np.random.default_rng(0)).batch(np.arange(10))
    with torch.inference_mode():
        full = network(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
        found = answers(network, batch)
    assert found.shape == (len(batch["places"]), full.shape[-1])
    torch.testing.assert_close(found, full.flatten(0, 1)[batch["places"]], rtol=1e-5, atol=1e-5)


def test_the_vocabulary_meets_the_asked_tokens_alone(tiny: Path) -> None:
    network: Any = load_masked_lm(tiny, CPU)[0]
    seen: list[int] = []
    network.get_output_embeddings().register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].numel() // 32))
    tokenizer = load_tokenizer(tiny)
    batch = hide(tokenize(tokenizer, TEXTS, LIMIT), tokenizer, np.random.default_rng(0)).batch(np.arange(10))
    answers(network, batch)
    assert seen == [len(batch["places"])]
    assert not network.base_model._forward_hooks


def test_a_network_that_goes_round_its_body_is_asked_in_full(tokenizer: Any) -> None:
    class Strange(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.base_model = torch.nn.Identity()

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
            return type("Output", (), {"logits": torch.stack([input_ids, attention_mask], -1)})

    cloze = ask(few := tokenize(tokenizer, TEXTS, LIMIT), ordinary(few, tokenizer))
    batch = cloze.batch(np.arange(10))
    assert answers(Strange(), batch)[:, 0].tolist() == batch["labels"].tolist()


# heads


@pytest.mark.parametrize("family", FAMILIES)
def test_a_head_is_found_or_drawn_from_its_seed(family: str, tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "bare", family)
    network: Any
    network, has_head = load_masked_lm(folder, CPU, seed=1)
    assert not has_head
    assert same(network.state_dict(), load_masked_lm(folder, CPU, seed=1)[0].state_dict())
    assert not same(network.state_dict(), load_masked_lm(folder, CPU, seed=2)[0].state_dict())
    network.save_pretrained(tmp_path / "whole")
    again, has_head = load_masked_lm(tmp_path / "whole", CPU, seed=2)
    assert has_head and same(again.state_dict(), network.state_dict())
    kept = load_file(tmp_path / "whole" / "model.safetensors")
    head = [name for name in kept if not name.startswith(f"{network.base_model_prefix}.")]
    assert head
    for name in head:
        change_weights(tmp_path / "whole", lambda _, name=name: {key: kept[key] for key in kept if key != name})
        assert not load_masked_lm(tmp_path / "whole", CPU)[1], name


def test_a_random_body_is_refused(tiny: Path) -> None:
    change_weights(tiny, lambda weights: {name: weights[name] for name in weights if ".layer.1." not in name})
    with pytest.raises(ModelError, match=r"do not match its config\.json: 16 are missing"):
        load_masked_lm(tiny, CPU)


def test_a_family_without_masked_language_model_is_one_sentence(tiny: Path) -> None:
    change_json(tiny / "config.json", model_type="gpt2")
    with pytest.raises(ModelError, match="of the family gpt2, which has no masked language model"):
        load_masked_lm(tiny, CPU)


# adapted folders


@pytest.mark.parametrize("family", FAMILIES)
def test_an_adapted_folder_loads_everywhere(family: str, tmp_path: Path, cache: Path) -> None:
    folder = save_tiny(tmp_path / family, family)
    adapted = adapt_tiny(folder)
    assert adapted.folder.parent == cache.parent / "adapted"
    assert (adapted.had_head, adapted.held_out) == (False, 1)
    network: Any
    network, has_head = load_masked_lm(adapted.folder, CPU)
    assert has_head
    theirs = import_module("transformers").AutoModelForMaskedLM.from_pretrained(adapted.folder)
    assert same(theirs.state_dict(), network.state_dict())
    body = load_encoder(adapted.folder, CPU).state_dict()
    before = load_encoder(folder, CPU).state_dict()
    after = network.base_model.state_dict()
    assert all(torch.equal(body[name], after[name]) for name in after)
    assert not any(torch.equal(after[name], before[name]) for name in after if name.endswith("dense.weight"))
    assert all(torch.equal(body[name], before[name]) for name in body.keys() - after.keys())  # the pooler
    classifier: Any = load_classifier(adapted.folder, 3, CPU)
    assert all(torch.equal(value, body[name]) for name, value in classifier.base_model.state_dict().items())
    assert load_tokenizer(adapted.folder)(TEXTS)["input_ids"] == load_tokenizer(folder)(TEXTS)["input_ids"]
    assert adapt_tiny(adapted.folder).had_head


def test_the_real_encoder_guesses_better_after_a_few_steps(minilm: Path, trec_pool: Pool) -> None:
    texts = list(trec_pool.texts[:300])
    exams: list[Exam] = []
    usual = adaptation._examine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptation, "_examine", lambda *given: exams.append(usual(*given)) or exams[-1])
        adapted = adapt(minilm, texts, 30, 16, 0, CPU)
    assert [exam.steps for exam in exams] == [0, 10, 20, 30]
    losses = [exam.loss for exam in exams]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] - 2
    assert exams[-1].accuracy > exams[0].accuracy
    assert (adapted.loss, adapted.accuracy, adapted.steps) == (losses[-1], exams[-1].accuracy, 30)
    assert (adapted.held_out, adapted.had_head) == (15, False)
    assert pooling_mode(adapted.folder) == "mean" and (adapted.folder / "1_Pooling" / "config.json").is_file()
    assert load_masked_lm(adapted.folder, CPU)[1]


def test_the_same_twice_and_the_global_generator_stays(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.rand(1)  # away from where any other adaptation might have left it
    before = torch.get_rng_state()
    one = adapt_tiny(tiny)
    assert torch.equal(torch.get_rng_state(), before)
    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / "other"))
    torch.rand(3)
    two = adapt_tiny(tiny)
    assert one.folder != two.folder and one.folder.name == two.folder.name
    assert same(weights_of(one.folder), weights_of(two.folder))
    assert (one.loss, one.accuracy, one.steps) == (two.loss, two.accuracy, two.steps)
    assert not same(weights_of(one.folder), weights_of(adapt_tiny(tiny, seed=1).folder))


def test_what_was_made_is_found_again(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages: list[tuple[str, int, int]] = []
    adapted = adapt_tiny(tiny, progress=lambda *told: stages.append(told))
    assert stages == [("adapt", step, 12) for step in range(1, 13)]
    monkeypatch.setattr(adaptation, "load_masked_lm", None)
    assert adapt_tiny(tiny) == adapted


def test_what_was_broken_is_made_again(tiny: Path) -> None:
    made = adapt_tiny(tiny)
    whole = weights_of(made.folder)
    (made.folder / adaptation.FACTS).write_text("{")
    assert adapt_tiny(tiny) == made and same(weights_of(made.folder), whole)


def test_all_that_decides_is_in_the_name(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def name(**changes: Any) -> str:
        given = {"folder": tiny, "texts": TEXTS, "steps": 12, "limit": 16, "seed": 0, "device": CPU}
        return adaptation._name(**{**given, "recipe": adaptation.RECIPE, **changes})

    names = [name(), name(texts=["x", *TEXTS[1:]]), name(texts=["a", "bc"]), name(texts=["ab", "c"]), name(steps=13)]
    names += [name(limit=15), name(seed=1), name(device=torch.device("cuda"))]
    names.append(name(recipe=replace(adaptation.RECIPE, fast=False)))
    threads = torch.get_num_threads()
    torch.set_num_threads(threads + 1)
    names.append(name())
    torch.set_num_threads(threads)
    change_weights(tiny, lambda weights: {name: value + 1 for name, value in weights.items()})
    names.append(name())
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("moment", ["rename", "write_text"])
def test_a_writer_that_dies_leaves_nothing(
    moment: str, tiny: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, moment, die)
        adapt_tiny(tiny)
    assert list((cache.parent / "adapted").iterdir()) == []
    adapted = adapt_tiny(tiny)
    assert [path.name for path in (cache.parent / "adapted").iterdir()] == [adapted.folder.name]


def test_another_process_may_be_first(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adapted = adapt_tiny(tiny)
    answers = chain([None], repeat(adapted))  # not there at first, and then it is
    monkeypatch.setattr(adaptation, "_find", lambda target: next(answers))
    assert adapt_tiny(tiny) == adapted


# when it ends


@pytest.fixture
def snapshots(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, torch.Tensor]]]:
    """The weights at each exam, whose losses fall twice, then never again."""
    taken: list[dict[str, torch.Tensor]] = []
    losses = [5.0, 4.0, 3.0, 3.5, 3.2, 1.0]

    def examine(network: torch.nn.Module, exam: Cloze, steps: int) -> Exam:
        taken.append({name: value.clone() for name, value in network.state_dict().items()})
        network.train()
        return Exam(losses[len(taken) - 1], 0.5, steps)

    monkeypatch.setattr(adaptation, "_examine", examine)
    yield taken


def test_it_ends_when_the_loss_no_longer_falls_and_keeps_the_best(
    tiny: Path, snapshots: list[dict[str, torch.Tensor]]
) -> None:
    adapted = adapt_tiny(tiny, steps=100)
    assert len(snapshots) == 5
    assert (adapted.steps, adapted.loss) == (20, 3.0)
    assert same(weights_of(adapted.folder), snapshots[2])
    assert not same(snapshots[2], snapshots[4])


def test_a_twentieth_is_held_out_and_never_trained_on(tokenizer: Any) -> None:
    texts = [" ".join(words) for words in np.random.default_rng(0).choice(WORDS, (12_000, 8))]
    for count, held_out in ((2, 1), (40, 2), (12_000, 500)):
        training, exam = adaptation._split(tokenize(tokenizer, texts[:count], LIMIT), tokenizer, Streams(0))
        assert (len(exam), len(training)) == (held_out, count - held_out)
        again, other = (
            adaptation._split(tokenize(tokenizer, texts[:count], LIMIT), tokenizer, Streams(seed))[1] for seed in (0, 1)
        )
        assert np.array_equal(again.asked, exam.asked) and np.array_equal(again.flat, exam.flat)
        assert count == 2 or not np.array_equal(other.asked, exam.asked)
        true = np.where(exam.asked == IGNORED, exam.flat, exam.asked)
        held, kept = (
            {tuple(flat[start:stop]) for start, stop in pairwise(offsets)}
            for flat, offsets in ((true, exam.offsets), (training.flat, training.offsets))
        )
        assert not held & kept


# what cannot work


@pytest.mark.parametrize("texts", [[], [""], ["who is the man"], ["", "who is the man", "unseen unheard"]])
def test_two_texts_with_known_words_are_needed(texts: list[str], tiny: Path) -> None:
    with pytest.raises(SettingError, match=r"at least two texts with known words, and there are [01]"):
        adapt_tiny(tiny, texts)


def test_a_step_is_needed(tiny: Path) -> None:
    with pytest.raises(SettingError, match="at least 1 step, not 0"):
        adapt_tiny(tiny, steps=0)


def test_a_mask_token_is_needed(tiny: Path) -> None:
    change_json(tiny / "tokenizer_config.json", mask_token=None)
    with pytest.raises(ModelError, match="has no mask token"):
        adapt_tiny(tiny)


def test_a_cache_that_cannot_be_written_is_one_sentence(tiny: Path, cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    (cache.parent / "adapted").write_text("in the way")
    with pytest.raises(StorageError, match="the adapted encoder cannot be written to"):
        adapt_tiny(tiny)
