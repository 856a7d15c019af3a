"""The answers of a project without a dev set, as other scripts use them: which texts were asked about, in order."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from actune.core.task import Task
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.models.learners import make_learner, recipe_for
from actune.models.sources import fetch, find_model
from benchmarks.auto.search import task_of

TASKS = (
    *("trec", "sst2", "ag_news", "pubmed_sections", "dbpedia14", "chemprot"),
    *("banking77", "csabstruct", "scicite"),
)
POOL = 10  # the seed of pools and of the rows that judge, so that texts are embedded once
INITIAL, BATCH, ROUNDS = 50, 50, 10


@dataclass(frozen=True)
class Ground:
    """A task as a probe reads it, and the rows that judge."""

    task: Task
    learner: Any
    inputs: Any
    judge: Any
    known: np.ndarray
    right: np.ndarray


def ground(name: str, data_dir: str | None = None, model: str = "minilm") -> Ground:
    """At most 10,000 texts of a data set without its dev set; train rows that are not among them judge."""
    task = replace(task_of(name, POOL, data_dir), dev=None)
    recipe = recipe_for("probe", "cpu")
    recipe = replace(recipe, pseudo_batch=task.training.get("pseudo_batch", recipe.pseudo_batch))
    learner = make_learner(
        "probe", fetch(find_model(model)), len(task.pool.classes), task.settings.max_tokens, recipe, torch.device("cpu")
    )
    assert task.test is not None
    inputs, judge = learner.prepare(task.pool.texts), learner.prepare(task.test.texts)
    known, right = (np.asarray(part.labels, np.int64) for part in (task.pool, task.test))
    return Ground(task, learner, inputs, judge, known, right)


def asked_by(method: str, name: str, seed: int, folder: Path, data_dir: str | None = None) -> list[list[int]]:
    """The rows that each round of a run without a dev set has learnt, in the order of the questions; kept in a file."""
    file = folder / f"{method}-{name}-{seed}.json"
    if file.is_file():
        return json.loads(file.read_text())  # type: ignore[no-any-return]
    from actune.annotators.oracle import Oracle
    from actune.session.runner import run
    from actune.session.setup import create

    task = task_of(name, POOL, data_dir)
    initial = max(INITIAL, len(task.pool.classes))
    words: dict[str, Any] = {"initial": initial, "batch": BATCH, "rounds": ROUNDS, "seed": seed, "simulated": True}
    with tempfile.TemporaryDirectory() as scratch:
        session = create(
            Path(scratch) / "run", task, method=method, learner="probe", device="cpu", no_dev=True, **words
        )
        session.models = "none"
        run(session, Oracle(session.pool))
        rounds: dict[int, list[int]] = {}
        for question in session.store.questions():
            rounds.setdefault(question.round, []).append(question.row)
        session.close()
    found = [rounds[round] for round in sorted(rounds)]
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found))
    return found


def training_of(here: Ground, rows: list[int]) -> TrainingSet:
    sorted_rows = np.sort(np.asarray(rows, np.int64))
    return TrainingSet(sorted_rows, here.known[sorted_rows], PseudoLabels.none())
