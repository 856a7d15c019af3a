"""What other libraries need to use saved classifiers: modules of sentence-transformers, and how a probe reads texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import save_file

from actune.models.encoders import load_encoder, pooling_mode, token_limit
from actune.models.folders import ENCODER, POOLED_HEAD, read_json
from actune.models.heads import read_head

PROBE = "probe.json"
WAYS = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens"}


class Layer(NamedTuple):
    """A linear layer and what comes after it."""

    weight: torch.Tensor
    bias: torch.Tensor
    activation: str = "torch.nn.modules.linear.Identity"


def describe_probe(folder: Path, max_tokens: int) -> None:
    """Adds to `probe.json` what its head reads of the encoder: the pooling, the middle layers and their share."""
    from actune.models.middle import middle_layers
    from actune.models.probing import OWN

    file, encoder = folder / PROBE, load_encoder(folder / ENCODER, torch.device("cpu"))
    config: Any = encoder.config
    layers = middle_layers(encoder) if read_head(folder).hidden.in_features > config.hidden_size else ()
    facts = {"pooling": pooling_mode(folder / ENCODER), "middle_layers": list(layers), "own_share": OWN}
    file.write_text(json.dumps(read_json(file) | facts, indent=1), encoding="utf-8")


def write_pooled(folder: Path, max_tokens: int) -> None:
    """A fine-tuned encoder, its pooling and its linear head, whose inputs are not scaled here."""
    from actune.models.pooled import read_linear

    facts, head = read_json(folder / POOLED_HEAD), read_linear(folder)
    _write(folder, folder, facts["pooling"], max_tokens, [Layer(head["weight"] * facts["scale"], head["bias"])])


def _write(folder: Path, encoder: Path, mode: str, max_tokens: int, layers: list[Layer]) -> None:
    inside = encoder.relative_to(folder).as_posix()
    inside = "" if inside == "." else f"{inside}/"
    pooling = {f"pooling_mode_{way}": name == mode for name, way in WAYS.items()}
    limit = {"max_seq_length": token_limit(encoder, max_tokens), "do_lower_case": False}
    width = layers[0].weight.shape[1]
    modules = [
        ("Transformer", inside.rstrip("/"), "sentence_bert_config.json", limit),
        ("Pooling", f"{inside}1_Pooling", "config.json", {"word_embedding_dimension": width, **pooling}),
        ("Normalize", "2_Normalize", "config.json", {}),
        *(("Dense", f"{number}_Dense", "config.json", _dense(layer)) for number, layer in enumerate(layers, 3)),
    ]
    for _, path, name, settings in modules:
        (folder / path).mkdir(parents=True, exist_ok=True)
        (folder / path / name).write_text(json.dumps(settings, indent=1), encoding="utf-8")
    for number, layer in enumerate(layers, 3):
        weights = {"linear.weight": layer.weight.contiguous(), "linear.bias": layer.bias.contiguous()}
        save_file(weights, folder / f"{number}_Dense" / "model.safetensors")
    listed = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path, _, _) in enumerate(modules)
    ]
    (folder / "modules.json").write_text(json.dumps(listed, indent=1), encoding="utf-8")


def _dense(layer: Layer) -> Mapping[str, Any]:
    outputs, inputs = layer.weight.shape
    words = {"in_features": inputs, "out_features": outputs, "bias": True}
    return words | {"activation_function": layer.activation}
