"""Milliseconds of a training step: ours, the paper's style, a plain loop, a Hugging Face Trainer; same batches.

    PYTHONPATH=. python benchmarks/speed/train.py --data trec --model minilm --pseudo 0
    PYTHONPATH=. python benchmarks/speed/train.py --data trec --model mpnet --steps 2000 --dev 500   # on a GPU

A step has 8 labelled rows and `--pseudo` trusted ones. Ours is the product's own fit, then once more with looks at
`--dev` rows; what it takes before all is compiled and recorded (a GPU replays whole steps) is its warm-up. Peers pad a
batch to its longest text, or to the limit (paper style); all use AdamW and clip gradients. Ratios are within this run.
The first line says how far the gradients of our layers are from those of transformers on padded texts in float32.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from actune.core.classifier import Labelled
from actune.core.objective import Objective
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.data.tasks import load_task
from actune.models.encoders import choose_device, load_classifier
from actune.models.fast.packing import few_shapes
from actune.models.finetuning import FineTuning, said
from actune.models.learners import recipe_for
from actune.models.tokens import Tokens
from actune.models.training import Batch, plan_batches
from benchmarks.speed.common import Results, arguments, encoder, wait


def ours(
    learner: FineTuning,
    tokens: Tokens,
    training: TrainingSet,
    dev: Labelled | None,
    warm: int,
    ready: Callable[[], None] = lambda: None,
) -> dict[str, float]:
    marks: dict[int, float] = {}
    steps = len(plan_batches(training, Objective(), learner.recipe, Streams(0)))

    def mark(stage: str, done: int, _: int) -> None:
        if stage == "train" and done in (1, warm, steps):
            wait(learner.device)
            if done == warm:
                ready()
            marks[done] = time.perf_counter()

    marks[0] = time.perf_counter()
    learner.fit(tokens, training, Objective(), Streams(0), dev, mark)
    each = (marks[steps] - marks[warm]) / (steps - warm)
    return {
        "ms": 1000 * each,
        "warm_up_s": marks[warm] - marks[0] - warm * each,
        "all_steps_s": each * steps,
    }


def meeting(folder: str, count: int) -> Callable[[], None]:
    """Waits until so many processes have come to the same place."""

    def wait_for_all() -> None:
        Path(folder, str(os.getpid())).touch()
        while len(list(Path(folder).iterdir())) < count:
            time.sleep(0.001)

    return wait_for_all


def gradient_errors(learner: FineTuning, tokens: Tokens, rows: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """How far the gradients of our layers, compiled where they are, lie from those of padded texts in float32."""
    network = load_classifier(learner.folder, learner.classes, learner.device).eval()
    targets = torch.from_numpy(labels).to(learner.device)

    def gradient(of: nn.Module, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        of.zero_grad()
        logits, _ = said(of, {name: tensor.to(learner.device) for name, tensor in batch.items()})
        nn.functional.cross_entropy(logits.float(), targets).backward()
        return torch.cat([p.grad.float().flatten() for p in of.parameters() if p.grad is not None])

    fill_to, round_to = few_shapes(network)
    packed = tokens.packed(rows, fill_to=fill_to, round_to=round_to)
    expected = gradient(network, tokens.batch(rows))
    found = {"float32": gradient(network, packed), "bfloat16": gradient(network.to(torch.bfloat16), packed)}
    return {name: float((given - expected).norm() / expected.norm()) for name, given in found.items()}


def plain_loop(
    network: Any,
    batches: list[Batch],
    training: TrainingSet,
    tokens: Tokens,
    limit: int | None,
    half: bool,
) -> Callable[[int], None]:
    """One step of a loop as it is usually written; with a limit as the paper's scripts are."""
    device = next(network.parameters()).device
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-5, eps=1e-8)
    network.train()

    def given(rows: Any) -> dict[str, torch.Tensor]:
        batch = tokens.batch(rows)
        missing = max(0, (limit or 0) - batch["input_ids"].shape[1])
        ids = nn.functional.pad(batch["input_ids"], (0, missing), value=tokens.pad)
        return {
            "input_ids": ids.to(device),
            "attention_mask": nn.functional.pad(batch["attention_mask"], (0, missing)).to(device),
        }

    def loss_of(rows: Any, targets: Any) -> torch.Tensor:
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            logits = network(**given(rows)).logits
        return nn.functional.cross_entropy(logits.float(), torch.from_numpy(targets).to(device))

    def step(number: int) -> None:
        batch, trusted = batches[number], training.pseudo_labels
        optimizer.zero_grad()
        if limit:  # two passes
            loss = loss_of(training.rows[batch.labelled], training.labels[batch.labelled])
            if len(batch.trusted):
                loss = loss + loss_of(trusted.rows[batch.trusted], trusted.targets[batch.trusted])
        else:
            rows = np.concatenate([training.rows[batch.labelled], trusted.rows[batch.trusted]])
            loss = loss_of(rows, np.concatenate([training.labels[batch.labelled], trusted.targets[batch.trusted]]))
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        loss.item()  # the log

    return step


