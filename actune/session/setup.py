"""How a session comes to be: a request is checked and resolved, the first questions are chosen, the folder sealed."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any, TypedDict, Unpack

from actune.core.dialogue import Answer
from actune.core.pool import UNKNOWN, Pool
from actune.core.progress import Progress, silent
from actune.core.settings import Settings, Training, override, own_settings, split_changes
from actune.core.task import Plan, Task
from actune.data.splits import Reading
from actune.data.tasks import resolve
from actune.errors import DataError, RunFolderError, SettingError, nearest
from actune.methods.recipes import build
from actune.models.learners import check_learner, recipe_for
from actune.models.sources import KNOWN, find_model
from actune.session.config import Config, Request, Resolved
from actune.session.database import QuestionRow, Selection
from actune.session.first import first_rows
from actune.session.session import Session
from actune.session.store import Store, check_free

PRESETS = {"paper": "the method as the paper states it"}
HORIZON = 10  # of a project, which has no planned end


class Words(TypedDict, total=False):
    """What may be said about a run; what is left out is Request's default, or the task's."""

    source: str  # the name of the data, as the user gave it
    method: str
    preset: str
    model: str
    learner: str
    device: str
    initial: int | None
    batch: int | None
    rounds: int | None
    seed: int
    simulated: bool
    noise: float
    changes: Mapping[str, Any]
    reading: Mapping[str, Any]


def create(
    folder: str | Path,
    data: Task | Pool,
    *,
    round_seconds: float = 60.0,
    progress: Progress = silent,
    **words: Unpack[Words],
) -> Session:
    """A new run in `folder`. A pool alone is a project whose answers come from people; a task may be simulated."""
    task = data if isinstance(data, Task) else project_task(data)
    request = make_request(task, **words)
    check(request, task)
    check_free(Path(folder))  # before anything takes time
    config = resolve_request(request, task, round_seconds, progress)
    with Store.creating(Path(folder), config) as store:
        session = Session(store, task, progress)
        _fill(session)
    return session


def _fill(session: Session) -> None:
    """Texts, labels that are known already, and the first questions."""
    store, task, simulated = session.store, session.task, session.config.request.simulated
    if session.config.resolved.stored:
        for split, pool in (("pool", task.pool), ("dev", task.dev), ("test", task.test)):
            if pool is not None:
                # a person's project learns labels only through answers; a simulation keeps them for the oracle
                hidden = split == "pool" and not simulated
                labels = [UNKNOWN] * len(pool) if hidden else pool.labels
                store.database.add_texts(split, zip(pool.ids, pool.texts, labels, strict=True))
    if not simulated:
        known = task.pool.known_rows()
        session.tell([Answer(task.pool.ids[row], task.pool.classes[task.pool.labels[row]], by="file") for row in known])
    rows, how = first_rows(session)
    questions = [QuestionRow(0, row, None, None) for row in rows]
    store.database.commit(None, Selection(0, questions, {"round": 0, "asked": len(rows), "how": how}))


def open_session(folder: str | Path, progress: Progress = silent) -> Session:
    """The session of a run folder, ready to go on."""
    store = Store.open(Path(folder))
    config = store.config
    if config.resolved.stored:
        task = _stored_task(store)
    else:
        task = task_of(config.request.data, config.request.reading, config.request.seed)
        if fingerprint(task) != config.resolved.fingerprint:
            raise RunFolderError(f"the data of {config.request.data!r} is not what {str(folder)!r} was made with")
    return Session(store, task, progress)


def task_of(data: str, reading: Mapping[str, Any], seed: int) -> Task:
    """The task that a request's words name."""
    check_seed(seed)
    words = dict(reading)
    places = {name: words.pop(name, None) for name in ("dev", "test", "data_dir")}
    if words.get("classes") is not None:
        words["classes"] = tuple(words["classes"])
    return resolve(data, reading=Reading(**words), seed=seed, **places)


