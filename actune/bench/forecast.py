"""How long a grid will take here: what its cells compute, and the texts that must be embedded before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.bench.calibration import Measured, measure
from actune.bench.cells import Cell, load
from actune.bench.estimates import Estimates
from actune.core.settings import Settings, Training, split_changes
from actune.core.strings import Strings
from actune.core.task import Task
from actune.methods.recipes import build
from actune.models.embeddings import uncached
from actune.models.learners import find_learner, make_learner
from actune.models.sources import fetch, find_model
from actune.session.request import make_request
from actune.session.resolve import training_of

if TYPE_CHECKING:
    import torch

START = 6.0  # seconds in which the processes start and the libraries are imported
ROUND = 0.15  # seconds that a round spends on its files, whatever it computes
PREPARE = {"cpu": 0.002, "cuda": 0.0002}  # seconds of embedding a text on a machine that is not here


@dataclass(frozen=True)
class Forecast:
    """The seconds of a grid, and what they are made of."""

    cells: dict[str, float]  # by key
    seconds: float  # from the command to its end
    to_embed: int  # texts that no cache has
    embedding: float  # seconds of that
    basis: str


@dataclass(frozen=True)
class Setup:
    """Cells that read the same texts in the same way, and are measured together."""

    cells: tuple[Cell, ...]
    task: Task
    encoder: Path
    recipe: Training
    device: str

    @property
    def learner(self) -> str:
        return self.cells[0].point.learner


def forecast(
    cells: Sequence[Cell], estimates: Estimates, workers: int, data_dir: Path | None = None, here: bool = True
) -> Forecast:
    """The time of cells that are not finished, measured on this machine unless another one will run them."""
    seconds: dict[str, float] = {}
    texts = embedding = longest = 0.0
    measured, slowness = False, 1.0
    for setup in _setups(cells, data_dir):
        known = all(estimates.knows(cell) for cell in setup.cells)
        missing, every = _texts_to_prepare(setup)
        found = _measured(setup) if here and (not known or missing) else None
        measured |= found is not None and not known
        slowness = max(slowness, found.slowness) if found else slowness
        price = found.prepare if found else PREPARE.get(setup.device, PREPARE["cpu"])
        load_seconds = found.load if found and every else 0.0
        if find_learner(setup.learner).is_frozen_encoder:
            texts += missing
            embedding += price * missing + (load_seconds if missing else 0.0)
            longest = max(longest, price * missing + (load_seconds if missing else 0.0))
        for cell in setup.cells:
            seconds[cell.key] = estimates.seconds(cell) if known or found is None else _of_cell(cell, setup, found)
    # who comes second to texts embeds them too while the first is still at it, so one set of texts is never divided
    crew = max(1, min(workers, len(cells)))
    waiting = max(longest, embedding / crew)
    ended = max(sum(seconds.values()) / crew, max(seconds.values(), default=0.0))
    basis = "measured on this machine" if measured else estimates.basis
    return Forecast(seconds, (START * slowness + waiting + ended) if cells else 0.0, int(texts), waiting, basis)


def _of_cell(cell: Cell, setup: Setup, found: Measured) -> float:
    """Steps, reads of pool and test, dev sets between steps, and the method's own work on every text of the pool."""
    task, recipe = setup.task, setup.recipe
    looks = cell.steps / max(1, recipe.dev_every)
    dev = len(task.dev) if task.dev is not None else 0
    method = build(cell.point.method, Settings())
    generations = method.teacher.generations if method.teacher else 0
    choices = cell.fits - 1 + cell.fits * generations  # the last round asks nothing
    chosen = choices * len(task.pool) * found.choose[cell.point.method]
    reads = (cell.reads * (1 + generations) + looks * dev) * found.read
    return cell.steps * found.step + reads + chosen + cell.fits * ROUND * found.slowness


def _setups(cells: Iterable[Cell], data_dir: Path | None) -> list[Setup]:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        point = cell.point
        recipe = sorted(split_changes(cell.options["changes"])[1].items())
        words = [point.data, dict(point.reading), point.preset, point.model, point.learner, recipe, cell.device.kind]
        groups.setdefault(json.dumps(words, default=str), []).append(cell)
    return [_setup(group, data_dir) for group in groups.values()]


def _setup(cells: Sequence[Cell], data_dir: Path | None) -> Setup:
    first = cells[0]
    task = _task(first, data_dir)
    request = make_request(task, **first.options)
    changes = split_changes(request.changes)[1]
    recipe = training_of(request, task, request.learner, first.device.kind, changes)
    return Setup(tuple(cells), task, fetch(find_model(request.model)), recipe, first.device.kind)


def _task(cell: Cell, data_dir: Path | None) -> Task:
    point = cell.point
    return _loaded(point.data, json.dumps(dict(point.reading)), point.seed, point.preset, data_dir)


@lru_cache(maxsize=4)
def _loaded(data: str, reading: str, seed: int, preset: str, data_dir: Path | None) -> Task:
    return load(data, json.loads(reading), seed, preset, data_dir)


def _texts_to_prepare(setup: Setup) -> tuple[int, int]:
    """The texts that no cache has, and all of them. Every seed of a file may hold out other texts, of the same ones."""
    parts = [part for part in (setup.task.pool, setup.task.dev, setup.task.test) if part is not None]
    every = sum(map(len, parts))
    how = _how(setup)
    if how is None:
        return every, every
    threads = setup.cells[0].device.threads
    return sum(uncached(setup.encoder, _strings(part.texts), how, threads) for part in parts), every


def _how(setup: Setup) -> str | None:
    """How the learner reads, where it keeps what it has read."""
    learner: Any = make_learner(
        setup.learner,
        setup.encoder,
        len(setup.task.pool.classes),
        setup.task.settings.max_tokens,
        setup.recipe,
        _device(setup.device),
    )
    return getattr(learner, "how", None)


def _strings(texts: Sequence[str]) -> Strings:
    return Strings.of(texts)


def _device(kind: str) -> torch.device:
    import torch

    return torch.device(kind)


def _measured(setup: Setup) -> Measured:
    methods = sorted({cell.point.method for cell in setup.cells})
    trusts = any(build(method, Settings()).self_training is not None for method in methods)
    threads = setup.cells[0].device.threads
    device = _device(setup.device)
    return measure(setup.task, setup.learner, setup.encoder, setup.recipe, threads, device, methods, trusts)
