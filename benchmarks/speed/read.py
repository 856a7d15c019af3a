"""Texts a second when a classifier reads a pool: ours, a usual loop, the paper's style, and small-text if installed.

    python benchmarks/speed/read.py --data ag_news --data-dir DIR --model minilm --texts 2000

The same encoder, texts, token limit and threads for all; every line is the best of some repeats, ratios are within this
run. Peers are at their fair best: batches of 32 or 64 padded to their longest text, inference mode, float32.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from actune.data.tasks import load_task
from actune.models import precision
from actune.models.encoders import choose_device, load_classifier, load_tokenizer
from actune.models.finetuning import FineTuned, FineTuning
from actune.models.learners import recipe_for
from actune.models.sources import fetch, find_model


def usual_loop(network: Any, tokenizer: Any, texts: list[str], limit: int, batch: int, device: torch.device) -> Any:
    """Tokenize a batch, pad it to its longest text, run, collect."""
    found = []
    with torch.inference_mode():
        for first in range(0, len(texts), batch):
            given = tokenizer(
                texts[first : first + batch], truncation=True, max_length=limit, padding=True, return_tensors="pt"
            )
            logits = network(**{name: given[name].to(device) for name in ("input_ids", "attention_mask")}).logits
            found.append(logits.float().cpu())
    return torch.cat(found).log_softmax(1)


def paper_style(network: Any, tokenizer: Any, texts: list[str], limit: int, batch: int, device: torch.device) -> Any:
    """Everything padded to the limit, all hidden states kept, results appended batch by batch."""
    given = tokenizer(texts, truncation=True, max_length=limit, padding="max_length", return_tensors="pt")
    logits, features = None, None
    with torch.no_grad():
        for first in range(0, len(texts), batch):
            part = {name: given[name][first : first + batch].to(device) for name in ("input_ids", "attention_mask")}
            output = network(**part, output_hidden_states=True)
            one, other = output.logits.cpu().numpy(), output.hidden_states[-1][:, 0].cpu().numpy()
            logits = one if logits is None else np.append(logits, one, axis=0)
            features = other if features is None else np.append(features, other, axis=0)
    return torch.from_numpy(logits).log_softmax(1)


def small_text(
    folder: Path, texts: list[str], classes: int, limit: int, device: torch.device
) -> Callable[[], Any] | None:
    """The prediction path of small-text on the same weights, where it is installed."""
    try:
        from small_text import TransformerBasedClassificationFactory, TransformerModelArguments, TransformersDataset
    except ImportError:
        return None
    arguments = TransformerModelArguments(str(folder))
    factory = TransformerBasedClassificationFactory(
        arguments, classes, classification_kwargs={"device": str(device), "mini_batch_size": 64, "num_epochs": 1}
    )
    classifier = factory.new()
    tokenizer = load_tokenizer(folder)
    labels = np.arange(len(texts)) % classes
    data = TransformersDataset.from_arrays(texts, labels, tokenizer, target_labels=np.arange(classes), max_length=limit)
    classifier.fit(data[:16], validation_set=data[16:32])
    return lambda: classifier.predict_proba(data)


def best(work: Callable[[], Any], repeats: int, device: torch.device) -> tuple[float, Any]:
    seconds, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="trec")
    parser.add_argument("--data-dir")
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    task, device, folder = load_task(given.data, given.data_dir), choose_device(), fetch(find_model(given.model))
    texts, classes, limit = list(task.pool.texts[: given.texts]), len(task.pool.classes), task.settings.max_tokens
    network, tokenizer = load_classifier(folder, classes, device).eval(), load_tokenizer(folder)
    learner = FineTuning(folder, classes, limit, recipe_for("finetune", device.type), device)
    ours = FineTuned(network, tokenizer, device)

    def whole_read() -> Any:
        return ours.read(learner.prepare(texts)).log_proba.cpu()  # tokenizing counts for everybody

    def in_float32() -> Any:
        usual, precision.for_reading = precision.for_reading, lambda _: torch.autocast(device.type, enabled=False)
        try:
            return whole_read()
        finally:
            precision.for_reading = usual

    lines: dict[str, Callable[[], Any]] = {"ours, float32": in_float32, "ours, default": whole_read}
    for batch in (32, 64):
        lines[f"usual loop, batches of {batch}"] = lambda batch=batch: usual_loop(
            network, tokenizer, texts, limit, batch, device
        )
    lines["paper style"] = lambda: paper_style(network, tokenizer, texts, limit, 512, device)
    if peer := small_text(folder, texts, classes, limit, device):
        lines["small-text"] = peer
    reference: Any = None
    slowest: dict[str, float] = {}
    for name, work in lines.items():
        slowest[name], said = best(work, given.repeats, device)
        reference = said if reference is None else reference
        facts = {"what": name, "texts_per_s": round(len(texts) / slowest[name]), "seconds": round(slowest[name], 3)}
        if name != "small-text":  # its head is another one
            facts["largest_difference"] = round(float((said - reference).abs().max()), 5)
        print(json.dumps(facts), flush=True)
    fastest = min(seconds for name, seconds in slowest.items() if not name.startswith("ours") and name != "paper style")
    ratios = {name: round(fastest / slowest[name], 2) for name in ("ours, float32", "ours, default")}
    print(
        json.dumps({"faster than the fastest peer": ratios, "threads": torch.get_num_threads(), "device": str(device)})
    )


if __name__ == "__main__":
    main()
