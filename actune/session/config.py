"""run.toml: what a run was asked to be, and everything that was resolved from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from actune.core import toml
from actune.core.options import from_tables, options_of, tables_of
from actune.core.settings import Settings, Training, full_name
from actune.core.spec import RunSpec
from actune.errors import RunFolderError, SettingError
from actune.store.store import FILE

FORMAT = 1
WITHOUT_THE_SETTING = {"no_fewer_steps": False}  # how runs were trained that are older than a setting of training


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
    method_origin: str = ""  # of a method that is not actune's own: `package NAME`, `place MODULE:NAME` or `value`


@dataclass(frozen=True)
class Config:
    """One run's whole configuration."""

    request: RunSpec
    resolved: Resolved
    settings: Settings
    training: Training
    final_training: Training
    versions: Mapping[str, str]

    def extended_to(self, rounds: int) -> Config:
        """The same run with more rounds; the horizon stays."""
        return replace(self, request=replace(self.request, rounds=rounds))

    def dumps(self) -> str:
        return toml.dumps(
            {
                "format": FORMAT,
                **tables_of(self.request),
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
        raise RunFolderError(
            f"there is no folder {str(folder)!r}: check the path, or create a project with `actune start`"
        )
    if not file.is_file():
        raise RunFolderError(f"{str(folder)!r} is not a run folder: it has no {FILE}")
    tables = toml.read(file)
    try:
        found = int(tables["format"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise RunFolderError(f"{str(file)!r} cannot be read: {error}") from error
    if found > FORMAT:
        raise RunFolderError(
            f"{str(folder)!r} was written by a newer version of actune (format {found}, this one reads {FORMAT}): "
            "upgrade actune"
        )
    return config_of(tables, repr(str(file)))


def config_of(tables: Mapping[str, Any], source: str) -> Config:
    """The configuration that the tables of a run.toml say; `source` is what sentences call them."""
    try:
        return Config(
            request=from_tables(RunSpec, tables),
            resolved=Resolved(**_tuples(tables["resolved"])),
            settings=Settings(**_renamed(tables["settings"])),
            training=_training(tables["training"]),
            final_training=_training(tables["final_training"]),
            versions=tables["versions"],
        )
    except (KeyError, TypeError, SettingError) as error:
        raise RunFolderError(f"{source} is incomplete or was changed by hand: {error}") from error


def _training(table: dict[str, Any]) -> Training:
    return Training(**WITHOUT_THE_SETTING | _renamed(table)) if table else Training()


def _renamed(table: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the names that they have now."""
    return {full_name(name): value for name, value in table.items()}


def differences(old: RunSpec, new: RunSpec) -> list[str]:
    """What two specs disagree on, as sentences for the user. More rounds than before is not a difference."""
    changed: list[tuple[str, Any, Any]] = []
    for name, option in options_of(type(new)).items():
        before, now = getattr(old, name), getattr(new, name)
        if not option.recorded or (name == "rounds" and now >= before):
            continue
        if isinstance(before, Mapping):
            keys = sorted({*before, *now})
            changed += [(option.spelled_for(key), before.get(key), now.get(key)) for key in keys]
        else:
            changed.append((option.spelled, before, now))
    return [
        f"{spelled} was {_told(before)} when this run was created, and is {_told(now)} now"
        for spelled, before, now in changed
        if before != now
    ]


def _told(value: Any) -> str:
    if value is None or value is False or value == "":
        return "not set"
    return "set" if value is True else str(value)


def _tuples(table: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
