"""The learner `finetune`: a fresh pretrained encoder and a seeded head every round, trained as a whole."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import nn

from actune.core.classifier import Labelled, Moments, Readout
from actune.core.objective import Objective
from actune.core.progress import Progress, silent
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import TrainingSet
from actune.models import precision
from actune.models.adversarial import adversarial_loss, read_perturbed
from actune.models.checkpoints import Checkpoint, digest_of, fit_key
from actune.models.encoders import load_classifier, load_tokenizer, load_trained, token_limit
from actune.models.fast.kept import Place, pays, training_place
from actune.models.fast.packing import few_shapes, packed, packs
from actune.models.folders import state_of
from actune.models.pooled import PooledNetwork, is_pooled, load_pooled, new_pooled, save_pooled
from actune.models.reader import read_tokens
from actune.models.sampling import dropout_on, moments_of
from actune.models.sources import encoder_digest
from actune.models.tokens import NamedTensors, Tokens, tokenize
from actune.models.training import Loss, Rows, WeightsAndStep, accuracy_on, train

FEW_WIDTHS = 8  # widths in tokens are multiples of this on a GPU, so that few shapes recur


class FineTuning:
    """Fine-tunes the encoder in `folder` for a number of classes."""

    checkpoints: Path | None = None  # a folder in which long fits keep their state, to go on after a kill

    def __init__(self, folder: Path, classes: int, max_tokens: int, recipe: Training, device: torch.device) -> None:
        self.folder = folder
        self.classes = classes
        self.recipe = recipe
        self.device = device
        self.limit = token_limit(folder, max_tokens)
        self.tokenizer = load_tokenizer(folder)
        self.notes: list[str] = []
        self.cut = 0

    def prepare(self, texts: Sequence[str], progress: Progress = silent) -> Tokens:
        tokens = tokenize(self.tokenizer, texts, self.limit, progress)
        self.cut = tokens.cut
        if tokens.cut:
            self.notes.append(f"{tokens.cut:,} of {len(tokens):,} texts were truncated to {self.limit} tokens")
        return tokens

    def fit(
        self,
        inputs: Tokens,
        training: TrainingSet,
        objective: Objective,
        streams: Streams,
        dev: Labelled | None = None,
        progress: Progress = silent,
        start: FineTuned | None = None,
    ) -> FineTuned:
        classifier = self._fresh(streams)
        if start is not None:
            classifier.network.load_state_dict(start.network.state_dict())
        elif isinstance(classifier.network, PooledNetwork):
            labelled = classifier.read(inputs.only(training.rows)).embedding.cpu().numpy()
            classifier.network.begin_as_probe(labelled, training.labels)
        pack = classifier.packs(inputs) and not objective.adversarial  # whose step is one in padded word embeddings
        checkpoint = self._checkpoint(inputs, training, objective, streams, dev, start)
        with self._place(classifier, pack) as place:
            fitting = _Fitting(classifier, inputs, pack, place)
            look = accuracy_on(dev, fitting.classifier.read)
            train(fitting, training, objective, self.recipe, streams, look, progress, checkpoint)
        return classifier

    def _place(self, classifier: FineTuned, pack: bool) -> AbstractContextManager[Place | None]:
        """Where the classifier is trained in bfloat16 throughout; without a place autocast decides what is."""
        if not (pack and pays(self.device)):
            return nullcontext()
        head = self.recipe.pooled_head, self.recipe.head_scale
        kind = (state_of(self.folder), self.classes, self.device, *head)
        return training_place(classifier.network, self.recipe, kind)

    def _checkpoint(
        self,
        inputs: Tokens,
        training: TrainingSet,
        objective: Objective,
        streams: Streams,
        dev: Labelled | None,
        start: FineTuned | None,
    ) -> Checkpoint | None:
        """Where this very fit keeps its state; on a GPU, where steps are recorded, a fit is short and keeps none."""
        if self.checkpoints is None or self.device.type != "cpu":
            return None
        begins = digest_of(start.network) if start else encoder_digest(self.folder)
        facts = (begins, self.classes, self.limit, self.recipe, objective, streams, precision.name(self.device))
        return Checkpoint(self.checkpoints / f"{fit_key(facts, inputs, training, dev)}.safetensors")

    def _fresh(self, streams: Streams) -> FineTuned:
        """The encoder as it was pretrained, under a head of this round."""
        network = self._network(streams)
        if self.recipe.freeze_embeddings:
            for table in embedding_tables(network):
                table.requires_grad_(False)
        return FineTuned(network, self.tokenizer, self.device, self.recipe)

    def _network(self, streams: Streams) -> nn.Module:
        if self.recipe.pooled_head:
            return new_pooled(self.folder, self.classes, self.device, self.recipe.head_scale)
        return load_classifier(self.folder, self.classes, self.device, streams.integer("head"))

    def _trained(self, folder: Path) -> nn.Module:
        if is_pooled(folder):
            return load_pooled(folder, self.classes, self.device)
        return load_trained(folder, self.classes, self.device)

    def load(self, folder: Path) -> FineTuned:
        classifier = FineTuned(self._trained(folder), self.tokenizer, self.device, self.recipe)
        classifier.trained = True
        return classifier


class _Fitting:
    """What the training loop does with a network that reads tokens."""

    def __init__(self, classifier: FineTuned, inputs: Tokens, pack: bool, place: Place | None) -> None:
        self.classifier = classifier.with_network(place.network) if place else classifier
        self.network = self.classifier.network
        self.inputs = inputs
        self.pack = pack
        self.place = place
        self.device = classifier.device

    def own_steps(self, recipe: Training, objective: Objective, loss_of: Loss) -> WeightsAndStep | None:
        return (self.place.weights, self.place.step(recipe, objective, loss_of)) if self.place else None

    def inputs_of(self, rows: Rows) -> NamedTensors:
        few = self.device.type == "cuda"
        if not self.pack:
            return self.inputs.batch(rows, round_to=FEW_WIDTHS if few else 1)
        fill_to, round_to = few_shapes(self.network) if few else (1, 1)
        return self.inputs.packed(rows, fill_to=fill_to, round_to=round_to)

    def forward(self, batch: NamedTensors) -> tuple[torch.Tensor, torch.Tensor]:
        with nullcontext() if self.place else precision.for_training(self.device):
            logits, first = said(self.network, batch)
        return logits.float(), first.float()

    def log_proba(self, rows: Rows) -> torch.Tensor:
        return self.classifier.read(self.inputs.only(rows)).log_proba

    def adversarial(self, batch: NamedTensors, epsilon: float) -> torch.Tensor:
        words: Any = self.network.get_input_embeddings()  # type: ignore[operator]
        shape = (*batch["input_ids"].shape, words.embedding_dim)
        noise = torch.randn(shape, device=self.device)
        with precision.for_training(self.device):
            return adversarial_loss(self.network, batch, noise, epsilon)


class FineTuned:
    """A fine-tuned encoder. Its embedding is the last layer's first token, before the head."""

    trained = False  # it was loaded and never changes: its copy in half precision is kept

    def __init__(self, network: nn.Module, tokenizer: Any, device: torch.device, recipe: Training) -> None:
        self.network = network
        self.tokenizer = tokenizer
        self.device = device
        self.recipe = recipe

    def with_network(self, network: nn.Module) -> FineTuned:
        """The same classifier with other weights."""
        other = copy.copy(self)
        other.network = network
        return other

    def packs(self, inputs: Tokens) -> bool:
        """Whether these texts are read end to end, rather than padded."""
        return packs(self.network, inputs, self.recipe)

    @cached_property
    def _halved(self) -> nn.Module:
        return precision.halved(self.network)

    def read(
        self, inputs: Tokens, progress: Progress = silent, head_input: bool = False, budget: int | None = None
    ) -> Readout:
        pack = self.packs(inputs)

        def forward(batch: NamedTensors) -> tuple[torch.Tensor, ...]:
            with last_inputs(network) as entered:
                logits, first = said(network, batch)
            found = logits.float().log_softmax(1), first
            return (*found, entered[0]) if head_input else found

        half = self._halved if self.trained and pack else None
        with precision.reading(self.network, pack, half) as network:
            return Readout(*read_tokens(forward, inputs, self.device, progress, budget, pack=pack))

    def sample(self, inputs: Tokens, rows: Rows, samples: int, seed: int, progress: Progress = silent) -> Moments:
        chosen = inputs.only(rows)
        pack = self.packs(chosen)

        def forward(batch: NamedTensors) -> tuple[torch.Tensor, ...]:
            return moments_of(lambda: said(network, batch)[0].float().log_softmax(1), samples)

        with precision.reading(self.network, in_half=pack) as network, dropout_on(network, seed):
            return Moments(*read_tokens(forward, chosen, self.device, progress, stage="sample", pack=pack))

    def perturbed(self, inputs: Tokens, seed: int, epsilon: float, progress: Progress = silent) -> torch.Tensor:
        with precision.reading(self.network, in_half=False) as network:
            return read_perturbed(network, inputs, self.device, seed, progress, epsilon)

    def save(self, folder: Path, classes: Sequence[str], card: str) -> None:
        """A folder that `AutoModelForSequenceClassification` and `pipeline` load, label names included."""
        config: Any = self.network.config
        config.id2label = dict(enumerate(classes))
        config.label2id = {name: number for number, name in enumerate(classes)}
        config.problem_type = "single_label_classification"
        if isinstance(self.network, PooledNetwork):
            save_pooled(self.network, folder)
        else:
            self.network.save_pretrained(folder)  # type: ignore[operator]
        self.tokenizer.save_pretrained(folder)
        (folder / "README.md").write_text(card, encoding="utf-8")