def trainer_ms(network: Any, batches: list[Batch], training: TrainingSet, tokens: Tokens, half: bool) -> float:
    """A Hugging Face Trainer over the same rows in the same order."""
    from transformers import Trainer, TrainerCallback, TrainingArguments

    device = next(network.parameters()).device
    rows = [np.concatenate([training.rows[b.labelled], training.pseudo_labels.rows[b.trusted]]) for b in batches]
    known = [np.concatenate([training.labels[b.labelled], training.pseudo_labels.targets[b.trusted]]) for b in batches]
    data = [
        {"row": int(row), "label": int(label)}
        for r, k in zip(rows, known, strict=True)
        for row, label in zip(r, k, strict=True)
    ]

    def collate(items: list[dict[str, int]]) -> dict[str, torch.Tensor]:
        return tokens.batch([i["row"] for i in items]) | {"labels": torch.tensor([i["label"] for i in items])}

    marks: list[float] = []

    class Clock(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, *_: Any, **__: Any) -> None:
            wait(device)
            marks.append(time.perf_counter())

    class InOrder(Trainer):  # type: ignore[misc]
        def _get_train_sampler(self, *_: Any, **__: Any) -> Any:
            return torch.utils.data.SequentialSampler(data)  # type: ignore[arg-type]

    arguments = TrainingArguments(
        output_dir="/tmp/actune-trainer",
        per_device_train_batch_size=len(rows[0]),
        max_steps=len(batches),
        learning_rate=2e-5,
        bf16=half,
        use_cpu=device.type == "cpu",
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        remove_unused_columns=False,
        disable_tqdm=True,
    )
    InOrder(network, arguments, train_dataset=data, data_collator=collate, callbacks=[Clock()]).train()
    return 1000 * float(np.median(np.diff(marks)[len(marks) // 4 :]))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--pseudo", type=int, default=32, help="trusted rows in a step")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warm", type=int, help="steps before the clock starts: a fifth")
    parser.add_argument("--peer-steps", type=int, default=30)
    parser.add_argument("--dev", type=int, default=0, help="rows of dev, looked at every 50 steps")
    parser.add_argument("--train-embeddings", action="store_true", help="which are left as they are otherwise")
    parser.add_argument("--ours-only", action="store_true")
    parser.add_argument("--meet", nargs=2, metavar=("FOLDER", "COUNT"), help="starts the clock with others")
    given = parser.parse_args()
    task, device, folder = load_task(given.data, given.data_dir), choose_device(given.device), encoder(given.model)
    results = Results(given.out, device)
    known, classes, limit = (
        np.asarray(task.pool.labels),
        len(task.pool.classes),
        given.limit or task.settings.max_tokens,
    )
    recipe = recipe_for("finetune", device.type)
    recipe = replace(recipe, pseudo_batch=given.pseudo, steps=given.steps, dev_every=50, most_steps=given.steps)
    recipe = replace(recipe, epochs=max(1, given.steps * 8 // 200), dev_at_epoch_end=False)
    recipe = replace(recipe, freeze_embeddings=not given.train_embeddings)
    learner = FineTuning(folder, classes, limit, recipe, device)
    tokens = learner.prepare(task.pool.texts[:2200])
    rows, trusted = np.arange(200), np.arange(200, min(2200, len(tokens)))
    pseudo = PseudoLabels(trusted, known[trusted], np.ones(len(trusted), np.float32))
    training = TrainingSet(rows, known[rows], pseudo if given.pseudo else PseudoLabels.none())
    dev = None
    if given.dev and task.dev is not None:
        dev = Labelled(learner.prepare(task.dev.texts[: given.dev]), np.asarray(task.dev.labels)[: given.dev])
    batches = plan_batches(training, Objective(), recipe, Streams(0))
    about = {
        "data": given.data,
        "model": given.model,
        "rows": 8 + given.pseudo,
        "frozen_embeddings": recipe.freeze_embeddings,
    }
    warm = given.warm or len(batches) // 5
    some = np.arange(8 + given.pseudo)
    errors = gradient_errors(learner, tokens, some, known[some])
    results.add(what="gradients beside padded texts", **about, **{k: float(f"{v:.2g}") for k, v in errors.items()})
    ready = meeting(given.meet[0], int(given.meet[1])) if given.meet else lambda: None
    found = ours(learner, tokens, training, None, warm, ready)
    results.add(what="ours", **about, steps=len(batches), **{k: round(v, 2) for k, v in found.items()})
    if dev is not None:
        looking = ours(learner, tokens, training, dev, warm)
        facts = {k: round(v, 2) for k, v in looking.items()}
        results.add(what="ours, dev included", **about, steps=len(batches), dev=given.dev, **facts)
    if given.ours_only:
        return
    for name, padded, half in (
        ("paper style", limit, False),
        ("plain loop", None, False),
        ("plain loop, bfloat16", None, True),
    ):
        network = load_classifier(folder, classes, device)
        step = plain_loop(network, batches, training, tokens, padded, half)
        times = []
        for number in range(given.peer_steps):
            wait(device)
            start = time.perf_counter()
            step(number)
            wait(device)
            times.append(time.perf_counter() - start)
        milliseconds = 1000 * float(np.median(times[given.peer_steps // 4 :]))
        results.add(what=name, **about, ms=round(milliseconds, 2), ours_is_faster=round(milliseconds / found["ms"], 2))
    try:
        milliseconds = trainer_ms(
            load_classifier(folder, classes, device),
            batches[: given.peer_steps],
            training,
            tokens,
            device.type != "cpu",
        )
        results.add(
            what="Trainer", **about, ms=round(milliseconds, 2), ours_is_faster=round(milliseconds / found["ms"], 2)
        )
    except ImportError as error:
        print(f"no Trainer here: {error}")


if __name__ == "__main__":
    main()
