"""A cell: one run of a grid, with a key that is a hash of everything that decides its result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from actune import __version__
from actune.bench.grid import Grid, Point
from actune.bench.vocabulary import RUN_SETTINGS
from actune.core.options import options_of
from actune.core.run_options import RunOptions
from actune.core.settings import FORMER_NAMES, Settings, Training, split_changes
from actune.core.spec import RunSpec
from actune.core.task import Task
from actune.data.splits import labelled_only
from actune.data.tasks import cards, find_folder
from actune.errors import DataError, SettingError
from actune.methods.recipes import build, find
from actune.models.learners import find_learner
from actune.models.signals import check_layers, check_signals
from actune.models.sources import encoder_digest, fetch, find_model
from actune.models.starting import model_in
from actune.session.opening import LEARNT
from actune.session.request import check, check_reading, make_request
from actune.session.resolve import fingerprint, settings_of, training_of
from actune.session.setup import find_task
from actune.session.votes import find_votes
from actune.store.store import newest_model_in

RESULTS = 2  # raised when a fix changes what cells come out with, so that older ones are not taken for finished

# options that a key holds in another form, or not at all
ELSEWHERE = ("data", "model", "learner", "recipe", "seed", "device", "changes", "reading")
# options that a key holds at their defaults too; a later one counts only where it is changed, so finished cells stay so
ALWAYS = (
    *("method", "preset", "initial", "batch", "rounds", "simulated", "noise", "adapt", "first"),
    *("weak", "label_model", "keep_weak", "start_from"),
)


@dataclass(frozen=True)
class CellDevice:
    """What cells run on: two machines that agree on this give one cell one key."""

    kind: str  # cpu or cuda
    threads: int = 1  # of a cell; they decide the last bits on a CPU, and nothing on a GPU
    precision: str = "float32"


@dataclass(frozen=True)
class Cell:
    """One run: where it stands in the grid, what to ask of a session, and what its data must be."""

    key: str
    point: Point
    options: RunOptions
    spec: Mapping[str, Any]  # what a table must say about its run
    data: str  # a hash
    group: str  # cells that may share a first model
    fits: int
    labels: int
    steps: int  # of training, about
    reads: int  # texts that are read, about
    device: CellDevice


def plan(grid: Grid, device: CellDevice, data_dir: Path | None = None) -> list[Cell]:
    """All cells of a grid, each checked as its session would be: what cannot work is one sentence now."""
    grid.check_code()
    planner = _Planner(device, data_dir)
    cells: dict[str, Cell] = {}
    for point in grid.points:
        cell = planner.cell(point)
        if cell.key in cells:
            raise SettingError(
                f"two cells of the grid are the same run: {cells[cell.key].point.name} and "
                f"{point.name}; remove one of them"
            )
        cells[cell.key] = cell
    return list(cells.values())


def plan_some(
    grid: Grid, only: Sequence[str], device: CellDevice, data_dir: Path | None = None
) -> tuple[list[Cell], list[Cell], str]:
    """All cells, those that `only` leaves, and a word where the others lack data here: a machine may have its share."""
    chosen, note = grid.only(only), ""
    try:
        cells = plan(grid, device, data_dir)
    except DataError as error:
        if not only:
            raise
        cells = plan(chosen, device, data_dir)
        note = f"the other cells of the grid are not counted, because their data cannot be read here: {error}"
    wanted = {point.coordinates for point in chosen.points}
    return cells, [cell for cell in cells if cell.point.coordinates in wanted], note


def load(data: str, reading: Mapping[str, Any], seed: int, preset: str, data_dir: Path | None = None) -> Task:
    """The data of a cell."""
    place = {"data_dir": str(data_dir)} if data_dir is not None and data in cards() else {}
    return labelled_only(find_task(data, {**reading, **place}, seed, preset))


def data_digest(task: Task) -> str:
    """What tells data from any other: the published checksums of a named set, the rows themselves otherwise.

    How the seed draws dev rows and a sample from published files is not part of it: the seed itself is part of a key.
    """
    if not task.bundled:
        return fingerprint(task)
    files = {part: facts["sha256"] for part, facts in cards()[task.name].files.items()}
    return _hash({**files, "pool": len(task.pool)})


class _Planner:
    """Loads each data set and hashes each encoder once."""

    def __init__(self, device: CellDevice, data_dir: Path | None) -> None:
        self.device = device
        self.data_dir = data_dir
        self._tasks: dict[str, tuple[Task, str]] = {}
        self._voted: set[tuple[str, str]] = set()
        self._encoder = cache(lambda model: fetch(find_model(model)))
        self._digest = cache(encoder_digest)
        self._check_signals = cache(_check_signals)

    def cell(self, point: Point) -> Cell:
        task, data = self._task(point)
        options = options_for(point, self.device.kind)
        request = make_request(task, **options)
        # whole paths
        options |= {"model": request.model, "weak": request.weak, "start_from": request.start_from}
        if request.names:
            options["names"] = request.names
        try:
            check(request, task)
        except SettingError as error:
            raise SettingError(f"{point.name}: {error}") from None
        self._check_votes(request, task, data)
        training = training_of(request, task, request.learner, self.device.kind, split_changes(request.changes)[1])
        settings = settings_of(request, task)
        encoder = self._encoder(request.model)
        self._check_signals(request.method, request.learner, encoder, training.train_layers, bool(request.adapt))
        shared = {
            "results": RESULTS,
            "data": data,
            "model": self._digest(encoder),
            "learner": request.learner,
            "seed": request.seed,
            **version_of(request.learner),
        }
        identity = {
            "actune": __version__,
            "request": _portable(request),
            "settings": _unusual(settings),
            "training": _unusual(training),
            "device": asdict(self.device if self.device.kind == "cpu" else replace(self.device, threads=0)),
            **shared,
        }
        if request.opens and not request.keep_weak:
            identity["weak_weight"] = LEARNT  # earlier versions forgot weak labels after the first model
        if (version := find(request.method).version) > 1:
            identity["version"] = version
        return Cell(
            key=_hash(identity),
            point=point,
            options=options,
            spec=spec_of(request, settings, training),
            data=data,
            group=_hash(shared),
            fits=request.fits,
            labels=request.batch * (request.rounds - 1) + (request.batch if request.opens else request.initial),
            steps=steps_of(request, training),
            reads=request.fits * (len(task.pool) + len(task.test or ())),
            device=self.device,
        )

    def _check_votes(self, request: RunSpec, task: Task, data: str) -> None:
        if request.weak and (data, request.weak) not in self._voted:
            place = {"data_dir": self.data_dir} if self.data_dir else {}
            find_votes(request.weak, task, {**request.reading, **place}, request.data)
            self._voted.add((data, request.weak))

    def _task(self, point: Point) -> tuple[Task, str]:
        """Published files are the same under every seed, but for which rows are drawn; other data may not be."""
        check_reading(point.reading)
        named = cards().get(point.data)
        published = named is not None and find_folder(named, self.data_dir) is not None  # and not from the hub
        seed = None if published else point.seed
        name = json.dumps([point.data, dict(point.reading), point.preset, seed])
        if name not in self._tasks:
            task = load(point.data, point.reading, point.seed, point.preset, self.data_dir)
            self._tasks[name] = task, data_digest(task)
        return self._tasks[name]


def version_of(learner: str) -> dict[str, int]:
    """What tells a learner's results from those of its earlier versions; nothing for a first version."""
    version = find_learner(learner).version
    return {"learner_version": version} if version > 1 else {}


