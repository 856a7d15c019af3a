"""run.toml: what a run was asked to be, and everything that was resolved from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from actune.core import toml
from actune.core.checks import checked_classes, told
from actune.core.options import from_tables, options_of, tables_of
from actune.core.places import is_folder, is_regular
from actune.core.settings import Settings, Training, Values, full_name, override, split_changes
from actune.core.shapes import LARGEST, WrongShape, shaped, value_of
from actune.core.spec import READING_OPTIONS, RunSpec
from actune.errors import RunFolderError, UserError, nearest
from actune.store.store import FILE

FORMAT = 1
RESTORE = "restore it from a backup"
NUMBERS: dict[str, tuple[float, float]] = {
    "audit": (0, LARGEST),
    "audit_every": (2, LARGEST),
    "initial": (1, LARGEST),
    "batch": (1, LARGEST),
    "rounds": (0, 1_000_000),
    "seed": (0, LARGEST),
    "noise": (0, 1),
    "adapt": (0, LARGEST),
    "round_seconds": (0, LARGEST),
    "horizon": (1, 1_000_000),
    "pool": (0, LARGEST),
    "dev": (0, LARGEST),
    "test": (0, LARGEST),
    "threads": (1, 65_536),
}
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
    if not is_folder(folder):
        raise RunFolderError(
            f"there is no folder {str(folder)!r}: check the path, or create a project with `actune start`"
        )
    if not is_regular(file):
        raise RunFolderError(f"{str(folder)!r} is not a run folder: it has no {FILE}")
    return config_of(_tables_in(file), repr(str(file)))


def _tables_in(file: Path) -> dict[str, Any]:
    """What a run.toml says, unless a newer version wrote it."""
    tables = toml.read(file, follow=False)
    try:
        found = int(tables["format"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise RunFolderError(f"{str(file)!r} cannot be read ({_why(error)}): {RESTORE}") from error
    if found > FORMAT:
        raise RunFolderError(
            f"{str(file.parent)!r} was written by a newer version of actune (format {found}, this one reads {FORMAT}): "
            "upgrade actune"
        )
    return tables


def config_of(tables: Mapping[str, Any], source: str) -> Config:
    """The configuration that the tables of a run.toml say; `source` is what sentences call them."""
    try:
        config = Config(
            request=from_tables(RunSpec, tables),
            resolved=shaped(Resolved, tables.get("resolved"), "resolved"),
            settings=_numbers(Settings(), tables.get("settings"), "settings"),
            training=_training(tables.get("training"), "training"),
            final_training=_training(tables.get("final_training"), "final_training"),
            versions=value_of(Mapping[str, str], tables.get("versions"), "versions"),
        )
        check_config(config)
    except (WrongShape, UserError, OverflowError) as error:
        raise RunFolderError(f"{source} is incomplete or was changed by hand ({error}): {RESTORE}") from error
    return config


def check_config(config: Config) -> None:
    """One sentence for a number that no run has, and for names that are not what they should be."""
    for values in (config.request, config.resolved):
        for name, (low, high) in NUMBERS.items():
            if (value := getattr(values, name, low)) is not None and not low <= value <= high:
                raise WrongShape(f"{name} must be between {low:g} and {high:g}, not {told(value)}")
    if len(checked_classes(config.resolved.classes)) < 2 and not config.request.page:
        raise WrongShape("classes must be two or more")
    for name, value in config.request.reading.items():
        if name not in (known := [option.name for option in READING_OPTIONS]):
            raise WrongShape(f"reading has no option {told(name)}: {nearest(str(name), known)}")
        if isinstance(value, list):
            checked_classes(value)
    method, training = split_changes(config.request.changes)
    override(Settings(), method)
    override(Training(), training)
    if "actune" not in config.versions:
        raise WrongShape("versions.actune is missing")


def _training(table: Any, place: str) -> Training:
    if not isinstance(table, dict):
        raise WrongShape(f"{place} must be a table, not {told(table)}")
    return _numbers(Training(), WITHOUT_THE_SETTING | table, place) if table else Training()


def _numbers(usual: Values, table: Any, place: str) -> Values:
    """Settings by the names that they have now, each of its type and in its range."""
    if isinstance(table, Mapping):
        table = {full_name(name): value for name, value in table.items()}
    return override(usual, asdict(shaped(type(usual), table, place)))


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


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
