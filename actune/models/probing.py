"""The learner `probe`: a small head with dropout on cached frozen embeddings, for laptops and interactive use."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn

from actune.core.classifier import Labelled, Moments, Readout
from actune.core.objective import Objective
from actune.core.progress import Progress, silent
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import TrainingSet
from actune.errors import MissingSignal, ModelError
from actune.models import fast, precision
from actune.models.cache import Vectors
from actune.models.embeddings import Flags, stored_vectors
from actune.models.encoders import load_encoder, load_tokenizer, pool, pooling_mode, token_limit
from actune.models.fast.heads import steps_by_hand
from actune.models.fast.packing import packed, packs
from actune.models.heads import FILE, Head, check_outputs, read_head
from actune.models.middle import Middle, middle_layers, summed
from actune.models.reader import read_tokens
from actune.models.sampling import dropout_on, moments_of
from actune.models.sources import encoder_digest
from actune.models.tokens import NamedTensors, tokenize_and_mark
from actune.models.training import Loss, Rows, WeightsAndStep, accuracy_on, train

MANY = 500_000  # embeddings: so many and more are read in blocks
BLOCK = 65_536
FEW = 2048  # rows here and there that are gathered at a time: the system maps their neighbours too

# the share of the encoder's own embedding in squared distances, and the middle layers have the rest: with a half,
# accuracy is a little higher where classes are no topics, and lower where there are many topics
OWN = 2 / 3

NO_WORDS = "the learner 'probe' uses frozen embeddings, so words cannot be perturbed: use --learner finetune"


@dataclass(frozen=True, eq=False)
class Embeddings:
    """The frozen embeddings of some texts, of length one.

    The encoder's own one comes first; the rest is that of its middle layers, where the encoder has these.
    """

    vectors: torch.Tensor  # (texts, width)
    mapped: mmap.mmap | None = None  # the file of the cache that very many of them are read from

    def __len__(self) -> int:
        return len(self.vectors)

    def let_go(self) -> None:
        """Gives the memory of mapped embeddings back to the system, which reads them from their file when needed."""
        if self.mapped is not None and hasattr(self.mapped, "madvise"):
            self.mapped.madvise(mmap.MADV_DONTNEED)

    def only(self, rows: Rows) -> Embeddings:
        """The embeddings of these rows alone; of a file that is mapped, only few pages are in memory at a time."""
        places = torch.from_numpy(rows).to(self.vectors.device)
        if self.mapped is None:
            return Embeddings(self.vectors[places])
        found = self.vectors.new_empty(len(places), self.vectors.shape[1])
        for start in range(0, len(places), FEW):
            found[start : start + FEW] = self.vectors[places[start : start + FEW]]
            self.let_go()
        return Embeddings(found)


def own_part(vectors: torch.Tensor, width: int) -> torch.Tensor:
    """What embeddings have of the encoder's own ones, of length one."""
    return vectors if vectors.shape[1] == width else vectors[:, :width] / OWN**0.5


class Probing:
    """Trains a head on the frozen embeddings of the encoder in `folder`."""

    def __init__(self, folder: Path, classes: int, max_tokens: int, recipe: Training, device: torch.device) -> None:
        self.folder = folder
        self.classes = classes
        self.recipe = recipe
        self.device = device
        self.limit = token_limit(folder, max_tokens)
        self.notes: list[str] = []
        self.cut = 0

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(self.folder)

    @cached_property
    def _encoder(self) -> nn.Module:
        return load_encoder(self.folder, self.device)

    @cached_property
    def _halved(self) -> nn.Module:
        """The encoder as packed texts are read: kept, because a copy takes longer than the read of a few texts."""
        return precision.halved(self._encoder)

    @property
    def how(self) -> str:
        """The way of reading, as the cache of embeddings knows it."""
        way = f"{pooling_mode(self.folder)} {self.limit} {self.device.type} {precision.name(self.device)}"
        middle = ", with the middle layers" if self.recipe.middle_layers else ""
        return f"{way}{fast.mark(self.recipe)}, batches of one length{middle}"

    def prepare(self, texts: Sequence[str], progress: Progress = silent) -> Embeddings:
        vectors, cut = stored_vectors(self.folder, texts, self.how, self._embed, progress)
        self.cut = cut
        if cut:
            self.notes.append(f"{cut:,} of {len(texts):,} texts were truncated to {self.limit} tokens")
        mapped = vectors.base if len(vectors) > MANY and isinstance(vectors.base, mmap.mmap) else None
        return Embeddings(torch.from_numpy(vectors).to(self.device), mapped)

    @cached_property
    def _layers(self) -> range:
        """The middle layers that are read."""
        return middle_layers(self._encoder) if self.recipe.middle_layers else range(0)

    @property
    def own_width(self) -> int:
        """Of the encoder's own embedding."""
        config: Any = self._encoder.config
        return int(config.hidden_size)

    @property
    def width(self) -> int:
        return self.own_width * (2 if self._layers else 1)

    def own_embeddings(self, texts: Sequence[str], progress: Progress = silent) -> torch.Tensor:
        """The encoder's own embeddings (texts, width), which were trained to tell what a text is about.

        All are of one length, which is not one: dividing those of a million texts would copy them.
        """
        return self.prepare(texts, progress).vectors[:, : self.own_width]

    def fit(
        self,
        inputs: Embeddings,
        training: TrainingSet,
        objective: Objective,
        streams: Streams,
        dev: Labelled | None = None,
        progress: Progress = silent,
        start: Probed | None = None,
    ) -> Probed:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(streams.integer("head"))
            network = Head(inputs.vectors.shape[1], self.classes)
        network.to(self.device)
        if start is not None:
            network.load_state_dict(start.network.state_dict())
        classifier = Probed(network, self)
        look = accuracy_on(dev, classifier.read)
        with one_thread(self.device):
            train(_Fitting(classifier, inputs), training, objective, self.recipe, streams, look, progress)
        inputs.let_go()
        return classifier

    def load(self, folder: Path) -> Probed:
        network = read_head(folder)
        check_outputs(folder, network.out.out_features, self.classes)
        return Probed(network.to(self.device).eval(), self)

    def _embed(self, texts: Sequence[str], progress: Progress = silent) -> tuple[Vectors, Flags]:
        """The vectors of texts, and which texts were cut. On a CPU a vector depends on its own text alone."""
        tokens, cut = tokenize_and_mark(self._tokenizer, texts, self.limit)
        mode, pack = pooling_mode(self.folder), packs(self._encoder, tokens, self.recipe)
        encoder, layers = self._halved if pack else self._encoder, self._layers

        def forward(batch: NamedTensors) -> tuple[torch.Tensor]:
            middle = Middle(layers)
            if pack:
                with packed(encoder, batch, every=True, middle=middle) as inputs:
                    hidden, mask = encoder(**inputs)[0], batch["source"] >= 0
            else:
                with summed(encoder, middle):
                    hidden, mask = encoder(**batch)[0], batch["attention_mask"]
            own = pool(hidden, mask, mode)
            if middle.sum is None:
                return (own,)
            return (torch.cat([own * OWN**0.5, pool(middle.sum, mask, mode) * (1 - OWN) ** 0.5], 1),)

        alone = self.device.type == "cpu"
        (vectors,) = read_tokens(forward, tokens, self.device, progress, stage="embed", pack=pack, one_length=alone)
        return vectors.cpu().numpy(), cut