def spec_of(request: RunSpec, settings: Settings, training: Training) -> dict[str, Any]:
    """What decides a run, whatever the machine: of rules and of a model to start from only whether there are any."""
    said = {name: getattr(request, name) for name, option in options_of(RunSpec).items() if option.recorded}
    asked = {name: value for name, value in said.items() if name not in ELSEWHERE}
    started = {name: bool(said[name]) for name in ("weak", "start_from", "names")}
    place = {name: said[name] for name in ("learner", "seed")}
    return {**asked, **started, **place, "settings": _unusual(settings), "training": _unusual(training)}


def steps_of(request: RunSpec, training: Training) -> int:
    """The training steps of a whole run, about: how many rows a teacher or rules give is not known before."""
    from actune.models.training import steps_alone, steps_with

    method = build(request.method, Settings())
    steps = training.most_steps if request.opens else 0
    for round in range(request.rounds):
        labels = request.batch * (round + 1) if request.opens else request.initial + request.batch * round
        trusts = method.self_training is not None and (method.teacher or round or request.opens)
        generations = method.teacher.generations if method.teacher else 1
        steps += steps_with(labels, method.objective, training) * generations * bool(trusts)
        steps += steps_alone(labels, training) * bool(method.teacher or not trusts)
    return steps


def options_for(point: Point, device: str) -> RunOptions:
    """A cell as the options of a run."""
    options: RunOptions = {
        "source": point.data,
        "method": point.method,
        "model": point.model,
        "learner": point.learner,
        "seed": point.seed,
        "device": device,
        "simulated": True,
        "changes": {name: value for name, value in point.settings.items() if name not in RUN_SETTINGS},
        "reading": dict(point.reading),
    }
    said = {name: value for name, value in point.settings.items() if name in RUN_SETTINGS}
    return cast("RunOptions", {**options, **said})


def _unusual(values: Settings | Training) -> dict[str, Any]:
    """What is not at its default: so a setting that comes later leaves the keys of finished cells as they are.

    A setting that was renamed has its first name here, for the same reason.
    """
    usual, first_names = asdict(type(values)()), {name: former for former, name in FORMER_NAMES.items()}
    return {first_names.get(name, name): value for name, value in asdict(values).items() if value != usual[name]}


def _portable(request: RunSpec) -> dict[str, Any]:
    """What was asked for without the places of files on this machine; of a file what it holds."""
    said = {
        name: getattr(request, name)
        for name, option in options_of(type(request)).items()
        if option.recorded and name not in ELSEWHERE
        if name in ALWAYS or getattr(request, name) != option.default
    }
    if (votes := Path(request.weak)).is_file():
        said["weak"] = sha256(votes.read_bytes()).hexdigest()
    if (described := Path(request.names)).suffix and described.is_file():
        said["names"] = sha256(described.read_bytes()).hexdigest()
    if request.start_from:
        said["start_from"] = encoder_digest(model_in(newest_model_in(Path(request.start_from))))
    return said


def _check_signals(method: str, learner: str, encoder: Path, train_layers: int, adapted: bool) -> None:
    """As a session does, but that an encoder which is still to be adapted will have a masked-language-model head."""
    if train_layers and find_learner(learner).trains_layers:
        check_layers(encoder, train_layers)
    needs = [signal for signal in find(method).needs if not (adapted and signal == "masked language model")]
    check_signals(method, needs, learner, encoder, train_layers)


def _hash(facts: Mapping[str, Any]) -> str:
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
