"""run.toml: what a run was asked to be, and everything that was resolved from it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from actune.core.settings import Settings, Training
from actune.errors import RunFolderError
from actune.session import toml
from actune.store.store import FILE

FORMAT = 1
BEFORE = {"as_long": False}  # what folders from before a setting was there went without


@dataclass(frozen=True)
class Request:
    """What the user asked for: two runs with equal requests are the same run."""

    data: str
    method: str = "auto"
    preset: str = "paper"
    model: str = "minilm"
    learner: str = "auto"
    device: str = "auto"
    initial: int = 100
    batch: int = 100
    rounds: int = 0  # fine-tunings; 0 is a project that goes on as long as its people want
    seed: int = 0
    simulated: bool = False
    noise: float = 0.0  # share of wrong answers that a simulated oracle gives
    adapt: int = 0  # steps of masked-language-model training on the pool before round 0
    first: str = ""  # how to choose what to ask before there is a model
    weak: str = ""  # votes of rules that the first model learns from: own, or a file
    label_model: str = "em"  # how these votes become one label
    keep_weak: bool = False  # weak labels stay in training until a person overrules them
    start_from: str = ""  # a folder with a classifier that is the first model
    changes: Mapping[str, Any] = field(default_factory=dict)  # --set
    reading: Mapping[str, Any] = field(default_factory=dict)  # columns, splits, folders

    @property
    def opens(self) -> bool:
        """Whether there is a first model before anybody has answered: entry 0 of the curve, at 0 labels."""
        return bool(self.weak or self.start_from)

    @property
    def fits(self) -> int:
        """Planned models: one a round, and the first one where it needs no answers; 0 without a plan."""
        return self.rounds + (self.opens if self.rounds else 0)


@dataclass(frozen=True)
class Resolved:
    """What the request became on this machine, kept so that a later process does the same."""

    classes: tuple[str, ...]
    fingerprint: str
    pool: int
    dev: int
    test: int
    stored: bool  # the texts lie in the run's own database
    horizon: int  # T of m_t
    learner: str
    device: str
    threads: int
    precision: str
    final: bool  # the encoder is fine-tuned once at the end
    model_found: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Config:
    """One run's whole configuration."""

    request: Request
    resolved: Resolved
    settings: Settings
    training: Training
    final_training: Training
    versions: Mapping[str, str]

    def extended_to(self, rounds: int) -> Config:
        """The same run with more rounds; the horizon stays."""
        return replace(self, request=replace(self.request, rounds=rounds))

    def dumps(self) -> str:
        request = {k: v for k, v in asdict(self.request).items() if k not in ("changes", "reading")}
        return toml.dumps(
            {
                "format": FORMAT,
                "request": request,
                "set": dict(self.request.changes),
                "reading": dict(self.request.reading),
                "resolved": asdict(self.resolved),
                "settings": asdict(self.settings),
                "training": asdict(self.training),
                "final_training": asdict(self.final_training) if self.resolved.final else {},
                "versions": dict(self.versions),
            }
        )


def load_config(folder: Path) -> Config:
    """The configuration of a run folder, or one sentence that says why it is none."""
    file = folder / FILE
    if not folder.is_dir():
        raise RunFolderError(f"there is no folder {str(folder)!r}")
    if not file.is_file():
        raise RunFolderError(f"{str(folder)!r} is not a run: it has no {FILE}")
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
        found = int(tables["format"])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise RunFolderError(f"{str(file)!r} cannot be read: {error}") from error
    if found > FORMAT:
        raise RunFolderError(
            f"{str(folder)!r} was written by a newer version of actune (format {found}, this one reads {FORMAT}): "
            "upgrade"
        )
    try:
        return Config(
            request=Request(**tables["request"], changes=tables["set"], reading=tables["reading"]),
            resolved=Resolved(**_tuples(tables["resolved"])),
            settings=Settings(**tables["settings"]),
            training=_training(tables["training"]),
            final_training=_training(tables["final_training"]),
            versions=tables["versions"],
        )
    except (KeyError, TypeError) as error:
        raise RunFolderError(f"{str(file)!r} is incomplete or was changed by hand: {error}") from error


def _training(table: dict[str, Any]) -> Training:
    return Training(**BEFORE | table) if table else Training()


def differences(old: Request, new: Request) -> list[str]:
    """What two requests disagree on, in the user's words. More rounds than before is not a difference."""
    lines = []
    for name in (entry.name for entry in fields(Request)):
        before, now = getattr(old, name), getattr(new, name)
        if name == "rounds" and now >= before:
            continue
        if isinstance(before, Mapping):
            keys = sorted({*before, *now})
            lines += [
                f"{key} is {before.get(key, 'not set')} there, {now.get(key, 'not set')} here"
                for key in keys
                if before.get(key) != now.get(key)
            ]
        elif before != now:
            lines.append(f"--{name.replace('_', '-')} is {before or 'not set'} there, {now or 'not set'} here")
    return lines


def _tuples(table: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
