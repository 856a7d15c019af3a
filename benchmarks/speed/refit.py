"""Seconds of one fit after another in a process, where each records its steps anew and where they are kept.

    PYTHONPATH=. python benchmarks/speed/refit.py --data trec --model mpnet --labels 300   # on a GPU

The fits have random labels and seeds of their own. The first one compiles, whichever way; its time is told apart. Both
ways are timed in turn in this one run, with the same seeds, and the last column says how far apart what the two models
say about the first texts lies (a GPU adds numbers in an order of its own, so it is not zero).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from actune.core.objective import NO_GATE, PLAIN, Objective
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.data.tasks import load_task
from actune.models.encoders import choose_device
from actune.models.fast import kept
from actune.models.finetuning import FineTuning
from actune.models.learners import recipe_for
from benchmarks.speed.common import Results, arguments, encoder, wait

READ = 500  # texts that the models are compared on


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--pseudo", type=int, default=0, help="pseudo-labels beside them")
    parser.add_argument("--recipe", default="contrastive")
    parser.add_argument("--fits", type=int, default=3)
    given = parser.parse_args()
    device = choose_device(given.device)
    results = Results(given.out, device)
    task = load_task(given.data, given.data_dir)
    recipe = recipe_for("finetune", device.type, given.recipe)
    learner = FineTuning(encoder(given.model), len(task.pool.classes), 128, recipe, device)
    tokens = learner.prepare(task.pool.texts)

    def fit(seed: int) -> tuple[float, torch.Tensor]:
        rows = np.random.default_rng(seed).permutation(len(task.pool))[: given.labels + given.pseudo]
        known = np.asarray(task.pool.labels, np.int64)[rows]
        trusted = PseudoLabels(rows[given.labels :], known[given.labels :], np.ones(given.pseudo, np.float32))
        training = TrainingSet(rows[: given.labels], known[: given.labels], trusted)
        objective = Objective(0.5, NO_GATE, most_steps=500) if given.pseudo else PLAIN
        wait(device)
        start = time.perf_counter()
        model = learner.fit(tokens, training, objective, Streams(seed))
        wait(device)
        seconds = time.perf_counter() - start
        return seconds, model.read(tokens.only(np.arange(min(READ, len(task.pool))))).log_proba.exp()

    first, _ = fit(100)
    fit(101)
    seconds: dict[str, list[float]] = {"anew": [], "kept": []}
    apart: list[float] = []
    for seed in range(given.fits):
        said: dict[str, Any] = {}
        for way in seconds:
            if way == "anew":
                place, _ = dict(kept._kept), kept.forget()
            else:
                kept._kept.update(place)
            took, said[way] = fit(seed)
            seconds[way].append(took)
        apart.append(float((said["anew"] - said["kept"]).abs().mean()))
    medians = {way: float(np.median(values)) for way, values in seconds.items()}
    results.add(
        what="refit",
        data=given.data,
        model=given.model,
        recipe=given.recipe,
        labels=given.labels,
        pseudo=given.pseudo,
        first_s=round(first, 2),
        anew_s=round(medians["anew"], 2),
        kept_s=round(medians["kept"], 2),
        ratio=round(medians["anew"] / medians["kept"], 2),
        apart=[round(each, 4) for each in apart],
    )


if __name__ == "__main__":
    main()