def project_task(pool: Pool, name: str = "project") -> Task:
    """A pool to be labelled by people: no dev, no test."""
    if len(pool.classes) < 2:
        raise DataError(
            f"a classifier needs at least two classes, not {len(pool.classes)}: name them with --labels a,b"
        )
    batch = max(1, min(50, max(len(pool.classes), len(pool) // 20), len(pool)))
    return Task(name, pool, None, None, own_settings(len(pool), len(pool.classes)), Plan(batch, batch, 0))


def make_request(task: Task, **words: Unpack[Words]) -> Request:
    """The request with everything that the user left open taken from the task."""
    said: dict[str, Any] = {name: value for name, value in words.items() if value is not None}
    rounds = task.plan.rounds if said.get("simulated") else 0
    usual = {"data": said.pop("source", task.name), "initial": task.plan.initial, "batch": task.plan.batch}
    changes = _plain(*split_changes(said.pop("changes", {})))
    model = said.get("model", "")
    if model and model not in KNOWN and Path(model).expanduser().is_dir():
        said["model"] = str(Path(model).expanduser().absolute())  # the run may be opened from another folder
    return Request(**{**usual, "rounds": rounds, **said, "changes": changes})


def _plain(method: Mapping[str, Any], training: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides as values of their own type, so that `K=20` and `regions=20.0` are the same request."""
    settings, training_values = override(Settings(), method), override(Training(), training)
    typed = {name: getattr(settings, name) for name in method}
    typed |= {name: getattr(training_values, name) for name in training}
    return dict(sorted(typed.items()))


def check(request: Request, task: Task) -> None:
    """One sentence for a request that cannot work, before anything is written or loaded."""
    if request.preset not in PRESETS:
        raise SettingError(f"unknown preset {request.preset!r}: {nearest(request.preset, PRESETS)}")
    build(request.method, task.settings)
    check_learner(request.learner)
    find_model(request.model)
    classes, pool = len(task.pool.classes), len(task.pool)
    if classes < 2:
        raise DataError("a classifier needs at least two classes, and the data has one only")
    if not 0 <= request.noise < 1:
        raise SettingError(f"--noise is a share from 0 up to 1, not {request.noise}")
    check_seed(request.seed)
    if min(request.initial, request.batch) < 1 or request.rounds < (1 if request.simulated else 0):
        raise SettingError("--initial, --batch and --rounds must be at least 1")
    if not request.simulated:
        return
    if request.initial < classes:
        raise SettingError(f"{request.initial} initial labels are too few for {classes} classes: raise --initial")
    wanted = request.initial + request.batch * (request.rounds - 1)
    if wanted > pool:
        raise SettingError(
            f"the plan asks for {wanted:,} labels, the pool has {pool:,} texts: lower --rounds or --batch"
        )


def check_seed(seed: int) -> None:
    if seed < 0:
        raise SettingError(f"--seed must not be negative, and {seed} is")


def resolve_request(request: Request, task: Task, round_seconds: float, progress: Progress) -> Config:
    """Everything that this machine and this data make of a request."""
    import torch

    from actune.models import precision
    from actune.models.encoders import choose_device

    device = choose_device(request.device)
    method_changes, training_changes = split_changes(request.changes)
    settings = override(task.settings, method_changes)
    own_batches = {name: size for name, size in task.training.items() if name not in training_changes}

    def training_of(learner: str, changes: Mapping[str, Any]) -> Training:
        return override(override(recipe_for(learner, device.type), own_batches), changes)

    learner, final, notes = request.learner, False, [*task.notes, *task.pool.notes]
    if learner == "auto":
        estimate = 0.0
        if device.type == "cpu":
            estimate = _estimate(
                request, task, settings.max_tokens, training_of("finetune", training_changes), progress
            )
        learner = "finetune" if estimate <= round_seconds else "probe"
        final = learner == "probe"
        if device.type == "cpu":
            notes.append(
                f"a round of fine-tuning on this CPU was estimated at {estimate:.0f} s: the learner is {learner}"
            )
    if task.dev is None:
        notes.append("there is no dev set: every fit keeps its last step")
    resolved = Resolved(
        classes=task.pool.classes,
        fingerprint=fingerprint(task),
        pool=len(task.pool),
        dev=len(task.dev) if task.dev else 0,
        test=len(task.test) if task.test else 0,
        stored=not task.bundled,
        horizon=request.rounds or HORIZON,
        learner=learner,
        device=str(device),
        threads=torch.get_num_threads(),
        precision=precision.name(device) if learner == "finetune" or final else "float32",
        final=final,
        model_found=find_model(request.model).found,
        notes=tuple(notes),
    )
    training = training_of(learner, training_changes)
    return Config(request, resolved, settings, training, training_of("finetune", {}), versions())


def _estimate(request: Request, task: Task, max_tokens: int, recipe: Training, progress: Progress) -> float:
    """Seconds that the longest planned round of fine-tuning would take here."""
    from actune.models.encoders import choose_device
    from actune.models.finetuning import FineTuning
    from actune.models.learners import estimate_round
    from actune.models.sources import fetch

    folder = fetch(find_model(request.model))
    learner = FineTuning(folder, len(task.pool.classes), max_tokens, recipe, choose_device(request.device))
    labels = request.initial + request.batch * ((request.rounds or HORIZON) - 1)
    trusts = build(request.method, task.settings).self_training is not None
    tokens = learner.prepare(task.pool.texts, progress)
    return estimate_round(learner, tokens, len(task.dev) if task.dev else 0, labels, trusts)


def fingerprint(task: Task) -> str:
    """A hash of all rows of all splits."""
    digest = sha256("\n".join(task.pool.classes).encode())
    for pool in (task.pool, task.dev, task.test):
        for row in zip(pool.ids, pool.texts, pool.labels, strict=True) if pool else ():
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
        digest.update(b"|")
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """What is installed and decides numbers."""
    from actune import __version__

    found = {"actune": __version__, "python": platform.python_version()}
    for name in ("torch", "transformers", "tokenizers", "numpy"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found


def _stored_task(store: Store) -> Task:
    pools = {}
    for split in ("pool", "dev", "test"):
        if rows := store.database.texts(split):
            ids, texts, labels = zip(*rows, strict=True)
            pools[split] = Pool(texts, ids, store.config.resolved.classes, labels)
    if "pool" not in pools:
        raise RunFolderError(f"{str(store.folder)!r} holds no texts")
    return Task(store.config.request.data, pools["pool"], pools.get("dev"), pools.get("test"), store.config.settings)
