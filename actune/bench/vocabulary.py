"""What a grid may set: the options of a run, and the settings of methods and training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from actune.core.options import Place, options_at, typed
from actune.core.places import base_name
from actune.core.settings import SYMBOLS, Settings, Training, full_name, override, split_changes
from actune.core.spec import RunSpec
from actune.errors import SettingError, nearest

# task, method, model, learner and seed are the grid's axes, and the device is the command's
RUN_SETTINGS = options_at(RunSpec, Place.GRID)


def checked_settings(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The same settings under their full names and in their own types."""
    settings: dict[str, Any] = {}
    for name, value in table.items():
        if name in RUN_SETTINGS:
            settings[name] = typed(RUN_SETTINGS[name], value, "setting")
        elif full_name(name) in {**asdict(Settings()), **asdict(Training())}:
            method, training = split_changes({name: value})
            settings |= {word: getattr(override(Settings(), method), word) for word in method}
            settings |= {word: getattr(override(Training(), training), word) for word in training}
        else:
            known = [*RUN_SETTINGS, *asdict(Settings()), *asdict(Training()), *SYMBOLS]
            raise SettingError(f"{where} has an unknown setting {name!r}: {nearest(name, known)}")
    return settings


def variant_of(changed: Mapping[str, Any], weak: bool) -> str:
    """What differs from a plain cell, in one canonical text: `weak beta=0.25`."""
    words = ["weak"] if weak else []
    words += [f"{name}={_short(changed[name])}" for name in sorted(changed) if name != "weak"]
    return " ".join(words)


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else base_name(str(value))


def one_of(what: str, word: str, known: Iterable[str]) -> None:
    """One sentence for a word that is none of the known ones."""
    if word not in (known := list(known)):
        raise SettingError(f"{what} no {word!r}: {nearest(word, known)}")


def words_in(value: Any) -> list[Any]:
    """A single value is a list of one."""
    return value if isinstance(value, list) else [value]
