"""Peers on the same few labels: SetFit and FastFit with their own settings, beside the recipes of `learner.py`.

    PYTHONPATH=. python benchmarks/few/peers.py export --labels 100,300 --seeds 0,1 --data-dir DIR --cases FOLDER
    python benchmarks/few/peers.py run --peer setfit --cases FOLDER --labels 100 --seeds 0 --model FOLDER_OR_NAME
    PYTHONPATH=. python benchmarks/few/learner.py show --variants paper,joint,setfit,fastfit --out FILE

`export` runs where actune is installed: it writes the texts, the labels and the rows that judge, exactly those of
`learner.py`, in one file for each task. `run` reads only these files and needs only the peer's packages; if a file is
not there and `--data-dir` is given, it exports first. It writes the lines that `learner.py` writes, plus versions, so
that both can be appended to one file: `accuracy` on train rows outside the pool and `test` on the test set, or only one
of them with `--judge`. What is finished is never run again, also if it was judged on the other rows.

SetFit (`setfit`): its default TrainingArguments, which are one epoch over all pairs of labelled texts with
oversampling (each pair of different classes once, pairs of the same class repeated to equal their number), batches of
16 pairs, AdamW at 2e-5 with a tenth of warm-up and the cosine similarity loss; then its default head, scikit-learn's
logistic regression on the embeddings. Number of pairs, and so time, grows with the square of the labels.

FastFit (`fast-fit`): the settings of its README, which are 40 epochs, batches of 32 repeated 4 times, Adafactor at
5e-5 with linear decay, a projection to 128 dimensions, a weight of 0.1 for the classification loss, and half precision
on a GPU. It compares a text's tokens with those of the class names, so it gets the names of all classes, and
underscores become spaces as in its own code. The names are all it gets beyond the labels of the others.

There is no dev set, and the rows that judge are read only after the fit. Both get the encoder and the maximum of tokens
of `learner.py`. `seconds` is the time of the peer's `train()`: without imports, loading the encoder and reading the
rows that judge. The device is the GPU where there is one; hide it with `CUDA_VISIBLE_DEVICES=`.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

RESULTS = Path("benchmarks/results/few_peers.jsonl")
CASES = Path("benchmarks/results/few_cases")
PLACES = ("model", "variant", "task", "seed", "labels")  # what makes a fit the same fit, as in learner.py
JUDGES = {"train": ("accuracy",), "test": ("test",), "both": ("accuracy", "test")}
PACKAGES = ("torch", "transformers", "sentence-transformers", "datasets", "setfit", "fast-fit")


@dataclass(frozen=True)
class Case:
    """What a peer is given for one fit, and the texts that it then has to name; labels are places in `classes`."""

    classes: list[str]
    texts: list[str]
    labels: list[int]
    judge_texts: list[str]
    tokens: int
    seed: int


@dataclass(frozen=True)
class Answer:
    """A peer's places in `classes` for the texts that judge, and how long its training took."""

    said: list[int]
    seconds: float


def file_of(folder: Path, task: str) -> Path:
    return folder / f"{task}.json"


def numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def export(given: argparse.Namespace, tasks: Sequence[str]) -> None:
    """Write a file for each task: its classes, the rows that judge, and the labelled rows by number and seed."""
    from actune.data.tasks import card
    from benchmarks.few.learner import TASKS, drawn, task_of

    given.cases.mkdir(parents=True, exist_ok=True)
    for name in tasks or TASKS:
        task, others = task_of(name, given.data_dir)
        texts, sets = list(task.pool.texts), {}
        for seed in numbers(given.seeds):
            for labels in numbers(given.labels):
                found = drawn(task, labels, seed)
                sets[f"{labels}-{seed}"] = {
                    "texts": [texts[row] for row in found.rows],
                    "labels": [int(label) for label in found.labels],
                }
        content = {
            "task": name,
            "classes": [str(each) for each in task.pool.classes],
            "max_tokens": card(name).settings.max_tokens,
            "judges": {
                part: {"texts": list(pool.texts), "labels": [int(label) for label in pool.labels]}
                for part, pool in {"accuracy": others, "test": task.test}.items()
            },
            "sets": sets,
        }
        file = file_of(given.cases, name)
        file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        print(file, len(others), len(task.test), *sets, flush=True)


def fit_setfit(case: Case, model: str) -> Answer:
    """SetFit's defaults; only what does not change the result is set: no checkpoints, no reports."""
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments

    learner = SetFitModel.from_pretrained(model)
    learner.model_body.max_seq_length = case.tokens
    rows = Dataset.from_dict({"text": case.texts, "label": case.labels})
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(
            output_dir=folder,
            seed=case.seed,
            max_length=case.tokens,
            save_strategy="no",
            report_to="none",
            show_progress_bar=False,
        )
        trainer = Trainer(model=learner, args=settings, train_dataset=rows)
        start = time.perf_counter()
        trainer.train()
        seconds = time.perf_counter() - start
    said = learner.predict(case.judge_texts, batch_size=64, as_numpy=True, show_progress_bar=False)
    return Answer([int(each) for each in said], seconds)


def import_fastfit() -> Any:
    """FastFit, which asks `datasets` for a function that newer ones lack and that needs the hub, for its evaluation."""
    import datasets

    datasets.load_metric = lambda *args, **kwargs: None
    import fastfit

    return fastfit