def embedding_tables(network: nn.Module) -> list[nn.Embedding]:
    """The tables that turn tokens, positions and segments into vectors.

    Not every `nn.Embedding` is one: MPNet and others keep the learnt bias of attention by distance in such a module.
    """
    body: Any = network.base_model
    return [module for module in body.embeddings.modules() if isinstance(module, nn.Embedding)]


def said(network: nn.Module, batch: NamedTensors) -> tuple[torch.Tensor, torch.Tensor]:
    """The logits of some texts, and their last layer's first token."""
    if isinstance(network, PooledNetwork):
        found = network(**batch)
        return found.logits, found.embedding
    with packed(network, batch) if "bounds" in batch else nullcontext(batch) as inputs, first_tokens(network) as seen:
        logits = network(**inputs).logits
    return logits, seen[0]


@contextmanager
def first_tokens(network: nn.Module) -> Iterator[list[torch.Tensor]]:
    """Collects the last layer's first token of every pass inside."""
    seen: list[torch.Tensor] = []
    body: Any = network.base_model
    # for these passes alone: a hook that stays would tie network and classifier together and keep both in memory
    with body.register_forward_hook(lambda _, __, output: seen.append(output[0][:, 0])):
        yield seen


@contextmanager
def last_inputs(network: nn.Module) -> Iterator[list[torch.Tensor]]:
    """Collects what enters the layer that gives the logits."""
    seen: list[torch.Tensor] = []
    with last_linear(network).register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0])):
        yield seen


def last_linear(network: nn.Module) -> nn.Module:
    """The layer that gives the logits, in whatever head the encoder's family has."""
    classes = network.config.num_labels  # type: ignore[union-attr]
    layers = [m for m in network.modules() if isinstance(m, nn.Linear) and m.out_features == classes]
    return layers[-1]
