"""How a session comes to be: a request is checked and resolved, the first questions are chosen, the folder sealed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from actune.core.checks import checked_folder, told
from actune.core.facts import QuestionRow, Selection
from actune.core.pool import Pool
from actune.core.printing import one_line
from actune.core.progress import Progress, silent
from actune.core.run_options import RunOptions
from actune.core.settings import own_settings
from actune.core.task import Plan, Task
from actune.data.formats import as_pool
from actune.data.frames import Data
from actune.data.splits import Reading, cut_pool
from actune.data.tasks import resolve
from actune.errors import DataError, RunFolderError, SettingError
from actune.methods.finding import MethodValue, is_named
from actune.methods.recipes import name_of
from actune.rounds.first import FIRST, FIRST_DRAW, drawn_rows, first_rows
from actune.session.config import Config, load_config
from actune.session.opening import LEARNT, NO_NAMES, WEIGHT, WeakLabels, named_labels, weak_labels
from actune.session.preparing import method_of
from actune.session.request import check, check_reading, check_seed, make_request
from actune.session.resolve import fingerprint, resolve_at_once, resolve_request
from actune.session.session import Session
from actune.store.records import Said
from actune.store.store import Store, check_free

LOG = logging.getLogger(__name__)
RELEASED_ROWS = 20_000  # of each class, on average
MOST_FIRST = 100  # questions before there is a model: a person with very many classes wants a model soon


def create(
    folder: str | Path,
    data: Task | Pool | Data,
    *,
    progress: Progress = silent,
    **options: Unpack[RunOptions],
) -> Session:
    """A new run in `folder`. A task may be simulated; the texts of a pool, a file or a frame are labelled by people.

    The options are those of `RunSpec` in core/spec.py, which docs/reference/options.md lists.
    """
    folder = checked_folder(folder)
    if not callable(progress):
        raise SettingError(
            f"progress must be a function with the arguments stage, done and total, not {told(progress)}"
        )
    check_reading(options.get("reading", {}))
    task = data if isinstance(data, Task) else project_task(as_pool(data, options.get("reading", {})))
    task = as_asked(task, options.get("no_dev"))
    request = make_request(task, **options)
    check(request, task)
    check_free(folder)  # before anything takes time
    if options.get("names") and not request.names:
        task = replace(task, notes=(*task.notes, NO_NAMES))
    weak = weak_labels(request, task) if request.weak else None
    config = resolve_at_once(request, task) if request.page else resolve_request(request, task, progress, weak)
    with Store.creating(folder, options.get("store") or "") as store:
        session = Session(store, config, task, progress)
        session.method = method_of(config)  # now, so that a mistake in it is told at once
        _fill(session, weak)
        store.seal(config.dumps())
    LOG.info(
        "created %s: method %s, learner %s", one_line(str(folder)), one_line(request.method), config.resolved.learner
    )
    for note in (*task.notes, *config.resolved.notes):
        LOG.info("note: %s", one_line(note))
    return session


def create_project(folder: str | Path, progress: Progress = silent, **options: Unpack[RunOptions]) -> Session:
    """A new project on the data that the options name. Labels that the data has already become answers."""
    reading = {**options.get("reading", {}), "hold_out_dev": 0, "hold_out_test": 0}
    found = find_task(options["source"], reading, options.get("seed", 0))
    task = replace(project_task(found.pool, found.name), dev=found.dev, test=found.test, notes=found.notes)
    return create(folder, task, progress=progress, **options)


def _fill(session: Session, weak: WeakLabels | None) -> None:
    """Texts, labels that are known already, votes of rules, and the first questions."""
    store, task, simulated = session.store, session.task, session.config.request.simulated
    if session.config.resolved.stored:
        for split, pool in (("pool", task.pool), ("dev", task.dev), ("test", task.test)):
            if pool is not None:
                # a person's project learns labels only through answers; a simulation keeps them for the oracle
                hidden = split == "pool" and not simulated
                store.add_texts(split, pool.unlabelled() if hidden else pool)
    if not simulated:
        known = task.pool.known_rows()
        store.tell([Said(row, "label", int(task.pool.labels[row]), "file") for row in known])
    if session.config.request.names:
        weak = named_labels(session.config.request, session.prepared)
    if weak is not None:
        weak.save(store)
    if session.config.request.opens and not session.config.request.keep_weak:
        store.set_fact(WEIGHT, LEARNT)
    store.declare_classes(task.pool.classes, by="start")
    session.find_groups(only_small=session.config.request.page)  # a page must be there at once
    session.draw_audit()
    request, labels = session.config.request, session.training_labels()
    if request.page:
        rows, how = drawn_rows(task.pool, labels, FIRST_DRAW, request.seed, (), session.group_of), FIRST["random"]
    else:
        rows, how = first_rows(request, task.pool, labels, lambda: session.prepared, session.group_of)
    questions = session.to_ask([QuestionRow(0, row, None, None) for row in rows])
    store.commit(selection=Selection(0, questions, how))


def open_session(
    folder: str | Path, progress: Progress = silent, method: str | MethodValue | None = None, store: str = ""
) -> Session:
    """The session of a run folder, ready to go on.

    A method that was given by value or as `module:name` must be given again to advance. `store` is the address of the
    run's PostgreSQL database as another user or with a password; without it the folder's own address counts.
    """
    folder = checked_folder(folder)
    config = load_config(folder)
    request, origin = config.request, config.resolved.method_origin
    if method is not None and not is_named(method, request.method, origin):
        raise RunFolderError(
            f"{str(folder)!r} was created with the method {request.method!r}, not {name_of(method)!r}: pass "
            f"{request.method!r}, or choose another folder"
        )
    opened = Store.open(folder, store)
    if config.resolved.stored:
        task = _stored_task(opened, config)
    else:
        found = find_task(config.request.data, config.request.reading, config.request.seed, config.request.preset)
        task = as_asked(found, config.request.no_dev)
        if fingerprint(task) != config.resolved.fingerprint:
            raise RunFolderError(
                f"{config.request.data!r} has changed since {str(folder)!r} was created: restore the data"
            )
    check_counts(opened, config)
    session = Session(opened, config, task, progress)
    if method is not None:
        session.method = method_of(config, named=method if isinstance(method, str) else "")
    return session


def as_asked(task: Task, no_dev: bool | None) -> Task:
    """The task with the splits that a run uses."""
    return task.without_dev() if no_dev else task


def find_task(data: str, reading: Mapping[str, Any], seed: int, preset: str = "paper") -> Task:
    """The task that a request's words name; the authors' scripts cut its pool to 20,000 rows a class."""
    check_seed(seed)
    check_reading(reading)
    words = dict(reading)
    places = {name: words.pop(name, None) for name in ("dev", "test", "data_dir")}
    if words.get("classes") is not None:
        words["classes"] = tuple(words["classes"])
    task = resolve(data, reading=Reading(**words), seed=seed, **places)
    most = RELEASED_ROWS * len(task.pool.classes)
    if preset != "released" or len(task.pool) <= most:
        return task
    pool, notes = cut_pool(task.pool, most, seed)
    return replace(task, pool=pool, notes=(*task.notes, *(f"{note}: preset released" for note in notes)))


def project_task(pool: Pool, name: str = "project") -> Task:
    """A pool to be labelled by people: no dev, no test. The first batch may have a text of every class."""
    if len(pool.classes) < 2:
        raise DataError(
            f"a classifier needs at least two classes, not {len(pool.classes)}: list them with --labels a,b"
        )
    batch = max(1, min(50, max(len(pool.classes), len(pool) // 20), len(pool)))
    initial = max(batch, min(len(pool.classes), MOST_FIRST, len(pool)))
    return Task(name, pool, None, None, own_settings(len(pool), len(pool.classes)), Plan(initial, batch, 0))


def check_counts(store: Store, config: Config) -> None:
    """One sentence where parts of a folder are not of the same run, or of different times."""
    fitted, selected, classes = store.rounds(), store.selection_count(), len(config.resolved.classes)
    ever = len(class_names(store, config))
    known = len({change.class_number for change in store.class_changes() if change.kind == "add"})
    models = [model.round for model in store.models() if model.kind == "round"]
    wrong = ""
    if selected - len(fitted) not in (0, 1):
        wrong = f"{len(fitted)} finished rounds, and questions for {selected}"
    elif max(models, default=-1) >= len(fitted):
        wrong = f"a model of round {max(models)}, and {len(fitted)} finished rounds"
    elif known and known < classes:
        wrong = f"{known} classes, and run.toml has {classes}"
    elif any(len(facts.class_counts) > ever for facts in fitted):
        wrong = f"more classes than the {ever} of this run"
    if wrong:
        todo = f"run `actune verify {store.folder}`, or restore a backup"
        raise RunFolderError(f"the database of {str(store.folder)!r} has {wrong}: {todo}")


def class_names(store: Store, config: Config) -> tuple[str, ...]:
    """A name for every class number that there ever was; runs of earlier versions declared none in their database."""
    names = store.class_state().all_names
    return names if len(names) >= len(config.resolved.classes) else config.resolved.classes


def _stored_task(store: Store, config: Config) -> Task:
    pools = {}
    for split in ("pool", "dev", "test"):
        if store.text_count(split):
            pools[split] = store.texts(split, class_names(store, config))
    if "pool" not in pools:
        raise RunFolderError(f"{str(store.folder)!r} has no texts: restore it from a backup")
    return Task(config.request.data, pools["pool"], pools.get("dev"), pools.get("test"), config.settings)
