"""The words that a grid may set: those of a request, and the settings of methods and training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from actune.core.settings import SYMBOLS, Settings, Training, override, split_changes
from actune.errors import SettingError, nearest

# of a request; task, method, model, learner and seed are the grid's axes, and the device is the command's
WORDS: dict[str, type] = {
    "preset": str,
    "initial": int,
    "batch": int,
    "rounds": int,
    "noise": float,
    "adapt": int,
    "first": str,
    "weak": str,
    "label_model": str,
    "keep_weak": bool,
    "start_from": str,
}
TYPE_NAMES = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def checked_settings(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The same settings under their full names and in their own types."""
    settings: dict[str, Any] = {}
    for name, value in table.items():
        if name in WORDS:
            settings[name] = _word(name, value)
        elif SYMBOLS.get(name, name) in {**asdict(Settings()), **asdict(Training())}:
            method, training = split_changes({name: value})
            settings |= {word: getattr(override(Settings(), method), word) for word in method}
            settings |= {word: getattr(override(Training(), training), word) for word in training}
        else:
            known = [*WORDS, *asdict(Settings()), *asdict(Training()), *SYMBOLS]
            raise SettingError(f"{where} has an unknown setting {name!r}: {nearest(name, known)}")
    return settings


def _word(name: str, value: Any) -> Any:
    kind = WORDS[name]
    if name == "weak" and isinstance(value, bool):
        return "own" if value else ""
    whole = kind is float and type(value) is int
    if type(value) is not kind and not whole:
        raise SettingError(f"setting {name!r} takes {TYPE_NAMES[kind]}, not {value!r}")
    return kind(value)


def variant_of(changed: Mapping[str, Any], weak: bool) -> str:
    """What differs from a plain cell, in one canonical text: `weak beta=0.25`."""
    words = ["weak"] if weak else []
    words += [f"{name}={_short(changed[name])}" for name in sorted(changed) if name != "weak"]
    return " ".join(words)


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def one_of(what: str, word: str, known: Iterable[str]) -> None:
    """One sentence for a word that is none of the known ones."""
    if word not in (known := list(known)):
        raise SettingError(f"{what} no {word!r}: {nearest(word, known)}")


def words_in(value: Any) -> list[Any]:
    """A single value is a list of one."""
    return value if isinstance(value, list) else [value]
