"""The learner `finetune`: a fresh pretrained encoder and a seeded head every round, trained as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from actune.core.classifier import Labelled, Readout
from actune.core.objective import Objective
from actune.core.progress import Progress, silent
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import TrainingSet
from actune.models import precision
from actune.models.encoders import load_classifier, load_tokenizer, token_limit
from actune.models.reader import read_tokens
from actune.models.steps import Tensors
from actune.models.tokens import Tokens, tokenize
from actune.models.training import Rows, accuracy_on, train

FEW_WIDTHS = 8  # widths in tokens are multiples of this on a GPU, so that few shapes recur


class FineTuning:
    """Fine-tunes the encoder in `folder` for a number of classes."""

    def __init__(self, folder: Path, classes: int, max_tokens: int, recipe: Training, device: torch.device) -> None:
        self.folder = folder
        self.classes = classes
        self.recipe = recipe
        self.device = device
        self.limit = token_limit(folder, max_tokens)
        self.tokenizer = load_tokenizer(folder)
        self.notes: list[str] = []

    def prepare(self, texts: Sequence[str], progress: Progress = silent) -> Tokens:
        tokens = tokenize(self.tokenizer, texts, self.limit, progress)
        if tokens.cut:
            self.notes.append(f"{tokens.cut:,} of {len(tokens):,} texts were cut at {self.limit} tokens")
        return tokens

    def fit(
        self,
        inputs: Tokens,
        training: TrainingSet,
        objective: Objective,
        streams: Streams,
        dev: Labelled | None = None,
        progress: Progress = silent,
    ) -> FineTuned:
        network = load_classifier(self.folder, self.classes, self.device, streams.integer("head"))
        if self.recipe.freeze_word_embeddings:
            network.get_input_embeddings().requires_grad_(False)  # type: ignore[operator]
        classifier = FineTuned(network, self.tokenizer, self.device)

        def inputs_of(rows: Rows) -> Tensors:
            return inputs.batch(rows, round_to=1 if self.device.type == "cpu" else FEW_WIDTHS)

        def logits_of(batch: Tensors) -> torch.Tensor:
            with precision.for_training(self.device):
                return network(**batch).logits.float()  # type: ignore[no-any-return]

        look = accuracy_on(dev, classifier.read)
        train(network, inputs_of, logits_of, training, objective, self.recipe, streams, look, progress)
        return classifier

    def load(self, folder: Path) -> FineTuned:
        return FineTuned(load_classifier(folder, None, self.device).eval(), self.tokenizer, self.device)


class FineTuned:
    """A fine-tuned encoder. Its embedding is the last layer's first token, before the head."""

    def __init__(self, network: nn.Module, tokenizer: Any, device: torch.device) -> None:
        self.network = network
        self.tokenizer = tokenizer
        self.device = device

    def read(self, inputs: Tokens, progress: Progress = silent, budget: int | None = None) -> Readout:
        log_proba, embedding = read_tokens(self._forward, inputs, self.device, progress, budget)
        return Readout(log_proba, embedding)

    def save(self, folder: Path, classes: Sequence[str], card: str) -> None:
        """A folder that `AutoModelForSequenceClassification` and `pipeline` load, label names included."""
        config: Any = self.network.config
        config.id2label = dict(enumerate(classes))
        config.label2id = {name: number for number, name in enumerate(classes)}
        config.problem_type = "single_label_classification"
        self.network.save_pretrained(folder)  # type: ignore[operator]
        self.tokenizer.save_pretrained(folder)
        (folder / "README.md").write_text(card, encoding="utf-8")

    def _forward(self, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        first_token: list[torch.Tensor] = []
        body: Any = self.network.base_model
        # for this pass alone: a hook that stays would tie network and classifier together and keep both in memory
        hook = body.register_forward_hook(lambda _, __, output: first_token.append(output[0][:, 0]))
        with hook:
            logits = self.network(**batch).logits
        return logits.float().log_softmax(1), first_token[0]
