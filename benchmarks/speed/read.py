"""Texts a second when a classifier reads a pool: ours, a usual loop, the paper's style, and small-text if installed.

    PYTHONPATH=. python benchmarks/speed/read.py --data ag_news --data-dir DIR --model minilm --texts 2000

The same encoder, tokens, limit and threads for all, tokenized beforehand; every line is the shortest of some repeats,
ratios are within this run. Peers are at their fair best: float32, batches padded to their longest text, inference mode.
On a GPU they read fewer of the texts. `--fit` labels train the classifier first, so that agreement means something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from actune.core.classifier import Readout
from actune.core.objective import Objective
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.data.tasks import load_task
from actune.models import precision
from actune.models.encoders import choose_device, load_tokenizer
from actune.models.finetuning import FineTuning
from actune.models.learners import recipe_for
from actune.models.tokens import Tokens
from benchmarks.speed.common import Results, arguments, ceiling, encoder, seconds_of


def usual_loop(network: Any, tokens: Tokens, batch: int, device: torch.device) -> torch.Tensor:
    """Batches in the order of the texts, padded to their longest, results collected on the host."""
    found = []
    with torch.inference_mode():
        for first in range(0, len(tokens), batch):
            rows = np.arange(first, min(first + batch, len(tokens)))
            found.append(network(**tokens.batch(rows, device)).logits.cpu())
    return torch.cat(found).log_softmax(1)


def paper_style(network: Any, tokens: Tokens, limit: int, device: torch.device) -> torch.Tensor:
    """Everything padded to the limit, batches of 512, all hidden states kept, results appended batch by batch."""
    logits, features = None, None
    with torch.no_grad():
        for first in range(0, len(tokens), 512):
            batch = tokens.batch(np.arange(first, min(first + 512, len(tokens))))
            missing = limit - batch["input_ids"].shape[1]
            ids = nn.functional.pad(batch["input_ids"], (0, missing), value=tokens.pad).to(device)
            mask = nn.functional.pad(batch["attention_mask"], (0, missing)).to(device)
            output = network(input_ids=ids, attention_mask=mask, output_hidden_states=True)
            one, other = output.logits.cpu().numpy(), output.hidden_states[-1][:, 0].cpu().numpy()
            logits = one if logits is None else np.append(logits, one, axis=0)
            features = other if features is None else np.append(features, other, axis=0)
    return torch.from_numpy(logits).log_softmax(1)


def small_text(folder: Path, texts: list[str], classes: int, limit: int, device: torch.device) -> Callable[[], Any]:
    """The prediction path of small-text on the same encoder."""
    from small_text import TransformerBasedClassificationFactory, TransformerModelArguments, TransformersDataset

    factory = TransformerBasedClassificationFactory(
        TransformerModelArguments(str(folder), predict_batch_size=32),
        classes,
        classification_kwargs={"device": str(device), "num_epochs": 1},
    )
    classifier, labels = factory.new(), np.arange(len(texts)) % classes
    data = TransformersDataset.from_arrays(
        texts, labels, load_tokenizer(folder), target_labels=np.arange(classes), max_length=limit
    )
    classifier.fit(data[:16], validation_set=data[16:32])
    return lambda: classifier.predict_proba(data)


@contextmanager
def in_float32() -> Iterator[None]:
    usual, precision.native = precision.native, lambda _: False
    try:
        yield
    finally:
        precision.native = usual


def agreement(one: Readout, other: Readout, top: int = 100) -> dict[str, float]:
    """Of embeddings, and of the most uncertain texts."""
    cosines = nn.functional.cosine_similarity(one.embedding, other.embedding, dim=1)
    best = [set(_entropy(readout).topk(top).indices.tolist()) for readout in (one, other)]
    return {
        "smallest_cosine": round(float(cosines.min()), 6),
        "mean_cosine": round(float(cosines.mean()), 6),
        "share_above_0.999": round(float((cosines > 0.999).float().mean()), 6),
        f"top_{top}_overlap": len(best[0] & best[1]) / top,
        "same_class": round(float((one.log_proba.argmax(1) == other.log_proba.argmax(1)).float().mean()), 5),
    }


def _entropy(readout: Readout) -> torch.Tensor:
    return -(readout.log_proba.exp() * readout.log_proba).sum(1)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--peer-texts", type=int, help="how many of them peers read")
    parser.add_argument("--fit", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    task, device, folder = load_task(given.data, given.data_dir), choose_device(given.device), encoder(given.model)
    results = Results(given.out, device)
    pool, classes, limit = task.pool, len(task.pool.classes), given.limit or task.settings.max_tokens
    texts = [pool.texts[row % len(pool)] for row in range(given.texts)]
    learner = FineTuning(folder, classes, limit, recipe_for("finetune", device.type), device)
    tokens = learner.prepare(texts)
    rows = np.arange(given.fit)
    training = TrainingSet(rows, np.asarray(pool.labels)[rows], PseudoLabels.none())
    ours = learner.fit(tokens, training, Objective(), Streams(0))
    fewer = tokens.only(np.arange(given.peer_texts or len(tokens)))
    network: Any = ours.network

    def single() -> Readout:
        with in_float32():
            return ours.read(tokens)

    rates: dict[str, float] = {}

    def measure(name: str, count: int, work: Callable[[], Any]) -> Any:
        seconds, said = seconds_of(work, given.repeats, device)
        rates[name] = count / seconds
        results.add(what=name, data=given.data, model=given.model, texts=count, texts_per_s=round(rates[name], 1))
        return said

    reference = measure("ours, float32", len(tokens), single)
    default = measure("ours, default", len(tokens), lambda: ours.read(tokens))
    for batch in (32, 64) if device.type == "cpu" else (64, 256, 512):
        measure(
            f"usual loop, batches of {batch}", len(fewer), lambda batch=batch: usual_loop(network, fewer, batch, device)
        )
    measure("paper style", len(fewer), lambda: paper_style(network, fewer, limit, device))
    try:
        peer = small_text(folder, texts[: len(fewer)], classes, limit, device)
    except ImportError:
        print("small-text is not installed")
    else:
        measure("small-text", len(fewer), peer)
    fastest = max(rate for name, rate in rates.items() if not name.startswith(("ours", "paper")))
    summary: dict[str, Any] = {
        f"{name} over {peer}": round(rates[name] / rate, 2)
        for name in ("ours, float32", "ours, default")
        for peer, rate in (("the fastest peer", fastest), ("paper style", rates["paper style"]))
    }
    if device.type == "cuda":
        layers = sum(p.numel() for n, p in network.named_parameters() if ".layer." in n and p.ndim > 1)
        summary["ceiling_tflops"] = round(ceiling(device))
        needed = 2 * layers * tokens.lengths.mean() / 1e12  # of the layers' products for a text
        summary["share_of_ceiling"] = round(rates["ours, default"] * needed / summary["ceiling_tflops"], 3)
    results.add(
        what="summary",
        data=given.data,
        model=given.model,
        mean_tokens=round(float(tokens.lengths.mean()), 1),
        **summary,
        **agreement(reference, default),
    )


if __name__ == "__main__":
    main()
