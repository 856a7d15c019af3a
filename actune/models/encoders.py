"""Loading real pretrained encoders and their tokenizers: safetensors only, no remote code."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import nn

from actune.core.checks import told
from actune.errors import ModelError
from actune.models import configs
from actune.models.configs import make_config
from actune.models.folders import check_files, read_json, refused, shown, state_of
from actune.models.heads import check_outputs
from actune.models.vocabulary import check_backend, check_words

# families whose positions begin behind the padding id, which is 1
COUNT_FROM_TWO = {
    "camembert",
    "longformer",
    "mpnet",
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
}


FEWEST_TOKENS = 3  # a text between the two ends that most tokenizers add
_sound: set[object] = set()  # what was loaded in this process: which network, and the state of its files


def choose_device(name: str = "auto") -> torch.device:
    """The device called `name`; auto takes a GPU where there is one."""
    torch.backends.cuda.enable_cudnn_sdp(False)  # its attention spends seconds on a plan for every new shape
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise ModelError("this machine has no CUDA device: use --device cpu")
    try:
        number = torch.zeros(1, device=name)
        number.item()  # `meta` takes arrays, and gives nothing back
        return number.device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ModelError(f"this machine has no device {name!r}: use --device cpu") from error


def load_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of a model folder."""
    check_files(folder)
    # without any of these transformers makes an empty vocabulary, and every word is unknown
    if not any(file for pattern in ("tokenizer.json", "vocab.*", "*.model") for file in folder.glob(pattern)):
        raise ModelError(f"{shown(folder)} has no tokenizer (no tokenizer.json and no vocabulary): use another encoder")
    check_words(folder)
    config = make_config(folder)
    with refused(f"{shown(folder)} has no readable tokenizer", ": use another encoder"):
        tokenizer = _quiet_transformers().AutoTokenizer.from_pretrained(
            folder, config=config, trust_remote_code=False, local_files_only=True
        )
    if not tokenizer.is_fast or tokenizer.pad_token_id is None:
        raise ModelError(
            f"the tokenizer in {shown(folder)} is not a fast tokenizer with a padding token: use another encoder"
        )
    check_backend(tokenizer, folder, getattr(config, "vocab_size", None))
    return tokenizer


def token_limit(folder: Path, wanted: int) -> int:
    """`wanted` tokens, or as many as the encoder has positions for."""
    config = read_json(folder / "config.json")
    positions = config.get("max_position_embeddings") or wanted
    offset = 2 if str(config.get("model_type")) in COUNT_FROM_TWO else 0
    if not isinstance(positions, int) or positions - offset < FEWEST_TOKENS:
        raise ModelError(
            f"{shown(folder / 'config.json')} has max_position_embeddings = {told(positions)}, which leaves no room "
            "for a text: use another encoder"
        )
    return min(wanted, positions - offset)


def layer_count(folder: Path) -> int:
    """How many layers the encoder has, by its config; 0 where that does not say."""
    config = read_json(folder / "config.json")
    count = config.get("num_hidden_layers") or config.get("n_layers")
    return count if isinstance(count, int) else 0


def load_encoder(folder: Path, device: torch.device) -> nn.Module:
    """The encoder alone, frozen, for embeddings."""
    network, _ = _load(_quiet_transformers().AutoModel, folder)
    return network.to(device).eval().requires_grad_(False)


def load_classifier(folder: Path, classes: int | None, device: torch.device, seed: int = 0) -> nn.Module:
    """The encoder under its family's own classification head; a new head is drawn from `seed`.

    Without `classes` the folder must hold a fine-tuned head already. A head for other classes is drawn anew.
    """
    kind = _quiet_transformers().AutoModelForSequenceClassification
    if classes is None:
        network, _ = _load(kind, folder, complete=True)
    else:
        network, _ = _load(kind, folder, seed, num_labels=classes)
    return network.to(device)


def load_trained(folder: Path, classes: int, device: torch.device) -> nn.Module:
    """A fine-tuned classifier for so many classes, to read with."""
    network = load_classifier(folder, None, device).eval()
    outputs: Any = network.config.num_labels  # type: ignore[union-attr]
    check_outputs(folder, outputs, classes)
    return network


