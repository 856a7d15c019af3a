"""A saved probe as modules of sentence-transformers, so that this library alone can use it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from actune.models.encoders import pooling_mode, token_limit
from actune.models.heads import read_head


def write_modules(folder: Path, encoder: Path, max_tokens: int) -> None:
    """The encoder, its pooling and the head of a probe as modules of sentence-transformers, which give the logits."""
    head, mode = read_head(folder).state_dict(), pooling_mode(encoder)
    inside = encoder.relative_to(folder).as_posix()
    hidden, out = head["hidden.weight"].shape, head["out.weight"].shape
    ways = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens"}
    pooling = {f"pooling_mode_{way}": name == mode for name, way in ways.items()}
    limit = {"max_seq_length": token_limit(encoder, max_tokens), "do_lower_case": False}
    modules = [
        ("Transformer", inside, "sentence_bert_config.json", limit),
        ("Pooling", f"{inside}/1_Pooling", "config.json", {"word_embedding_dimension": hidden[1], **pooling}),
        ("Normalize", "2_Normalize", "config.json", {}),
        ("Dense", "3_Dense", "config.json", _dense(hidden, "torch.nn.modules.activation.ReLU")),
        ("Dense", "4_Dense", "config.json", _dense(out, "torch.nn.modules.linear.Identity")),
    ]
    for _, path, name, settings in modules:
        (folder / path).mkdir(parents=True, exist_ok=True)
        (folder / path / name).write_text(json.dumps(settings, indent=1), encoding="utf-8")
    for path, part in (("3_Dense", "hidden"), ("4_Dense", "out")):
        weights = {f"linear.{name}": head[f"{part}.{name}"] for name in ("weight", "bias")}
        save_file(weights, folder / path / "model.safetensors")
    listed = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path, _, _) in enumerate(modules)
    ]
    (folder / "modules.json").write_text(json.dumps(listed, indent=1), encoding="utf-8")


def _dense(shape: Sequence[int], activation: str) -> Mapping[str, Any]:
    return {"in_features": shape[1], "out_features": shape[0], "bias": True, "activation_function": activation}
