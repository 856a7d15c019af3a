"""What options mean for a task, and one sentence for what cannot work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from actune.core.options import from_keywords
from actune.core.run_options import RunOptions
from actune.core.settings import Settings, Training, override, split_changes
from actune.core.spec import RunSpec
from actune.core.task import Task
from actune.errors import DataError, SettingError, nearest
from actune.methods.recipes import find, name_of
from actune.models.learners import check_learner
from actune.models.sources import KNOWN, find_model
from actune.models.starting import check_start
from actune.rounds.first import FIRST
from actune.store.store import newest_model_in

PRESETS = {
    "paper": "the method as the paper states it",
    "released": "the method as the authors' scripts compute it, where they depart from the paper (see docs/paper.md)",
}


def make_request(task: Task, **options: Unpack[RunOptions]) -> RunSpec:
    """The spec that these options mean, with everything that the user left open taken from the task."""
    if (method := options.get("method")) is not None:
        options["method"] = name_of(method)  # it may be given by value
    said = from_keywords(RunSpec, options)
    rounds = task.plan.rounds if said.get("simulated") else 0
    usual = {"data": task.name, "initial": task.plan.initial, "batch": task.plan.batch, "rounds": rounds}
    # the run may be opened from another folder
    for name in ("model", "start_from", "weak"):
        path = Path(said.get(name, "")).expanduser()
        if said.get(name) and said[name] not in KNOWN and path.exists():
            said[name] = str(path.absolute())
    changes = _plain(*split_changes(said.pop("changes", {})))
    return RunSpec(**{**usual, **said, "changes": changes})


def _plain(method: Mapping[str, Any], training: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides as values of their own type, so that `K=20` and `regions=20.0` are the same request."""
    settings, training_values = override(Settings(), method), override(Training(), training)
    typed = {name: getattr(settings, name) for name in method}
    typed |= {name: getattr(training_values, name) for name in training}
    return dict(sorted(typed.items()))


def check(request: RunSpec, task: Task) -> None:
    """One sentence for a request that cannot work, before anything is written or loaded."""
    _one_of("preset", request.preset, PRESETS)
    find(request.method)
    check_learner(request.learner)
    find_model(request.model)
    if len(task.pool.classes) < 2:
        raise DataError("a classifier needs at least two classes, and the data has one only")
    if not 0 <= request.noise < 1:
        raise SettingError(f"--noise is a share from 0 up to 1, not {request.noise}")
    if request.adapt < 0:
        raise SettingError(f"--adapt is a number of steps, and {request.adapt} is negative")
    check_seed(request.seed)
    _check_opening(request)
    if request.start_from:
        check_start(newest_model_in(Path(request.start_from).expanduser()), task.pool.classes)
    _check_plan(request, task)


def _check_opening(request: RunSpec) -> None:
    from actune.weak.label_models import LABEL_MODELS

    if request.first:
        _one_of("--first choice", request.first, FIRST)
    _one_of("label model", request.label_model, LABEL_MODELS)
    if request.keep_weak and not request.weak:
        raise SettingError("--keep-weak keeps weak labels and there are none: add --weak")
    if request.opens and request.first:
        raise SettingError("--first chooses texts before there is a model: with --weak or --start-from there is one")
    if request.weak and request.start_from:
        raise SettingError("--weak and --start-from both give the first model: choose one")


def _check_plan(request: RunSpec, task: Task) -> None:
    if min(request.initial, request.batch) < 1 or request.rounds < (1 if request.simulated else 0):
        raise SettingError("--initial, --batch and --rounds must be at least 1")
    if not request.simulated:
        return
    classes, pool = len(task.pool.classes), len(task.pool)
    if not request.opens and request.initial < classes:
        raise SettingError(f"{request.initial} initial labels are too few for {classes} classes: raise --initial")
    initial = request.batch if request.opens else request.initial
    wanted = initial + request.batch * (request.rounds - 1)
    if wanted > pool:
        raise SettingError(
            f"the plan asks for {wanted:,} labels, the pool has {pool:,} texts: lower --rounds or --batch"
        )


def check_seed(seed: int) -> None:
    if seed < 0:
        raise SettingError(f"--seed must not be negative, and {seed} is")


def _one_of(what: str, name: str, known: Mapping[str, object]) -> None:
    if name not in known:
        raise SettingError(f"unknown {what} {name!r}: {nearest(name, known)}")
