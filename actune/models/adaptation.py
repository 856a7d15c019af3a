"""Task-adaptive pretraining: an encoder learns to guess hidden tokens of the pool before any label is asked for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from actune.core.progress import Progress, silent
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.errors import ModelError, SettingError, StorageError
from actune.models import fast, precision
from actune.models.cache import cache_folder, name_of
from actune.models.encoders import load_masked_lm, load_tokenizer, pooling_mode, token_limit
from actune.models.folders import weight_files
from actune.models.masking import IGNORED, Cloze, answers, hide, in_place, ordinary
from actune.models.reader import read_tokens
from actune.models.tokens import NamedTensors, Tokens, tokenize
from actune.models.training import linear_schedule, make_steps

RECIPE = Training(learning_rate=1e-4, warmup=0.06)
BATCH = 32
FEW_WIDTHS = 16  # widths in tokens are multiples of this on a GPU, so that few shapes recur
FACTS = "adapted.json"
POOLING = "1_Pooling/config.json"


@dataclass(frozen=True)
class Exam:
    """How well hidden tokens are guessed in texts that are not trained on, after so many steps."""

    loss: float  # mean -log p, in nats
    accuracy: float
    steps: int


@dataclass(frozen=True)
class Adapted:
    """An adapted encoder's folder and facts; `steps` were taken up to the weights that were kept."""

    folder: Path
    had_head: bool  # a new head knows only these texts
    accuracy: float
    loss: float
    held_out: int  # texts
    steps: int


def adapt(
    folder: Path,
    texts: Sequence[str],
    steps: int,
    max_tokens: int,
    seed: int,
    device: torch.device,
    progress: Progress = silent,
    recipe: Training = RECIPE,
) -> Adapted:
    """The encoder in `folder` after masked-LM training on `texts`, as a model folder of its own in the cache."""
    if steps < 1:
        raise SettingError(f"--adapt must be at least 1 step, not {steps}")
    recipe = replace(recipe, fast=fast.enabled(recipe))
    limit = token_limit(folder, max_tokens)
    target = cache_folder() / "adapted" / _name(folder, texts, steps, limit, seed, device, recipe)
    if found := _find(target):
        return found
    _make_room(target.parent)  # before the work, not after it
    tokenizer = load_tokenizer(folder)
    if tokenizer.mask_token_id is None:
        raise ModelError(f"the tokenizer in {folder} has no mask token: use another encoder, or leave out --adapt")
    streams = Streams(seed)
    training, exam = _split(tokenize(tokenizer, texts, limit), tokenizer, streams)
    network, had_head = load_masked_lm(folder, device, streams.integer("adapt head"))
    best = _train(network, _batches(training, tokenizer, streams, device), exam, steps, streams, progress, recipe)
    facts = {"had_head": had_head, **asdict(best), "held_out": len(exam)}
    return _keep(network, folder, target, facts)


