"""The config.json of somebody else: what it may decide, and how large a network it may describe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import get_ident
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_module_registration_hook

from actune.core.checks import told
from actune.errors import ModelError
from actune.models.folders import check_files, read_json, refused, shown, stored_shapes

# transformers counts up to these before there is a network to look at
MOST = {"label": 100_000, "layer": 10_000, "position": 10_000_000}
MOST_SINES = 20_000  # positions whose table is computed one number after the other
# how numbers are computed and where things came from is no matter of a file: transformers would load code for some
IGNORED = {
    *("auto_map", "_commit_hash", "name_or_path", "_name_or_path", "torch_dtype", "dtype", "configuration_files"),
    *("experts_implementation", "_experts_implementation", "fusion_config", "distributed_config", "kernel_config"),
}
ATTENTION = ("attn_implementation", "_attn_implementation")
OWN_ATTENTION = ("eager", "sdpa")  # of torch alone: any other name may be that of a kernel on the hub
REFUSED = {
    "quantization_config": "is quantized: use the model that it was made from",
    "transformers_weights": "has its weights in a file of another name: rename them to model.safetensors",
}


def make_config(folder: Path, **changes: Any) -> Any:
    """The config of a model folder as transformers has it, without what only somebody else's code could use."""
    check_files(folder)
    said = read_json(folder / "config.json")
    kind = _config_class(folder, said)
    _check_said(folder, said)
    said = _kept(said)
    with refused(f"{shown(folder)} cannot be loaded as an encoder"):
        config = kind.from_dict(said, name_or_path=str(folder), dtype=torch.float32, **changes)
        if getattr(config, "num_hidden_layers", 1) < 1:
            raise ModelError(f"{shown(folder / 'config.json')} describes a network without layers: use another encoder")
    return config


def outline(kind: Any, config: Any, folder: Path) -> nn.Module:
    """The network without memory for its weights, which must not be much larger than the weights that are stored.

    There is room for a new head: at most as many weights again, and a few million more.
    """
    shapes = stored_shapes(folder)
    stored = sum(torch.Size(shape).numel() for shape in shapes.values())
    with refused(f"{shown(folder)} cannot be loaded as an encoder"), torch.device("meta"), _few_parts(len(shapes)):
        network: nn.Module = kind.from_config(config)
    described = sum(tensor.numel() for tensors in (network.parameters(), network.buffers()) for tensor in tensors)
    if described > 2 * stored + 20_000_000:
        raise ModelError(
            f"{shown(folder / 'config.json')} describes a network of {described:,} weights, but only {stored:,} are "
            "stored: download the model again"
        )
    return network


def _config_class(folder: Path, said: Mapping[str, Any]) -> Any:
    names = import_module("transformers.models.auto.modeling_auto")
    known = import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING
    words = import_module("transformers.models.auto.tokenization_auto").TOKENIZER_MAPPING_NAMES
    family = said.get("model_type")
    if not isinstance(family, str) or family not in known:
        why = "needs custom code, which actune does not run" if "auto_map" in said else "transformers does not know"
        raise ModelError(
            f"{shown(folder)} cannot be loaded as an encoder: it is of the family {told(family)}, which {why}"
        )
    reads_text = (names.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES, names.MODEL_FOR_MASKED_LM_MAPPING_NAMES, words)
    if not any(family in families for families in reads_text) or known[family].sub_configs:
        raise ModelError(
            f"{shown(folder)} cannot be loaded as an encoder: the family {told(family)} is no encoder of texts alone"
        )
    return known[family]


def _check_said(folder: Path, said: Mapping[str, Any]) -> None:
    """One sentence for what cannot be loaded, and for numbers that would take for ever."""
    for name in REFUSED:
        if said.get(name) is not None:
            raise ModelError(f"the encoder in {shown(folder)} {REFUSED[name]}")
    sines = any("sinusoidal" in name and value for name, value in said.items())
    for name, value in said.items():
        most = min((most for word, most in MOST.items() if word in name), default=None)
        if most and sines and "position" in name:
            most = MOST_SINES
        size = len(value) if isinstance(value, (Mapping, list)) else value if isinstance(value, int) else 0
        if most and size > most:
            raise ModelError(
                f"{shown(folder / 'config.json')} has {told(name)} = {told(value)}, and actune allows at most "
                f"{most:,}: use another encoder"
            )


def _kept(said: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in said.items() if name not in IGNORED}
    for name in ATTENTION:
        if kept.get(name) not in OWN_ATTENTION:
            kept.pop(name, None)
    return kept


@contextmanager
def _few_parts(weights: int) -> Iterator[None]:
    """Inside, a network cannot have many more parts than there are stored weights: building them takes long."""
    most, thread, count = 1000 + 50 * weights, get_ident(), 0

    def look(module: nn.Module, name: str, part: nn.Module | None) -> None:
        nonlocal count
        count += get_ident() == thread
        if count > most:
            raise ModelError(
                f"the config.json of the encoder describes a network of more than {most:,} parts, but only {weights:,} "
                "weights are stored: download the model again"
            )

    hook = register_module_module_registration_hook(look)
    try:
        yield
    finally:
        hook.remove()