@contextmanager
def one_thread(device: torch.device) -> Iterator[None]:
    """Products this small lose more to threads meeting each other than they gain."""
    threads = torch.get_num_threads()
    if device.type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class _Fitting:
    """What the training loop does with a head on embeddings."""

    def __init__(self, classifier: Probed, inputs: Embeddings) -> None:
        self.classifier = classifier
        self.network = classifier.network
        self.inputs = inputs

    def own_steps(self, recipe: Training, objective: Objective, loss_of: Loss) -> WeightsAndStep | None:
        return steps_by_hand(self.network, recipe, objective)

    def inputs_of(self, rows: Rows) -> NamedTensors:
        return {"inputs": self.inputs.only(rows).vectors}

    def forward(self, batch: NamedTensors) -> tuple[torch.Tensor, torch.Tensor]:
        return self.network(**batch)  # type: ignore[no-any-return]

    def log_proba(self, rows: Rows) -> torch.Tensor:
        return self.classifier.read(self.inputs.only(rows)).log_proba

    def adversarial(self, batch: NamedTensors, epsilon: float) -> torch.Tensor:
        raise MissingSignal(NO_WORDS)


class Probed:
    """A fitted head and the learner whose embeddings it stands on."""

    def __init__(self, network: Head, learner: Probing) -> None:
        self.network = network
        self.learner = learner

    def read(self, inputs: Embeddings, progress: Progress = silent, head_input: bool = False) -> Readout:
        known = self.network.hidden.in_features
        if (width := inputs.vectors.shape[1]) == 2 * known:  # it was trained without the middle layers
            inputs = Embeddings(own_part(inputs.vectors, known))
        elif width != known:
            raise ModelError(
                f"the head of this probe reads {known:,} numbers a text, but its encoder gives {width:,}: use the "
                "encoder that it was trained with"
            )
        with torch.inference_mode():
            in_blocks = len(inputs) > MANY and inputs.vectors.device.type == "cpu"
            logits, hidden = self._in_blocks(inputs) if in_blocks else self.network(inputs.vectors)
        progress("read", len(inputs), len(inputs))
        return Readout(logits.log_softmax(1), hidden, hidden if head_input else None)

    def _in_blocks(self, inputs: Embeddings) -> tuple[torch.Tensor, torch.Tensor]:
        """The same, with few of the embeddings in memory at a time."""
        layers = self.network.out, self.network.hidden
        logits, hidden = (inputs.vectors.new_empty(len(inputs), layer.out_features) for layer in layers)
        for start in range(0, len(inputs), BLOCK):
            rows = slice(start, start + BLOCK)
            logits[rows], hidden[rows] = self.network(inputs.vectors[rows])
            inputs.let_go()
        return logits, hidden

    def sample(self, inputs: Embeddings, rows: Rows, samples: int, seed: int, progress: Progress = silent) -> Moments:
        given = inputs.only(rows).vectors
        with torch.inference_mode(), dropout_on(self.network, seed):
            found = moments_of(lambda: self.network(given)[0].log_softmax(1), samples)
        progress("sample", len(rows), len(rows))
        return Moments(*found)

    def perturbed(self, inputs: Embeddings, seed: int, epsilon: float, progress: Progress = silent) -> torch.Tensor:
        raise MissingSignal(NO_WORDS)

    def save(self, folder: Path, classes: Sequence[str], card: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        save_file({name: value.cpu() for name, value in self.network.state_dict().items()}, folder / FILE)
        facts = {"kind": "actune probe", "classes": list(classes), "encoder": encoder_digest(self.learner.folder)}
        (folder / "probe.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
        (folder / "README.md").write_text(card, encoding="utf-8")
