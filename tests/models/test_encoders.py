"""Loading: seeded heads, and one sentence for every folder that is not what it should be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from actune.errors import ModelError
from actune.models.encoders import (
    choose_device,
    load_classifier,
    load_encoder,
    load_tokenizer,
    token_limit,
)
from tests.models.tiny import save_tiny

CPU = torch.device("cpu")


def change_json(file: Path, **changes: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> None:
    file = folder / "model.safetensors"
    save_file(change(load_file(file)), file, metadata={"format": "pt"})


# heads


def test_a_head_is_drawn_from_its_seed(tiny: Path) -> None:
    one, same, other = (load_classifier(tiny, 3, CPU, seed).state_dict() for seed in (1, 1, 2))
    assert one["classifier.weight"].shape == (3, 32)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert {name for name in one if not torch.equal(one[name], other[name])} == {"classifier.weight"}


def test_loading_leaves_the_global_generator_alone(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path, "roberta")
    change_weights(folder, lambda weights: {name: weights[name] for name in weights if "pooler" not in name})
    before = torch.get_rng_state()
    load_classifier(folder, 3, CPU, seed=1)
    load_encoder(folder, CPU)  # draws a pooler
    assert torch.equal(torch.get_rng_state(), before)


def test_a_head_for_another_number_of_classes_is_drawn_anew(tiny: Path, tmp_path: Path) -> None:
    tuned: Any = load_classifier(tiny, 2, CPU)
    tuned.save_pretrained(tmp_path / "tuned")
    one, other = (load_classifier(tmp_path / "tuned", 5, CPU, seed).state_dict() for seed in (1, 2))
    assert one["classifier.weight"].shape == (5, 32)
    assert not torch.equal(one["classifier.weight"], other["classifier.weight"])
    name = "bert.encoder.layer.1.output.dense.weight"
    assert torch.equal(one[name], tuned.state_dict()[name])


def test_weights_become_float32(tiny: Path) -> None:
    change_weights(tiny, lambda weights: {name: value.half() for name, value in weights.items()})
    change_json(tiny / "config.json", dtype="float16")
    for network in (load_classifier(tiny, 3, CPU), load_encoder(tiny, CPU)):
        assert {parameter.dtype for parameter in network.parameters()} == {torch.float32}


def test_loading_is_silent(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_tokenizer(tiny)
    load_classifier(tiny, 3, CPU)
    load_encoder(tiny, CPU)
    assert capfd.readouterr() == ("", "")


def test_old_names_of_norms_are_understood(tiny: Path) -> None:
    """bert-base-uncased and its time call them gamma and beta."""
    usual = load_encoder(tiny, CPU).state_dict()
    older = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}

    def rename(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        for new, old in older.items():
            weights = {f"{name}".replace(new, old): value for name, value in weights.items()}
        return {f"bert.{name}": value for name, value in weights.items()}

    change_weights(tiny, rename)
    found = load_encoder(tiny, CPU).state_dict()
    assert all(torch.equal(found[name], usual[name]) for name in usual)


# folders that are not what they should be


def cut_weights(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:2000])


def strange_names(folder: Path) -> None:
    change_weights(folder, lambda weights: {f"strange.{name}": value for name, value in weights.items()})


def missing_layer(folder: Path) -> None:
    change_weights(folder, lambda weights: {name: weights[name] for name in weights if ".layer.1." not in name})


def other_width(folder: Path) -> None:
    change_json(folder / "config.json", intermediate_size=48)


def unknown_family(folder: Path) -> None:
    change_json(folder / "config.json", model_type="newfangled")


def own_code(folder: Path) -> None:
    change_json(folder / "config.json", model_type="mine", auto_map={"AutoConfig": "code.C", "AutoModel": "code.M"})
    (folder / "code.py").write_text("raise SystemExit('remote code ran')")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (cut_weights, "cannot be loaded as an encoder: Error while deserializing header"),
        (strange_names, "do not match its config.json"),
        (missing_layer, "do not match its config.json: 16 are missing"),
        (other_width, "do not match its config.json: 6 are missing or have another shape"),
        (unknown_family, "cannot be loaded as an encoder: .*newfangled"),
        (own_code, "cannot be loaded as an encoder: .*custom code"),
    ],
)
def test_weights_that_do_not_fit_are_refused(spoil: Callable[[Path], None], sentence: str, tiny: Path) -> None:
    """Above all: an encoder that would silently be random is not used."""
    spoil(tiny)
    loads: list[Callable[[], Any]] = [lambda: load_classifier(tiny, 3, CPU), lambda: load_encoder(tiny, CPU)]
    for load in loads:
        with pytest.raises(ModelError, match=sentence) as error:
            load()
        assert "\n" not in str(error.value)


def test_a_folder_without_a_head_is_no_fine_tuned_model(tiny: Path) -> None:
    with pytest.raises(ModelError, match=r"2 are missing or have another shape, the first is classifier\.bias"):
        load_classifier(tiny, None, CPU)


def test_a_missing_pooler_is_no_reason_to_refuse(tiny: Path) -> None:
    change_weights(tiny, lambda weights: {name: weights[name] for name in weights if "pooler" not in name})
    assert load_encoder(tiny, CPU).pooler is not None
    assert load_classifier(tiny, 3, CPU).classifier.out_features == 3


@pytest.mark.parametrize("text", ["{", "{}", '{"version": "1.0"}'])
def test_a_broken_tokenizer_is_one_sentence(text: str, tiny: Path) -> None:
    (tiny / "tokenizer.json").write_text(text)
    with pytest.raises(ModelError, match="has no readable tokenizer"):
        load_tokenizer(tiny)


def test_a_missing_tokenizer_is_not_replaced_by_an_empty_one(tiny: Path) -> None:
    (tiny / "tokenizer.json").unlink()
    (tiny / "tokenizer_config.json").unlink()
    with pytest.raises(ModelError, match=r"no tokenizer\.json and no vocabulary"):
        load_tokenizer(tiny)


def test_a_tokenizer_needs_a_padding_token(tiny: Path) -> None:
    change_json(tiny / "tokenizer_config.json", pad_token=None)
    with pytest.raises(ModelError, match="not a fast tokenizer with a padding token"):
        load_tokenizer(tiny)


def test_a_broken_config_is_one_sentence(tiny: Path) -> None:
    (tiny / "config.json").write_text("{")
    with pytest.raises(ModelError, match=r"config\.json cannot be read"):
        token_limit(tiny, 64)


# limits and devices


@pytest.mark.parametrize(
    ("config", "wanted", "limit"),
    [
        ({"model_type": "bert", "max_position_embeddings": 512}, 128, 128),
        ({"model_type": "bert", "max_position_embeddings": 512}, 4000, 512),
        ({"model_type": "roberta", "max_position_embeddings": 514}, 4000, 512),
        ({"model_type": "mpnet", "max_position_embeddings": 514}, 4000, 512),
        ({"model_type": "t5"}, 4000, 4000),
    ],
)
def test_no_text_is_longer_than_the_encoder_has_positions(
    config: dict[str, Any], wanted: int, limit: int, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert token_limit(tmp_path, wanted) == limit


def test_devices() -> None:
    assert choose_device("cpu") == CPU
    assert choose_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    with pytest.raises(ModelError, match="this machine has no device 'gpu': use --device cpu"):
        choose_device("gpu")
    with pytest.raises(ModelError, match="this machine has no device 'meta': use --device cpu"):
        choose_device("meta")


def test_a_missing_gpu_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match="no CUDA device: use --device cpu"):
        choose_device("cuda")
