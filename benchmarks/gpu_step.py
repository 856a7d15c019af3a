"""Compares steps recorded as CUDA graphs with steps as Python runs them: same weights, and how much faster.

    python benchmarks/gpu_step.py --model mpnet

Both fit the encoder on the same TREC rows; dropout is off, so that the weights can be compared.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch

from actune.core.objective import Objective
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.data.tasks import load_task
from actune.models import steps, training
from actune.models.finetuning import FineTuning
from actune.models.sources import fetch, find_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mpnet")
    parser.add_argument("--steps", type=int, default=120)
    arguments = parser.parse_args()
    task = load_task("trec")
    known = np.asarray(task.pool.labels)
    rows, trusted = np.arange(100), np.arange(100, 1100)
    data = TrainingSet(rows, known[rows], PseudoLabels(trusted, known[trusted], np.ones(1000, np.float32)))
    recipe = Training(pseudo_batch=16, steps=arguments.steps)
    learner = FineTuning(fetch(find_model(arguments.model)), 6, 64, recipe, torch.device("cuda"))
    tokens = learner.prepare(task.pool.texts)
    found = {}
    for name, kind in (("eager", steps.Step), ("recorded", steps.GraphedStep)):
        for dropout in (0.0, 0.1):
            marks: list[float] = []

            def make(
                network: torch.nn.Module, *rest: object, kind: type = kind, dropout: float = dropout
            ) -> steps.Step:
                for module in network.modules():
                    if isinstance(module, torch.nn.Dropout):
                        module.p = dropout
                return kind(network, *rest)  # type: ignore[no-any-return]

            training.make_step = make  # type: ignore[assignment]

            def mark(*_: object, marks: list[float] = marks) -> None:
                torch.cuda.synchronize()
                marks.append(time.perf_counter())

            classifier = learner.fit(tokens, data, Objective(), Streams(0), progress=mark)
            late = np.diff(marks)[len(marks) // 2 :]
            found[name, dropout] = float(np.median(late)), classifier.read(tokens.only(rows)).log_proba
    for dropout in (0.0, 0.1):
        (eager, expected), (recorded, given) = found["eager", dropout], found["recorded", dropout]
        facts = {
            "dropout": dropout,
            "eager_ms": round(1000 * eager, 2),
            "recorded_ms": round(1000 * recorded, 2),
            "ratio": round(eager / recorded, 2),
            "largest_difference": round(float((expected - given).abs().max()), 4),
        }
        print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
