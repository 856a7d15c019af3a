"""Milliseconds of one prediction at a time, by `actune.load(folder).predict([text])` and by `session.predict([text])`.

    PYTHONPATH=. python benchmarks/speed/predict.py --out benchmarks/results/predict_cpu.jsonl

A probe on 300 questions of TREC is trained and saved. Then each text is a new short question; the first call loads what
is needed and stands apart. `median_cpu_ms` is the work alone, without waiting for other processes. Files that
predictions leave in the cache or beside the model are counted, and how far probabilities are from those of the same
texts read together. `--many` texts are read in one call at the end.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

import actune
from actune.core.task import Task
from actune.rounds.predicting import Prediction
from benchmarks.speed.common import Results, arguments

POOL = 300


def made(task: Task, folder: Path, model: str) -> actune.Session:
    """A project whose texts are all labelled, after one round."""
    pool = task.pool.only(range(POOL))
    session = actune.create(folder / "run", pool, learner="probe", model=model, device="cpu", batch=10)
    session.advance()
    return session


def measure(predict: Callable[[list[str]], list[Prediction]], texts: list[str], folder: Path) -> dict[str, object]:
    before = set(folder.rglob("*"))
    waited, worked, found = [], [], []
    for text in texts:
        start, work = time.perf_counter(), time.process_time()
        found += predict([text])
        waited.append(1000 * (time.perf_counter() - start))
        worked.append(1000 * (time.process_time() - work))
    together = predict(texts)
    apart = max(abs(one.confidence - other.confidence) for one, other in zip(found, together, strict=True))
    return {
        "first_ms": round(waited[0], 1),
        "median_ms": round(statistics.median(waited[1:]), 2),
        "p95_ms": round(float(np.percentile(waited[1:], 95)), 2),
        "median_cpu_ms": round(statistics.median(worked[1:]), 2),
        "calls": len(texts) - 1,
        "files_left": len(set(folder.rglob("*")) - before),
        "same_labels": [one.label for one in found] == [other.label for other in together],
        "largest_difference": float(f"{apart:.1e}"),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--many", type=int, default=0, help="texts of a last, large prediction")
    given = parser.parse_args()
    results = Results(given.out, torch.device("cpu"))
    task = actune.load_task(given.data)
    assert task.test is not None
    test = task.test.texts
    texts = [f"{test[number % len(test)]} {number}" for number in range(given.calls + 1)]
    with tempfile.TemporaryDirectory(prefix="actune-predict-") as scratch:
        folder = Path(scratch)
        os.environ["ACTUNE_CACHE"] = str(folder / "cache")
        session = made(task, folder, given.model)
        saved = session.save(folder / "saved")
        start = time.perf_counter()
        model = actune.load(saved, device="cpu")
        results.add(what="load", model=given.model, seconds=round(time.perf_counter() - start, 2))
        results.add(what="actune.load", model=given.model, **measure(model.predict, texts, folder))
        results.add(what="session", model=given.model, **measure(session.predict, texts, folder))
        if given.many:
            many = [f"{task.pool.texts[number % len(task.pool)]} {number}" for number in range(given.many)]
            start = time.perf_counter()
            model.predict(many)
            results.add(what="many", texts=given.many, seconds=round(time.perf_counter() - start, 1))


if __name__ == "__main__":
    main()
