"""Encoders of several families with random weights and few words: small, but each runs its family's own code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from tokenizers import Tokenizer, pre_tokenizers, processors
from tokenizers.models import WordPiece
from torch import nn

from actune.core.objective import Objective
from actune.core.settings import Training
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.models.objectives import training_loss
from actune.models.tokens import NamedTensors
from actune.models.training import Loss

library: Any = import_module("transformers")

LIMIT = 16
TEXTS = [
    "who is the man",
    "what is the capital of the city ?",
    "when did the man invent it",
    "",
    "how many people",
    "where",
    "how long is the year ? " * 5,
    "who did invent the long year of the city ?",
    "never seen words",
    "what year",
] * 3

QUESTIONS = "who what when where how is did the a of man city year capital people many long invent it ?"
WORDS = QUESTIONS.split()
BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
SIZE: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
RELATIVE: dict[str, Any] = {"relative_attention": True, "position_buckets": 8, "pos_att_type": ["p2c", "c2p"]}
ENDS: dict[str, Any] = {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}

CONFIGS: dict[str, Any] = {
    "albert": partial(library.AlbertConfig, **SIZE, embedding_size=16, pad_token_id=0),
    "bert": partial(library.BertConfig, **SIZE),
    "camembert": partial(library.CamembertConfig, **SIZE),
    "deberta-v2": partial(library.DebertaV2Config, **SIZE, **RELATIVE, type_vocab_size=0, position_biased_input=False),
    "distilbert": partial(library.DistilBertConfig, dim=32, n_layers=2, n_heads=2, hidden_dim=64),
    "electra": partial(library.ElectraConfig, **SIZE, embedding_size=16),
    "modernbert": partial(library.ModernBertConfig, **SIZE, **ENDS, local_attention=6),
    "mpnet": partial(library.MPNetConfig, **SIZE),
    "roberta": partial(library.RobertaConfig, **SIZE),
    "xlm-roberta": partial(library.XLMRobertaConfig, **SIZE),
}
PADS_WITH_ONE = {"camembert", "mpnet", "roberta", "xlm-roberta"}  # and count positions from two


def save_tiny(folder: Path, family: str = "bert") -> Path:
    """A model folder as the hub would give it: config, safetensors, fast tokenizer."""
    shifted = family in PADS_WITH_ONE
    specials = ROBERTA_SPECIALS if shifted else BERT_SPECIALS
    ids: dict[str, Any] = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2} if shifted else {}
    config = CONFIGS[family](vocab_size=len(specials) + len(WORDS), max_position_embeddings=LIMIT + 2 * shifted, **ids)
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        library.AutoModel.from_config(config).save_pretrained(folder)
    _tokenizer(specials, shifted).save_pretrained(folder)
    return folder


def _tokenizer(specials: list[str], shifted: bool) -> Any:
    vocabulary = {word: number for number, word in enumerate(specials + WORDS)}
    if shifted:
        begin, pad, end, unknown, mask = specials
    else:
        pad, unknown, begin, end, mask = specials
    backend = Tokenizer(WordPiece(vocabulary, unk_token=unknown))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(word, vocabulary[word]) for word in (begin, end)]
    )
    names = {"pad_token": pad, "unk_token": unknown, "cls_token": begin, "sep_token": end, "mask_token": mask}
    return library.PreTrainedTokenizerFast(tokenizer_object=backend, **names)


def training_of(labelled: int, trusted: int = 0, classes: int = 3) -> TrainingSet:
    """The first rows labelled, the next ones trusted, classes in turn."""
    rows = np.arange(labelled + trusted)
    weights = np.ones(trusted, np.float32)
    pseudo = PseudoLabels(rows[labelled:], rows[labelled:] % classes, weights)
    return TrainingSet(rows[:labelled], rows[:labelled] % classes, pseudo)


class Plain:
    """A network in training whose inputs are row numbers; its embedding is whatever its logits are."""

    def __init__(self, network: nn.Module, logits_of: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.network = network
        self.logits_of = logits_of

    def own_steps(self, recipe: Training, objective: Objective, loss_of: Loss) -> None:
        return None

    def inputs_of(self, rows: npt.NDArray[np.int64]) -> NamedTensors:
        return {"rows": torch.from_numpy(rows)}

    def forward(self, batch: NamedTensors) -> tuple[torch.Tensor, torch.Tensor]:
        logits = self.logits_of(batch["rows"])
        return logits, logits

    def log_proba(self, rows: npt.NDArray[np.int64]) -> torch.Tensor:
        with torch.no_grad():
            return self.logits_of(torch.from_numpy(rows)).log_softmax(1)

    def adversarial(self, batch: NamedTensors, epsilon: float) -> torch.Tensor:
        return epsilon * self.logits_of(batch["rows"]).square().mean()


def plain_descent(groups: list[dict[str, Any]], *_: Any, **__: Any) -> torch.optim.Optimizer:
    """An optimiser in place of AdamW whose steps are the learning rate times the gradient."""
    return torch.optim.SGD([weight for group in groups for weight in group["params"]], lr=1.0)


def spied(monkeypatch: pytest.MonkeyPatch) -> list[NamedTensors]:
    """What the loss is given, step by step, from now on."""
    batches: list[NamedTensors] = []

    def loss(logits: torch.Tensor, embedding: torch.Tensor, batch: NamedTensors, objective: Objective) -> torch.Tensor:
        batches.append({name: tensor.clone() for name, tensor in batch.items()})
        return training_loss(logits, embedding, batch, objective)

    monkeypatch.setattr("actune.models.training.training_loss", loss)
    return batches


def loss_of(
    logits: torch.Tensor,
    labels: torch.Tensor,
    targets: torch.Tensor,
    weights: torch.Tensor,
    objective: Objective,
    **more: torch.Tensor,
) -> torch.Tensor:
    """The loss of a batch whose embedding does not matter."""
    batch = {"labels": labels, "targets": targets, "weights": weights, **more}
    return training_loss(logits, more.get("embedding", logits), batch, objective)