def _split(tokens: Tokens, tokenizer: Any, streams: Streams) -> tuple[Tokens, Cloze]:
    """The texts to train on and 5 % held out; texts without a token to hide are left out."""
    words = np.concatenate([[0], np.cumsum(ordinary(tokens, tokenizer))])[tokens.offsets]
    rows = streams.rng("adapt held out").permutation(np.flatnonzero(np.diff(words)))
    if len(rows) < 2:
        raise SettingError(f"--adapt needs at least two texts with known words, and there are {len(rows)}")
    held_out = min(500, max(1, len(rows) // 20))
    exam = hide(tokens.only(rows[:held_out]), tokenizer, streams.rng("adapt exam"))
    return tokens.only(rows[held_out:]), exam


def _batches(tokens: Tokens, tokenizer: Any, streams: Streams, device: torch.device) -> Iterator[NamedTensors]:
    """Full batches of one permutation after another, each with new gaps."""
    order = streams.rng("adapt order")
    for epoch in count():
        cloze = hide(tokens, tokenizer, streams.rng(f"adapt gaps {epoch}"))
        rows = order.permutation(len(tokens))
        for start in range(0, max(1, len(rows) - BATCH + 1), BATCH):
            yield cloze.batch(rows[start : start + BATCH], round_to=1 if device.type == "cpu" else FEW_WIDTHS)


@torch.enable_grad()
def _train(
    network: nn.Module,
    batches: Iterator[NamedTensors],
    exam: Cloze,
    steps: int,
    streams: Streams,
    progress: Progress,
    recipe: Training,
) -> Exam:
    """Trains in place until two exams in a row are no better than the best, whose weights are kept."""
    device = next(network.parameters()).device

    def loss_of(batch: NamedTensors) -> torch.Tensor:
        with precision.for_training(device):
            logits = answers(network, batch)
        loss = nn.functional.cross_entropy(logits, batch["labels"], reduction="sum")
        return loss / (batch["labels"] != IGNORED).sum().clamp(min=1)

    weights, take_step = make_steps(network, recipe, loss_of)
    factor = linear_schedule(steps, recipe.warmup)
    every = max(10, steps // 10)
    best, kept, failed = _examine(network, exam, 0), weights.keep(None), 0
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(streams.integer("adapt dropout"))
        for step, batch in enumerate(islice(batches, steps), 1):
            weights.set_rate(recipe.learning_rate * factor(step - 1))
            take_step(batch)
            progress("adapt", step, steps)
            if step % every and step < steps:
                continue
            if (found := _examine(network, exam, step)).loss < best.loss:
                best, kept, failed = found, weights.keep(kept), 0
            elif (failed := failed + 1) == 2:
                break
    weights.finish(kept)
    network.eval()
    return best


def _examine(network: nn.Module, exam: Cloze, steps: int) -> Exam:
    """Ends in training mode."""
    device = next(network.parameters()).device

    def forward(batch: NamedTensors) -> tuple[torch.Tensor, torch.Tensor]:
        logits, labels = answers(network, batch), batch["labels"]
        losses = nn.functional.cross_entropy(logits, labels, reduction="none")
        hits = (logits.argmax(1) == labels).to(losses)
        return in_place(losses, batch).sum(1), in_place(hits, batch).sum(1)

    network.eval()
    losses, hits = read_tokens(forward, exam, device)
    network.train()
    asked = int((exam.asked != IGNORED).sum())
    return Exam(losses.sum().item() / asked, hits.sum().item() / asked, steps)


def _name(
    folder: Path, texts: Sequence[str], steps: int, limit: int, seed: int, device: torch.device, recipe: Training
) -> str:
    """The hash of all that decides the weights, down to the threads and the number format."""
    how = f"adapt {recipe} {BATCH} {steps} {limit} {seed} {pooling_mode(folder)} {device.type} {precision.name(device)}"
    return name_of(folder, texts, how)


def _find(target: Path) -> Adapted | None:
    with suppress(OSError, ValueError, TypeError):  # a broken file is made again
        return Adapted(folder=target, **json.loads((target / FACTS).read_text(encoding="utf-8")))
    return None


def _make_room(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # adapted weights tell of the texts
    except OSError as error:
        raise _no_room(folder, error) from error


def _no_room(folder: Path, error: Exception) -> StorageError:
    return StorageError(f"the adapted encoder cannot be written to {folder}: {error}")


def _keep(network: Any, source: Path, target: Path, facts: dict[str, Any]) -> Adapted:
    """Written beside its place and moved there whole, so that no half-written model is ever found."""
    try:
        with TemporaryDirectory(dir=target.parent, prefix="unfinished-") as scratch:
            made = Path(scratch) / "model"
            network.save_pretrained(made, state_dict=network.state_dict() | _pooler(source, network.base_model_prefix))
            load_tokenizer(source).save_pretrained(made)
            if (source / POOLING).is_file():
                (made / POOLING).parent.mkdir()
                shutil.copyfile(source / POOLING, made / POOLING)
            (made / FACTS).write_text(json.dumps(facts, indent=1), encoding="utf-8")
            if target.exists() and not _find(target):
                shutil.rmtree(target)  # broken since it was made
            made.rename(target)
    except (OSError, SafetensorError) as error:
        if not _find(target):  # made by another process meanwhile
            raise _no_room(target.parent, error) from error
    return Adapted(folder=target, **facts)


def _pooler(source: Path, prefix: str) -> NamedTensors:
    """What the masked-LM network has no part for, but a classifier begins with."""
    weights = {name: value for file in weight_files(source) for name, value in load_file(file).items()}
    return {
        f"{prefix}.{name[name.index('pooler.') :]}": value
        for name, value in weights.items()
        if "pooler" in name.split(".")
    }
