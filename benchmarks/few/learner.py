"""How a classifier learns best from few labels: recipes of fine-tuning on random labels, without a dev set.

    PYTHONPATH=. python benchmarks/few/learner.py run --variants paper,joint --labels 100,300 --seeds 0,1 --data-dir DIR
    PYTHONPATH=. python benchmarks/few/learner.py show

With `--learner probe` the variants are those of a probe: on the encoder's own embeddings, or with its middle layers.

At most 10,000 texts of a data set are the pool; labels are drawn at random, the same for all variants. A choice among
variants is made by the accuracy on train rows outside the pool; the accuracy on the test set, which `show --judge test`
shows, is for a final report. What is finished is kept in a file, a line for every fit, and never run again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from actune.core.objective import PLAIN
from actune.core.pool import Pool
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.task import Task
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.data.splits import draw, part_of
from actune.data.tasks import card, load_task
from actune.models.encoders import choose_device
from actune.models.learners import CPU, GPU, PROBE, find_learner
from actune.models.sources import fetch, find_model

TASKS = (
    *("trec", "sst2", "ag_news", "pubmed_sections", "dbpedia14", "chemprot"),
    *("banking77", "csabstruct", "scicite"),
)
RESULTS = Path("benchmarks/results/few_learner.jsonl")
POOL = 10  # the seed of pools and of the rows that judge
JOINT: dict[str, Any] = {
    "pooled_head": True,
    "label_contrast": 1.0,
    "balanced_batches": True,
    "labelled_batch": 24,
    "epochs": 45,
}
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "joint": JOINT,
    "pooled": {"pooled_head": True},
    "unit": {"pooled_head": True, "head_scale": 1.0},
    "plain-balanced": {"balanced_batches": True, "labelled_batch": 24, "epochs": 45},
    "joint-no-contrast": JOINT | {"label_contrast": 0.0},
}
for _scale in (3, 5, 20):
    VARIANTS[f"joint-scale-{_scale}"] = JOINT | {"head_scale": float(_scale)}
for _temperature in (0.05, 0.2, 0.3):
    VARIANTS[f"joint-temperature-{_temperature}"] = JOINT | {"temperature": _temperature}
for _weight in (0.3, 3.0):
    VARIANTS[f"joint-weight-{_weight}"] = JOINT | {"label_contrast": _weight}
for _epochs in (15, 30, 90):
    VARIANTS[f"joint-epochs-{_epochs}"] = JOINT | {"epochs": _epochs}
for _rate in (1e-5, 3e-5, 5e-5, 2e-4):
    VARIANTS[f"joint-rate-{_rate:g}"] = JOINT | {"learning_rate": _rate}
VARIANTS["rate-3e-05-epochs-30"] = JOINT | {"learning_rate": 3e-5, "epochs": 30}
VARIANTS["rate-5e-05-temperature-0.2"] = JOINT | {"learning_rate": 5e-5, "temperature": 0.2}
for _size in (12, 48):
    VARIANTS[f"joint-rows-{_size}"] = JOINT | {"labelled_batch": _size, "epochs": 45 * _size // 24}
VARIANTS["contrastive"] = JOINT | {"learning_rate": 3e-5}  # the recipe that ships
PROBES: dict[str, dict[str, Any]] = {"own-embedding": {"middle_layers": False}, "middle-layers": {}}
# models of several fits averaged weight by weight: all of them begin at the same place
MEANS = {"joint-mean-3": (3, "joint"), "joint-mean-3-epochs-15": (3, "joint-epochs-15")}


def task_of(name: str, data_dir: str | None) -> tuple[Task, Pool]:
    """At most 10,000 texts of a data set with its test set, and train rows that are not among them."""
    whole = load_task(name, data_dir, POOL)
    task = load_task(name, data_dir, POOL, min(10_000, int(0.8 * len(whole.pool))))
    left = sorted(set(range(len(whole.pool))) - {whole.pool.row_of[id] for id in task.pool.ids})
    return task, part_of(whole.pool, draw(left, min(1000, len(left)), POOL, "search"))


def drawn(task: Task, labels: int, seed: int) -> TrainingSet:
    rows = np.sort(Streams(seed).rng("labels").permutation(len(task.pool))[:labels])
    return TrainingSet(rows, np.asarray(task.pool.labels, np.int64)[rows], PseudoLabels.none())


def fits(given: argparse.Namespace, done: set[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """One line for each variant, task, seed and number of labels that is not done."""
    device = choose_device(given.device)
    base: Training = PROBE if given.learner == "probe" else CPU if device.type == "cpu" else GPU
    folder, model = fetch(find_model(given.model)), Path(given.model).name
    for name in given.tasks.split(","):
        task, others = task_of(name, given.data_dir)
        tokens: dict[str, Any] = {}
        prepared = None  # with the middle layers, or without them
        for seed in map(int, given.seeds.split(",")):
            for labels in map(int, given.labels.split(",")):
                for variant in given.variants.split(","):
                    if (model, variant, name, seed, labels) in done:
                        continue
                    count, single = MEANS.get(variant, (1, variant))
                    recipe = replace(base, **(PROBES if given.learner == "probe" else VARIANTS)[single])
                    limit = min(card(name).settings.max_tokens, given.max_tokens)
                    learner: Any = find_learner(given.learner).make(
                        folder, len(task.pool.classes), limit, recipe, device
                    )
                    if not tokens or recipe.middle_layers != prepared:
                        prepared = recipe.middle_layers
                        parts = {"pool": task.pool, "accuracy": others, "test": task.test}
                        tokens = {part: learner.prepare(pool.texts) for part, pool in parts.items() if pool}
                    start = time.perf_counter()
                    training = drawn(task, labels, seed)
                    classifier = averaged(
                        [learner.fit(tokens["pool"], training, PLAIN, Streams(seed, 1, fit)) for fit in range(count)]
                    )
                    seconds = time.perf_counter() - start
                    found = {part: accuracy_of(classifier, tokens[part], parts[part]) for part in ("accuracy", "test")}
                    yield {
                        "model": model,
                        "variant": variant,
                        "task": name,
                        "seed": seed,
                        "labels": labels,
                        **found,
                        "seconds": round(seconds, 2),
                        "device": device.type,
                    }


def accuracy_of(classifier: Any, tokens: Any, known: Pool) -> float:
    said = classifier.read(tokens).log_proba.argmax(1).cpu().numpy()
    return round(float((said == np.asarray(known.labels)).mean()), 4)


@torch.no_grad()
def averaged(classifiers: list[Any]) -> Any:
    """The first classifier with the mean of all their weights."""
    first, *others = classifiers
    for name, value in first.network.state_dict().items():
        if value.is_floating_point():
            value.copy_(torch.stack([value, *(each.network.state_dict()[name] for each in others)]).mean(0))
    return first


def stored(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []


def run(given: argparse.Namespace) -> None:
    places = ("model", "variant", "task", "seed", "labels")
    done = {tuple(line[place] for place in places) for line in stored(given.out)}
    write_all(fits(given, done), given.out, given.seconds)


def write_all(lines: Iterator[dict[str, Any]], file: Path, seconds: float) -> None:
    """Adds lines to a file as they are made, until the time is over."""
    end = time.monotonic() + seconds
    with file.open("a", encoding="utf-8") as stream:
        for line in lines:
            stream.write(json.dumps(line) + "\n")
            stream.flush()
            print(*line.values(), flush=True)
            if time.monotonic() > end:
                return


def show(given: argparse.Namespace) -> str:
    """Points of accuracy by variant and task, over the seeds and labels that all of a task's variants have."""
    column = "test" if given.judge == "test" else "accuracy"
    found: dict[tuple[str, str, int], dict[str, float]] = defaultdict(dict)
    for line in stored(given.out):
        if line["model"] == Path(given.model).name and line.get(column) is not None:
            found[line["task"], line["labels"], line["seed"]][line["variant"]] = line[column]
    wanted = [name for name in given.variants.split(",") if any(name in each for each in found.values())]
    shared = {place: each for place, each in found.items() if all(name in each for name in wanted)}
    lines = ["| labels | variant | " + " | ".join(TASKS) + " | mean |", "|---|---|" + "---|" * (len(TASKS) + 1)]
    for labels in sorted({place[1] for place in shared}):
        for variant in wanted:
            means = {}
            for task in TASKS:
                values = [each[variant] for (t, n, _), each in shared.items() if (t, n) == (task, labels)]
                means[task] = fmean(values) if values else None
            cells = ["" if value is None else f"{100 * value:.1f}" for value in means.values()]
            there = [value for value in means.values() if value is not None]
            lines.append(f"| {labels} | {variant} | {' | '.join(cells)} | {100 * fmean(there):.1f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "show"])
    parser.add_argument("--variants", default="paper,joint")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--labels", default="100,300")
    parser.add_argument("--learner", choices=["finetune", "probe"], default="finetune")
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--judge", choices=["train", "test"], default="train", help="what to show")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no fit after this time")
    parser.add_argument("--data-dir")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    if given.verb == "run":
        run(given)
    print(show(given))


if __name__ == "__main__":
    main()
