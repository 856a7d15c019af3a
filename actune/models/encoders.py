"""Loading real pretrained encoders and their tokenizers: safetensors only, no remote code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import nn

from actune.errors import ModelError


def choose_device(name: str = "auto") -> torch.device:
    """The device called `name`; auto takes a GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise ModelError("this machine has no CUDA device: use --device cpu")
    return torch.device(name)


def load_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of a model folder."""
    transformers = _quiet_transformers()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, use_fast=True, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder} has no tokenizer that can be read: {_first_line(error)}") from error
    if not tokenizer.is_fast or tokenizer.pad_token_id is None:
        raise ModelError(f"the tokenizer in {folder} is not a fast tokenizer with a padding token: use another encoder")
    return tokenizer


def token_limit(folder: Path, wanted: int) -> int:
    """`wanted` tokens, or as many as the encoder has positions for."""
    config = json.loads((folder / "config.json").read_text())
    positions = config.get("max_position_embeddings") or wanted
    offset = 2 if config.get("model_type") in {"roberta", "xlm-roberta", "mpnet", "camembert"} else 0
    return min(wanted, int(positions) - offset)


def load_encoder(folder: Path, device: torch.device) -> nn.Module:
    """The encoder alone, frozen, for embeddings."""
    model = _load(_quiet_transformers().AutoModel, folder)
    return model.to(device).eval().requires_grad_(False)


def load_classifier(folder: Path, classes: int | None, device: torch.device, seed: int = 0) -> nn.Module:
    """The encoder under its family's own classification head; a new head is drawn from `seed`.

    Without `classes` the folder must hold a fine-tuned head already.
    """
    options = {} if classes is None else {"num_labels": classes}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _load(_quiet_transformers().AutoModelForSequenceClassification, folder, **options)
    return model.to(device)


def pooling_mode(folder: Path) -> str:
    """How the folder's own authors pool token vectors into one: mean unless 1_Pooling says otherwise."""
    file = folder / "1_Pooling" / "config.json"
    chosen = json.loads(file.read_text()) if file.is_file() else {}
    for mode in ("cls", "max"):
        if chosen.get(f"pooling_mode_{mode}_token") or chosen.get(f"pooling_mode_{mode}_tokens"):
            return mode
    return "mean"


def pool(hidden: torch.Tensor, mask: torch.Tensor, mode: str) -> torch.Tensor:
    """Token vectors (texts, tokens, width) into unit vectors (texts, width), padding left out."""
    if mode == "cls":
        pooled = hidden[:, 0]
    elif mode == "max":
        pooled = hidden.masked_fill(mask[..., None] == 0, -torch.inf).amax(1)
    else:
        weights = mask[..., None].to(hidden.dtype)
        pooled = (hidden * weights).sum(1) / weights.sum(1)
    return nn.functional.normalize(pooled.float(), dim=1)


def _load(kind: Any, folder: Path, **options: Any) -> Any:
    try:
        # float32 whatever the file holds: a half-precision optimiser state would stall
        return kind.from_pretrained(
            folder, use_safetensors=True, trust_remote_code=False, dtype=torch.float32, **options
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(f"{folder} cannot be loaded as an encoder: {_first_line(error)}") from error


def _quiet_transformers() -> Any:
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
