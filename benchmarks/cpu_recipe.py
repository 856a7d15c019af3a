"""Measures how to fine-tune a small encoder on a CPU: learning rate, frozen word embeddings, epochs, steps.

    python benchmarks/cpu_recipe.py --seeds 2 --out benchmarks/results/cpu_recipe.csv

Labels alone: 100 random TREC labels, minilm, for each recipe. With pseudo-labels: the 1,000 surest rows of the best of
those models are trusted, and a fresh model is fitted on both with different numbers of steps.
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch

from actune.core.classifier import Labelled
from actune.core.objective import Objective
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.data.tasks import load_task
from actune.methods.uncertainty import entropy_of
from actune.models.finetuning import FineTuning
from actune.models.sources import fetch, find_model

BASE = Training(pseudo_batch=16, dev_at_epoch_end=False, freeze_embeddings=True)
ALONE = [
    replace(BASE, learning_rate=2e-5),
    replace(BASE, learning_rate=5e-5, freeze_embeddings=False),
    replace(BASE, learning_rate=5e-5),
    replace(BASE, learning_rate=1e-4),
    replace(BASE, learning_rate=2e-4),
    replace(BASE, learning_rate=2e-4, epochs=10),
]
TRUSTING = [replace(BASE, learning_rate=rate, steps=steps) for rate, steps in ((1e-4, 150), (2e-4, 75), (2e-4, 150))]
COLUMNS = ("learning_rate", "freeze_embeddings", "epochs", "steps")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/cpu_recipe.csv"))
    arguments = parser.parse_args()
    task = load_task("trec")
    known = np.asarray(task.pool.labels)
    folder = fetch(find_model("minilm"))
    maker = FineTuning(folder, 6, task.settings.max_tokens, BASE, torch.device("cpu"))
    inputs = maker.prepare(task.pool.texts)
    dev, test = (
        Labelled(maker.prepare(part.texts), np.asarray(part.labels))
        for part in (task.dev, task.test)
        if part is not None
    )
    table: list[dict[str, object]] = []

    def measure(recipe: Training, training: TrainingSet, seed: int) -> tuple[float, float, object]:
        learner = FineTuning(folder, 6, task.settings.max_tokens, recipe, torch.device("cpu"))
        start = time.perf_counter()
        classifier = learner.fit(inputs, training, Objective(), Streams(seed), dev)
        seconds = time.perf_counter() - start
        right = classifier.read(test.inputs).log_proba.argmax(1).numpy() == test.labels
        return float(right.mean()), seconds, classifier

    def note(kind: str, recipe: Training, scores: list[tuple[float, float]]) -> None:
        accuracy, seconds = np.mean(scores, axis=0).tolist()
        used = {name: asdict(recipe)[name] for name in COLUMNS}
        used["steps" if kind == "labels alone" else "epochs"] = ""
        table.append(
            {
                "training": kind,
                **used,
                "accuracy": round(accuracy, 4),
                "seconds": round(seconds, 1),
                "seeds": len(scores),
            }
        )
        print(table[-1], flush=True)

    sets, best = {}, {}
    for seed in range(arguments.seeds):
        rows = np.sort(np.random.default_rng(seed).choice(len(known), arguments.labels, replace=False))
        sets[seed] = TrainingSet(rows, known[rows], PseudoLabels.none())
    for recipe in ALONE:
        scores = []
        for seed, training in sets.items():
            accuracy, seconds, classifier = measure(recipe, training, seed)
            scores.append((accuracy, seconds))
            if accuracy > best.get(seed, (0.0, None))[0]:
                best[seed] = (accuracy, classifier)
        note("labels alone", recipe, scores)
    for seed, training in sets.items():
        log_proba = best[seed][1].read(inputs).log_proba  # type: ignore[union-attr]
        order = entropy_of(log_proba).argsort(stable=True).numpy()
        surest = order[~np.isin(order, training.rows)][:1000]
        targets = log_proba.argmax(1).numpy()[surest]
        sets[seed] = replace(training, trusted=PseudoLabels(surest, targets, np.ones(len(surest), np.float32)))
    for recipe in TRUSTING:
        note(
            "with 1,000 pseudo-labels", recipe, [measure(recipe, training, seed)[:2] for seed, training in sets.items()]
        )
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
