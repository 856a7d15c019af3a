"""What training the upper layers alone costs in accuracy and saves in time, on a CPU or a GPU.

    python benchmarks/speed/layers.py --data trec --model minilm --labels 200 --seeds 2

Every line fits on the same random labels and reads the same pool; the first line trains all layers.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace

import numpy as np

from actune.core.classifier import Labelled
from actune.core.objective import PLAIN
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.data.tasks import load_task
from actune.models.encoders import choose_device
from actune.models.learners import make_learner, recipe_for
from actune.models.sources import fetch, find_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="trec")
    parser.add_argument("--data-dir")
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--pool", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--layers", default="0,1,2,3")
    parser.add_argument("--rates", default="1e-4")
    given = parser.parse_args()
    task, device = load_task(given.data, given.data_dir), choose_device()
    assert task.dev is not None and task.test is not None
    known, texts = np.asarray(task.pool.labels), task.pool.texts[: given.pool]
    for count in map(int, given.layers.split(",")):
        for rate in map(float, given.rates.split(",")):
            recipe = replace(recipe_for("finetune", device.type), train_layers=count, learning_rate=rate)
            classes, limit = len(task.pool.classes), task.settings.max_tokens
            learner = make_learner("finetune", fetch(find_model(given.model)), classes, limit, recipe, device)
            start = time.perf_counter()
            inputs = learner.prepare(texts)
            prepared = time.perf_counter() - start
            dev, test = (Labelled(learner.prepare(p.texts), np.asarray(p.labels)) for p in (task.dev, task.test))
            accuracy, fitting, reading = [], [], []
            for seed in range(given.seeds):
                rows = np.sort(Streams(seed).rng("initial").choice(len(texts), given.labels, replace=False))
                start = time.perf_counter()
                classifier = learner.fit(
                    inputs, TrainingSet(rows, known[rows], PseudoLabels.none()), PLAIN, Streams(seed), dev
                )
                fitting.append(time.perf_counter() - start)
                start = time.perf_counter()
                classifier.read(inputs)
                reading.append(time.perf_counter() - start)
                said = classifier.read(test.inputs).log_proba.argmax(1).cpu().numpy()
                accuracy.append(float((said == test.labels).mean()))
            facts = {
                "layers": count or "all",
                "rate": rate,
                "accuracy": round(float(np.mean(accuracy)), 4),
                "deviation": round(float(np.std(accuracy)), 4),
                "fit_s": round(float(np.median(fitting)), 2),
                "read_s": round(float(np.median(reading)), 2),
                "prepare_s": round(prepared, 2),
            }
            print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
