"""How far a fine-tuned model's ranking of a pool agrees with float32, by how much of the network is float32.

    PYTHONPATH=. python benchmarks/precision.py --data sst2,trec,ag_news --model minilm,mpnet --labels 100,500

One model is fitted for each data set, encoder and number of labels. It reads up to `--texts` texts of the pool in four
ways: all in float32, which is the reference; the encoder in bfloat16 under a head in float32, which is what actune
does; with the last linear layer alone in float32; and all in bfloat16. A line says which share of the surest and of
the least sure texts, by entropy, the reference has too, how many different entropies there are, and how many texts at
the edge of the surest have the very same entropy as the last of them, so that the row number decides.

    PYTHONPATH=. python benchmarks/precision.py --show benchmarks/results/precision_gpu.jsonl

prints the worst and the mean share over all models in such a file, and the most ties.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from actune.core.classifier import Readout
from actune.core.objective import Objective
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.data.tasks import load_task
from actune.models import finetuning, precision
from actune.models.encoders import choose_device
from actune.models.finetuning import FineTuning
from actune.models.learners import recipe_for
from benchmarks.speed.common import Results, arguments, encoder
from benchmarks.speed.read import in_float32

COUNTS = (100, 1000)
EDGES = (100, 500, 1000)


@contextmanager
def heads(names: Callable[[Any], list[str]]) -> Iterator[None]:
    """Another choice of what computes in float32."""
    usual, precision.head_names = precision.head_names, names
    try:
        yield
    finally:
        precision.head_names = usual


def last_layer(network: Any) -> list[str]:
    last = finetuning.last_linear(network)
    return [name for name, module in network.named_modules() if module is last]


def entropy_of(readout: Readout) -> torch.Tensor:
    return -(readout.log_proba.double().exp() * readout.log_proba.double()).sum(1).float()


def agreement(reference: torch.Tensor, entropy: torch.Tensor) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for name, largest in (("surest", False), ("least_sure", True)):
        for count in COUNTS:
            both = [set(each.topk(count, largest=largest).indices.tolist()) for each in (reference, entropy)]
            facts[f"{name}_{count}"] = round(len(both[0] & both[1]) / count, 3)
    facts["different"] = len(entropy.unique())
    ordered = entropy.sort().values
    facts["tied_at_edge"] = {
        edge: int((entropy == ordered[edge - 1]).sum()) - 1 if ordered[edge] == ordered[edge - 1] else 0
        for edge in EDGES
        if edge < len(ordered)
    }
    return facts


def table_of(file: Path) -> list[str]:
    """The worst and the mean share over all models, and the most ties, for each part that computed in float32."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        if "tied_at_edge" in line:
            found.setdefault(line["float32"], []).append(line)
    shares = [f"{name}_{count}" for name in ("surest", "least_sure") for count in COUNTS]
    head = ["in float32", *(name.replace("_", " ") for name in shares), "most ties at an edge", "models"]
    rows = [head, ["---"] * len(head)]
    for part, lines in found.items():
        values = [[line[name] for line in lines] for name in shares]
        ties = max(max(line["tied_at_edge"].values()) for line in lines)
        cells = [f"{min(each):.3f}, {fmean(each):.3f}" for each in values]
        rows.append([part, *cells, f"{ties:,}", str(len(lines))])
    return [f"| {' | '.join(row)} |" for row in rows]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--show", type=Path, metavar="FILE", help="print the table of a file of results")
    parser.add_argument("--labels", default="100,500")
    parser.add_argument("--texts", type=int, default=20_000)
    given = parser.parse_args()
    if given.show:
        print("\n".join(table_of(given.show)))
        return
    device = choose_device(given.device)
    results = Results(given.out, device)
    for model in given.model.split(","):
        folder = encoder(model)
        for data in given.data.split(","):
            task = load_task(data, given.data_dir)
            pool, classes = task.pool, len(task.pool.classes)
            learner = FineTuning(
                folder,
                classes,
                given.limit or task.settings.max_tokens,
                recipe_for("finetune", device.type),
                device,
            )
            tokens = learner.prepare(pool.texts[: given.texts])
            for labels in map(int, given.labels.split(",")):
                rows = np.sort(Streams(0).rng("initial").choice(len(tokens), labels, replace=False))
                training = TrainingSet(rows, np.asarray(pool.labels)[rows], PseudoLabels.none())
                fitted = learner.fit(tokens, training, Objective(), Streams(0))
                with in_float32():
                    reference = entropy_of(fitted.read(tokens))
                about = {"data": data, "model": model, "labels": labels, "texts": len(tokens)}
                results.add(**about, float32="everything", different=len(reference.unique()))
                for name, choice in (
                    ("the head", precision.head_names),
                    ("the last layer", last_layer),
                    ("nothing", lambda network: []),
                ):
                    with heads(choice):
                        entropy = entropy_of(fitted.read(tokens))
                    results.add(**about, float32=name, **agreement(reference, entropy))


if __name__ == "__main__":
    main()
