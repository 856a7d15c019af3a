"""What students bring beside their teacher with a fine-tuned encoder: random labels, no dev set.

    PYTHONPATH=. python benchmarks/few/students.py run --model mpnet --device cuda --labels 100,250 --data-dir DIR
    PYTHONPATH=. python benchmarks/few/students.py show

A teacher is fitted on the labels alone; a student learns its pseudo-labels too, as in `thrifty`, and teaches the next
one. Pools, labels, and the rows that judge are those of `learner.py`. What is finished is kept in a file, a line for
every model, and never run again.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from actune.core.labels import Labels
from actune.core.objective import NO_GATE, PLAIN, Objective
from actune.core.settings import Settings
from actune.core.streams import Streams
from actune.core.task import Task
from actune.core.training_set import PseudoLabels
from actune.data.tasks import card
from actune.methods.method import Method
from actune.methods.recipes import build
from actune.models.encoders import choose_device
from actune.models.learners import CONTRASTIVE_RECIPE, recipe_for
from actune.models.sources import fetch, find_model
from actune.rounds.fitting import Fitted, student
from actune.rounds.prepared import PreparedTask
from benchmarks.few.learner import TASKS, accuracy_of, drawn, stored, task_of, write_all

RESULTS = Path("benchmarks/results/few_students.jsonl")
GENERATIONS = 2
# weight of the pseudo-labels and most steps of a student
VARIANTS = {
    "weight-0.5-steps-500": (0.5, 500),
    "weight-0.5-steps-250": (0.5, 250),
    "weight-1-steps-500": (1.0, 500),
    "weight-0.25-steps-500": (0.25, 500),
}
TEACHER = "teacher"


def method_of(variant: str) -> Method:
    weight, steps = VARIANTS[variant]
    return replace(build("thrifty", Settings()), objective=Objective(weight, NO_GATE, most_steps=steps))


def models(given: argparse.Namespace, done: set[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """One line for the teacher and for each student of each variant."""
    device = choose_device(given.device)
    folder, model = fetch(find_model(given.model)), Path(given.model).name
    recipe = recipe_for("finetune", device.type, CONTRASTIVE_RECIPE)
    variants = given.variants.split(",")
    for name in given.tasks.split(","):
        task, others = task_of(name, given.data_dir)
        limit = min(card(name).settings.max_tokens, given.max_tokens)
        prepared = PreparedTask(task.without_dev(), "finetune", lambda: folder, recipe, device, limit)
        parts = {"accuracy": others, "test": task.test}
        tokens = {part: prepared.learner.prepare(pool.texts) for part, pool in parts.items() if pool}
        for seed in map(int, given.seeds.split(",")):
            for labels in map(int, given.labels.split(",")):
                place = {"model": model, "task": name, "seed": seed, "labels": labels}
                if all((*place.values(), variant) in done for variant in variants):
                    continue
                training, streams = drawn(task, labels, seed), Streams(seed, 1)
                known = Labels(dict(zip(training.rows.tolist(), training.labels.tolist(), strict=True)), frozenset(), 0)
                start = time.perf_counter()
                taught = prepared.learner.fit(prepared.pool, training, PLAIN, streams)
                teacher = Fitted(taught, training, PseudoLabels.none())

                judge = partial(measured, task, tokens, parts)
                yield {**place, "variant": TEACHER, "generation": 0, **judge(teacher, start), "device": device.type}
                for variant in variants:
                    newest = teacher
                    for generation in range(1, GENERATIONS + 1):
                        start = time.perf_counter()
                        later = replace(streams, generation=generation)
                        newest = student(prepared, method_of(variant), newest, known, later, horizon=10)
                        at = {**place, "variant": variant, "generation": generation}
                        yield {**at, **judge(newest, start), "device": device.type}


def measured(task: Task, tokens: dict[str, Any], parts: dict[str, Any], fitted: Fitted, start: float) -> dict[str, Any]:
    """How often a model is right, how many of the pseudo-labels that it learnt from are, and what it took."""
    seconds, trusted = time.perf_counter() - start, fitted.pseudo_labels
    right = float((np.asarray(task.pool.labels)[trusted.rows] == trusted.targets).mean()) if len(trusted) else None
    found = {part: accuracy_of(fitted.classifier, tokens[part], parts[part]) for part in tokens}
    return {**found, "right": right, "seconds": round(seconds, 2)}


def run(given: argparse.Namespace) -> None:
    places = ("model", "task", "seed", "labels", "variant")
    done = {tuple(line[place] for place in places) for line in stored(given.out) if line["generation"] == GENERATIONS}
    write_all(models(given, done), given.out, given.seconds)


def show(given: argparse.Namespace) -> str:
    """Points of accuracy by variant and generation, over the seeds that all of a task's variants have."""
    column = "test" if given.judge == "test" else "accuracy"
    found: dict[tuple[str, int, int], dict[tuple[str, int], float]] = defaultdict(dict)
    for line in stored(given.out):
        found[line["task"], line["labels"], line["seed"]][line["variant"], line["generation"]] = line[column]
    ways = sorted({way for each in found.values() for way in each}, key=lambda way: (way[1] > 0, way))
    shared = {place: each for place, each in found.items() if all(way in each for way in ways)}
    tasks = [task for task in TASKS if any(place[0] == task for place in shared)]
    lines = [f"| labels | model | {' | '.join(tasks)} | mean | runs |", "|---|---|" + "---|" * (len(tasks) + 2)]
    for labels in sorted({place[1] for place in shared}):
        for way in ways:
            values = {
                task: [each[way] for (t, n, _), each in shared.items() if (t, n) == (task, labels)] for task in tasks
            }
            means = [f"{100 * fmean(each):.1f}" if each else "" for each in values.values()]
            mean = 100 * fmean(fmean(each) for each in values.values() if each)
            said = way[0] if not way[1] else f"{way[0]}, student {way[1]}"
            lines.append(f"| {labels} | {said} | {' | '.join(means)} | {mean:.1f} | {sum(map(len, values.values()))} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "show"])
    parser.add_argument("--variants", default="weight-0.5-steps-500")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--labels", default="100,250")
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--judge", choices=["train", "test"], default="train", help="what to show")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no model after this time")
    parser.add_argument("--data-dir")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.verb == "run":
        run(given)
    print(show(given))


if __name__ == "__main__":
    main()
