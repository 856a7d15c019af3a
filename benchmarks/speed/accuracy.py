"""What precision and frozen embeddings cost in accuracy: the same labels and seeds, fine-tuned in each way.

    PYTHONPATH=. python benchmarks/speed/accuracy.py --data trec --model mpnet --labels 300 --seeds 5

Each line is the accuracy on test of one way for every seed; a seed draws the labels, the head and the order.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from actune.core.classifier import Labelled
from actune.core.objective import Objective
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.data.tasks import load_task
from actune.models.encoders import choose_device
from actune.models.finetuning import FineTuning
from actune.models.learners import recipe_for
from benchmarks.speed.common import Results, arguments, encoder
from benchmarks.speed.read import in_float32

WAYS = {
    "float32, everything trained": (True, False),
    "default precision, everything trained": (False, False),
    "default precision, embeddings frozen": (False, True),
}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--ways", type=int, default=0, help="leaves out this many of the ways, slowest first")
    given = parser.parse_args()
    task, device, folder = load_task(given.data, given.data_dir), choose_device(given.device), encoder(given.model)
    if task.test is None:
        raise SystemExit(f"{given.data} has no test set")
    results, known = Results(given.out, device), np.asarray(task.pool.labels)
    before: Any = None
    for name, (single, frozen) in list(WAYS.items())[given.ways :]:
        recipe = replace(recipe_for("finetune", device.type), freeze_embeddings=frozen)
        learner = FineTuning(folder, len(task.pool.classes), given.limit or task.settings.max_tokens, recipe, device)
        pool, test = learner.prepare(task.pool.texts), learner.prepare(task.test.texts)
        dev = task.dev and Labelled(learner.prepare(task.dev.texts[:1000]), np.asarray(task.dev.labels)[:1000])
        found, start = [], time.perf_counter()
        for seed in range(given.seeds):
            streams = Streams(seed)
            rows = np.sort(streams.rng("initial").choice(len(known), given.labels, replace=False))
            training = TrainingSet(rows, known[rows], PseudoLabels.none())
            with in_float32() if single else nullcontext():
                classifier = learner.fit(pool, training, Objective(), streams, dev)
                said = classifier.read(test).log_proba.argmax(1).cpu().numpy()
            found.append(float((said == np.asarray(task.test.labels)).mean()))
        facts: dict[str, Any] = {
            "accuracy": [round(each, 4) for each in found],
            "mean": round(float(np.mean(found)), 4),
            "deviation": round(float(np.std(found, ddof=1)), 4) if len(found) > 1 else None,
            "seconds": round(time.perf_counter() - start, 1),
        }
        if before is not None and len(found) > 1:
            difference = np.subtract(found, before)
            facts["minus_the_way_before"] = round(float(difference.mean()), 4)
            facts["its_standard_error"] = round(float(difference.std(ddof=1) / np.sqrt(len(found))), 4)
        results.add(what=name, data=given.data, model=given.model, labels=given.labels, **facts)
        before = found


if __name__ == "__main__":
    main()