def load_masked_lm(folder: Path, device: torch.device, seed: int = 0) -> tuple[nn.Module, bool]:
    """The encoder under its family's masked-LM head, and whether the folder held that head: else `seed` draws it."""
    kind = _quiet_transformers().AutoModelForMaskedLM
    family = make_config(folder).model_type
    if family not in import_module("transformers.models.auto.modeling_auto").MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        raise ModelError(
            f"the encoder in {shown(folder)} is of the family {family}, which has no masked language model: use "
            "another encoder, or a method that does not need one"
        )
    network, new = _load(kind, folder, seed)
    return network.to(device), all(key.startswith(f"{network.base_model_prefix}.") for key in new)


def outline(folder: Path) -> nn.Module:
    """The encoder under a classification head as its config describes it, without its weights."""
    return configs.outline(_quiet_transformers().AutoModelForSequenceClassification, make_config(folder), folder)


def pooling_mode(folder: Path) -> str:
    """How the folder's own authors pool token vectors into one: mean unless 1_Pooling says otherwise."""
    file = folder / "1_Pooling" / "config.json"
    chosen = read_json(file) if file.is_file() else {}
    for mode, older in (("cls", "pooling_mode_cls_token"), ("max", "pooling_mode_max_tokens")):
        if chosen.get("pooling_mode") == mode or chosen.get(older):
            return mode
    return "mean"


def pool(hidden: torch.Tensor, mask: torch.Tensor, mode: str) -> torch.Tensor:
    """Token vectors (texts, tokens, width) into unit vectors (texts, width), padding left out."""
    hidden = hidden.float()
    if mode == "cls":
        pooled = hidden[:, 0]
    elif mode == "max":
        pooled = hidden.masked_fill(mask[..., None] == 0, -torch.inf).amax(1)
    else:
        weights = mask[..., None].to(hidden.dtype)
        pooled = (hidden * weights).sum(1) / weights.sum(1)
    return nn.functional.normalize(pooled, dim=1)


def _load(kind: Any, folder: Path, seed: int = 0, complete: bool = False, **changes: Any) -> tuple[nn.Module, set[str]]:
    """The model and the names of what the file lacks.

    That is drawn from `seed`: a head or a pooler where the model need not be complete, never more.
    """
    config = make_config(folder, **changes)
    known = kind.__name__, *changes.values(), state_of(folder)
    if known not in _sound:
        configs.outline(kind, config, folder)
    options: dict[str, Any] = {"use_safetensors": True, "trust_remote_code": False, "local_files_only": True}
    # float32 whatever the file holds: a half-precision optimiser state would stall
    options |= {"dtype": torch.float32, "ignore_mismatched_sizes": True, "output_loading_info": True}
    with torch.random.fork_rng(devices=[]), refused(f"{shown(folder)} cannot be loaded as an encoder"):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would reach into the GPUs' generators too
        model, report = kind.from_pretrained(folder, config=config, **options)
    new = {*report["missing_keys"], *(key for key, *_ in report["mismatched_keys"])}
    body = "" if model.base_model is model else f"{model.base_model_prefix}."
    bad = sorted(key for key in new if complete or (key.startswith(body) and "pooler" not in key.split(".")))
    if bad:
        raise ModelError(
            f"the weights in {shown(folder)} do not match its config.json: {len(bad)} are missing or have another "
            f"shape, the first is {bad[0]}"
        )
    if known not in _sound:
        _try_out(model, folder)
    _sound.add(known)  # every round loads the same encoder
    return model, new


def _try_out(model: nn.Module, folder: Path) -> None:
    """Reads two tokens: a config can describe a network that has the right weights, and fails all the same."""
    two = torch.zeros((1, 2), dtype=torch.long)
    with torch.no_grad(), refused(f"the encoder in {shown(folder)} cannot read a text", ": use another encoder"):
        found = model(input_ids=two, attention_mask=torch.ones_like(two))
        first = found.logits if hasattr(found, "logits") else found.last_hidden_state
    if not first.isfinite().all():
        raise ModelError(f"the weights in {shown(folder)} are no usable numbers: download the model again")


def _quiet_transformers() -> Any:
    transformers: Any = import_module("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers
