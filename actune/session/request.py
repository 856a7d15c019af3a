"""What options mean for a task, and one sentence for what cannot work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Unpack

from actune.core.checks import told
from actune.core.options import LARGEST, from_keywords, typed
from actune.core.places import exists
from actune.core.run_options import RunOptions
from actune.core.settings import Settings, Training, Words, override, split_changes, words_of
from actune.core.spec import READING_OPTIONS, RunSpec
from actune.core.task import Task
from actune.errors import DataError, SettingError, nearest
from actune.methods.recipes import find, name_of
from actune.models.learners import CONTRASTIVE_RECIPE, PAPER_RECIPE, RECIPES, check_learner
from actune.models.sources import KNOWN, find_model
from actune.models.starting import check_start
from actune.rounds.first import BALANCED, FIRST
from actune.session.naming import useful_names
from actune.store.addresses import public
from actune.store.store import newest_model_in

SCRIPTS = "released"
PRESETS = {
    "paper": "follows the paper",
    SCRIPTS: "follows the authors' scripts where they differ from the paper (see docs/paper.md)",
}


def make_request(task: Task, **options: Unpack[RunOptions]) -> RunSpec:
    """The spec that these options mean, with everything that the user left open taken from the task."""
    if (method := options.get("method")) is not None:
        options["method"] = name_of(method)  # it may be given by value
    said = from_keywords(RunSpec, options)
    rounds = task.plan.rounds if said.get("simulated") else 0
    usual = {"data": task.name, "initial": task.plan.initial, "batch": task.plan.batch, "rounds": rounds}
    if said.get("preset") == SCRIPTS:
        usual["recipe"] = PAPER_RECIPE
    # the run may be opened from another folder
    for name in ("model", "start_from", "weak", "names"):
        path = Path(said.get(name, "")).expanduser()
        if said.get(name) and said[name] not in KNOWN and exists(path):
            said[name] = str(path.absolute())
    said["names"] = useful_names(said.get("names", ""), task.pool.classes)
    if said.get("store"):
        said["store"] = public(said["store"])  # a request is shown, and kept in memory: it has no password
    given = said.pop("changes", {})
    changes = _plain(*split_changes(given)) | {name: word for name, word in given.items() if name in asdict(Words())}
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
    _one_of("recipe", request.recipe, RECIPES)
    if request.preset == SCRIPTS and request.recipe == CONTRASTIVE_RECIPE:
        raise SettingError("--preset released trains as the authors' scripts do: leave --recipe contrastive out")
    find(request.method)
    check_learner(request.learner)
    find_model(request.model)
    if len(task.pool.classes) < 2 and not request.page:
        raise DataError("the data has only one class: a classifier needs at least two")
    if not 0 <= request.noise < 1:
        raise SettingError(f"--noise must be at least 0 and below 1, not {request.noise}")
    if request.adapt < 0:
        raise SettingError(f"--adapt must be 0 or more steps, not {request.adapt}")
    check_seed(request.seed)
    if not 0 <= request.distinct <= 1:
        raise SettingError(f"--distinct must be a similarity from 0 to 1, not {request.distinct}")
    _check_page(request)
    _check_opening(request)
    if request.simulated and request.store:
        raise SettingError("a simulated run keeps its answers in its folder: leave --store out")
    if not request.simulated:
        words_of(request.changes, task.pool.classes)
    if request.start_from:
        check_start(newest_model_in(Path(request.start_from).expanduser()), task.pool.classes)
    _check_plan(request, task)


def _check_page(request: RunSpec) -> None:
    if request.audit < 0:
        raise SettingError(f"audit must be 0 or more texts, not {request.audit}")
    if request.audit_every < 2:
        raise SettingError(
            f"audit_every must be at least 2, so that other questions are left, not {request.audit_every}"
        )
    if not 0 <= request.overlap <= 1:
        raise SettingError(f"--overlap must be a share from 0 to 1, not {request.overlap}")
    if request.answers_each < 2:
        raise SettingError(f"--answers-each must be at least 2 people, not {request.answers_each}")
    if request.simulated and request.overlap:
        raise SettingError("a simulated run is answered by nobody else: leave overlap out")
    if request.simulated and (request.audit or request.page):
        raise SettingError("a simulated run has a test set: an audit sample is for projects that people answer")
    if request.page and (request.opens or request.first not in ("", "random")):
        raise SettingError(
            "a project for the page begins with texts that are drawn at random: leave first, weak and start_from out"
        )


def _check_opening(request: RunSpec) -> None:
    from actune.weak.label_models import LABEL_MODELS

    if request.first:
        _one_of("--first choice", request.first, FIRST)
    if request.first == BALANCED and not request.simulated:
        raise SettingError(
            "--first balanced is for simulations with known labels: use --first random, representatives, typiclust or "
            "alps"
        )
    _one_of("label model", request.label_model, LABEL_MODELS)
    if request.keep_weak and not (request.weak or request.names):
        raise SettingError("--keep-weak needs weak labels: add --weak, --votes FILE or --names")
    if request.opens and request.first:
        raise SettingError(
            "--first cannot be used with --weak, --votes, --names or --start-from, because their model selects the "
            "first texts"
        )
    if request.weak and request.start_from:
        raise SettingError("--weak (or --votes) and --start-from cannot be combined: choose one")
    if request.names and (request.weak or request.start_from):
        raise SettingError("--names cannot be combined with --weak, --votes or --start-from: choose one")


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
            f"the plan asks for {wanted:,} labels, but the pool has {pool:,} texts: lower --rounds or --batch"
        )


def check_reading(reading: Any) -> None:
    """How data is read is told by known words, each with a value of its kind."""
    known = {option.name: option for option in READING_OPTIONS}
    if not isinstance(reading, Mapping):
        raise SettingError(f"option 'reading' takes a mapping, not {told(reading)}")
    for name, value in reading.items():
        if name not in known:
            raise SettingError(f"reading has no option {told(name)}: {nearest(name, known)}")
        if value is not None:
            typed(known[name], list(value) if isinstance(value, tuple) else value)


def check_seed(seed: int) -> None:
    if seed < 0:
        raise SettingError(f"--seed must be 0 or more, not {told(seed)}")
    if seed >= LARGEST:
        raise SettingError(f"--seed must have at most 18 digits, not {told(seed)}")


def _one_of(what: str, name: str, known: Mapping[str, object]) -> None:
    if name not in known:
        raise SettingError(f"unknown {what} {name!r}: {nearest(name, known)}")