def fit_fastfit(case: Case, model: str) -> Answer:
    """FastFit as in its README. A row for every class, never trained or judged on, tells it all names of classes."""
    import torch
    from datasets import Dataset

    names = [case.classes[label] for label in case.labels]
    every = Dataset.from_dict({"text": case.classes, "label": case.classes})
    with tempfile.TemporaryDirectory() as folder:
        trainer = import_fastfit().FastFitTrainer(
            model_name_or_path=model,
            label_column_name="label",
            text_column_name="text",
            num_train_epochs=40,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=64,
            max_text_length=case.tokens,
            dataloader_drop_last=False,
            num_repeats=4,
            optim="adafactor",
            clf_loss_factor=0.1,
            fp16=torch.cuda.is_available(),
            seed=case.seed,
            output_dir=folder,
            overwrite_output_dir=True,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            train_dataset=Dataset.from_dict({"text": case.texts, "label": names}),
            validation_dataset=every,
            test_dataset=every,  # it does not begin without one
        )
        start = time.perf_counter()
        learner = trainer.train()
        seconds = time.perf_counter() - start
    order = [case.classes.index(name) for name in trainer.labels]  # FastFit sorts the names
    return Answer([order[each] for each in read_fastfit(learner, trainer.tokenizer, case)], seconds)


def read_fastfit(learner: Any, tokenizer: Any, case: Case) -> list[int]:
    """The best class of every text that judges, by the scores of FastFit's own class for inference.

    The mask is asked for by name, since FastFit tells the tokenizer to make other inputs in training.
    """
    import torch

    learner.eval()
    found: list[int] = []
    for start in range(0, len(case.judge_texts), 64):
        texts = case.judge_texts[start : start + 64]
        batch = tokenizer(texts, truncation=True, max_length=case.tokens, padding=True, return_attention_mask=True)
        ids, mask = (torch.tensor(batch[key]).to(learner.device) for key in ("input_ids", "attention_mask"))
        found += learner.inference_forward(ids, mask).argmax(1).tolist()
    return found


PEERS: dict[str, Callable[[Case, str], Answer]] = {"setfit": fit_setfit, "fastfit": fit_fastfit}


def versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def contents(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The exported tasks that are asked for, or all that are there."""
    there = sorted(file.stem for file in given.cases.glob("*.json"))
    wanted = given.tasks.split(",") if given.tasks else there
    missing = [name for name in wanted if name not in there]
    if missing and given.data_dir:
        export(given, missing)
    elif missing or not wanted:
        raise SystemExit(f"{given.cases} has no {', '.join(missing) or 'tasks'}: run export first, or set --data-dir")
    for name in wanted:
        yield json.loads(file_of(given.cases, name).read_text(encoding="utf-8"))


def accuracies(said: Sequence[int], judges: dict[str, Any]) -> dict[str, float]:
    """The share of right answers in each part of the rows that judge, which were read one part after the other."""
    found, start = {}, 0
    for part, judge in judges.items():
        labels = judge["labels"]
        answers, start = said[start : start + len(labels)], start + len(labels)
        found[part] = round(sum(one == other for one, other in zip(answers, labels, strict=True)) / len(labels), 4)
    return found


def fits(given: argparse.Namespace, done: set[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """One line for each task, seed and number of labels that is not done."""
    import torch

    model = Path(given.model).name
    for content in contents(given):
        for seed in numbers(given.seeds):
            for labels in numbers(given.labels):
                if (model, given.peer, content["task"], seed, labels) in done:
                    continue
                if (found := content["sets"].get(f"{labels}-{seed}")) is None:
                    raise SystemExit(f"{given.cases} has no {labels} labels of {content['task']} with seed {seed}")
                tokens = min(content["max_tokens"], given.max_tokens)
                judges = {part: content["judges"][part] for part in JUDGES[given.judge]}
                texts = [text for judge in judges.values() for text in judge["texts"]]
                case = Case(content["classes"], found["texts"], found["labels"], texts, tokens, seed)
                answer = PEERS[given.peer](case, given.model)
                yield {
                    "model": model,
                    "variant": given.peer,
                    "task": content["task"],
                    "seed": seed,
                    "labels": labels,
                    **accuracies(answer.said, judges),
                    "seconds": round(answer.seconds, 2),
                    "device": "cuda" if torch.cuda.is_available() else "cpu",
                    "versions": versions(),
                }


def run(given: argparse.Namespace) -> None:
    lines = given.out.read_text(encoding="utf-8").splitlines() if given.out.is_file() else []
    done = {tuple(json.loads(line)[place] for place in PLACES) for line in lines}
    end = time.monotonic() + given.seconds
    with given.out.open("a", encoding="utf-8") as file:
        for line in fits(given, done):
            file.write(json.dumps(line) + "\n")
            file.flush()
            print(*line.values(), flush=True)
            if time.monotonic() > end:
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["export", "run"])
    parser.add_argument("--peer", choices=list(PEERS), default="setfit")
    parser.add_argument("--tasks", default="", help="default: all of learner.py to export, all that are there to run")
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--labels", default="100,300")
    parser.add_argument("--model", default="minilm", help="a folder with the encoder, or its name on the hub")
    parser.add_argument("--judge", choices=list(JUDGES), default="both", help="which rows judge a run")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no fit after this time")
    parser.add_argument("--data-dir")
    parser.add_argument("--cases", type=Path, default=CASES, help="the folder of the exported tasks")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.threads:
        import torch

        torch.set_num_threads(given.threads)
    if given.verb == "export":
        export(given, given.tasks.split(",") if given.tasks else [])
    else:
        run(given)


if __name__ == "__main__":
    main()
