"""In which numbers and how a CPU reads fastest: float32, bfloat16, 8-bit integers, and each compiled by torch.

    PYTHONPATH=. python benchmarks/speed/formats.py --data ag_news --data-dir DIR --model minilm --texts 1000

All read the same texts with the product's own reader, sorted by length. Quantised layers are torch's own modules, which
take padded texts alone, so padded float32 stands beside them. Agreement is with float32: of embeddings, of the 100 most
uncertain texts, of classes. What torch compiles before the first text is read is left out of the rate.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn

from actune.core.classifier import Readout
from actune.core.objective import Objective
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.data.tasks import load_task
from actune.models.encoders import choose_device
from actune.models.fast import blocks, packing
from actune.models.finetuning import FineTuned, FineTuning
from actune.models.learners import recipe_for
from actune.models.tokens import Tokens
from benchmarks.speed.common import Results, arguments, encoder, seconds_of
from benchmarks.speed.read import agreement, in_float32

Contexts = tuple[Callable[[], Any], ...]


@cache
def compiled_layer() -> Any:
    return torch.compile(blocks.layer.__wrapped__, dynamic=True)  # type: ignore[attr-defined]


@contextmanager
def compiled() -> Iterator[None]:
    """Packed layers as a GPU runs them."""
    usual = packing.layer
    packing.layer = compiled_layer()
    try:
        yield
    finally:
        packing.layer = usual


@contextmanager
def padded() -> Iterator[None]:
    usual = FineTuned.packs
    FineTuned.packs = lambda *_: False  # type: ignore[method-assign]
    try:
        yield
    finally:
        FineTuned.packs = usual  # type: ignore[method-assign]


def quantised(classifier: FineTuned) -> FineTuned:
    """The encoder with weights of 8 bits, and inputs quantised as they come; the head stays as it is."""
    network: Any = copy.deepcopy(classifier.network)
    body = torch.ao.quantization.quantize_dynamic(network.base_model, {nn.Linear}, torch.qint8)
    setattr(network, network.base_model_prefix, body)
    return FineTuned(network, classifier.tokenizer, classifier.device, classifier.recipe)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--fit", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    task, device, folder = load_task(given.data, given.data_dir), choose_device("cpu"), encoder(given.model)
    results, classes = Results(given.out, device), len(task.pool.classes)
    learner = FineTuning(
        folder, classes, given.limit or task.settings.max_tokens, recipe_for("finetune", "cpu"), device
    )
    tokens, rows = learner.prepare(task.pool.texts[: given.texts]), np.arange(given.fit)
    training = TrainingSet(rows, np.asarray(task.pool.labels)[rows], PseudoLabels.none())
    ours = learner.fit(tokens, training, Objective(), Streams(0))
    few = tokens.only(np.arange(200))
    reference: Readout | None = None
    for name, classifier, contexts in (
        ("float32", ours, (in_float32,)),
        ("bfloat16 where native: the default", ours, ()),
        ("float32, compiled", ours, (in_float32, compiled)),
        ("bfloat16, compiled", ours, (compiled,)),
        ("padded, float32", ours, (padded,)),
        ("padded, dynamic int8", None, (padded,)),
    ):
        chosen = classifier or quantised(ours)

        def read(texts: Tokens = tokens, chosen: FineTuned = chosen, contexts: Contexts = contexts) -> Readout:
            with ExitStack() as stack:
                for each in contexts:
                    stack.enter_context(each())
                return chosen.read(texts)

        for _ in range(2):
            read(few)  # compiles
        seconds, said = seconds_of(read, given.repeats, device)
        reference = reference or said
        rate = round(len(tokens) / seconds, 1)
        results.add(what=name, data=given.data, model=given.model, texts_per_s=rate, **agreement(reference, said))


if __name__ == "__main__":
    main()
