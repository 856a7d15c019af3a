"""Values that came out of a file, as the types that annotations name: anything else is one short sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from actune.core.checks import KIND_NAMES, told

LARGEST = 2**63 - 1  # of a whole number, as databases and arrays have them
Record = TypeVar("Record")


class WrongShape(ValueError):
    """What is wrong with a value, and where: whoever knows the file makes a sentence of it."""


def shaped(kind: type[Record], found: Any, place: str = "") -> Record:
    """The dataclass that a mapping says, each field of its annotated type; lists become tuples."""
    if not isinstance(found, Mapping):
        raise WrongShape(f"{place or 'it'} must be a table, not {told(found)}")
    kinds, values = _kinds(cast(Any, kind)), {}
    for name in found:
        if name not in kinds:
            raise WrongShape(f"{_inside(place, name)} is unknown")
    for entry in fields(kind):  # type: ignore[arg-type]
        if entry.name in found:
            values[entry.name] = value_of(kinds[entry.name], found[entry.name], _inside(place, entry.name))
        elif entry.default is MISSING and entry.default_factory is MISSING:
            raise WrongShape(f"{_inside(place, entry.name)} is missing")
    return kind(**values)


def value_of(kind: Any, value: Any, place: str) -> Any:
    """A value of an annotated type."""
    origin, words = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):
        if value is None and NoneType in words:
            return None
        (kind,) = [word for word in words if word is not NoneType]
        return value_of(kind, value, place)
    if is_dataclass(kind):
        return shaped(kind, value, place)  # type: ignore[arg-type]
    if origin is Literal:
        if value not in words:
            raise WrongShape(f"{place} must be one of {', '.join(map(str, words))}, not {told(value)}")
        return value
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise WrongShape(f"{place} must be a list, not {told(value)}")
        return tuple(value_of(words[0], each, f"{place}[{number}]") for number, each in enumerate(value))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise WrongShape(f"{place} must be a table, not {told(value)}")
        return {name: value_of(words[1], each, _inside(place, name)) for name, each in value.items()}
    return _plain(kind, value, place)


def _plain(kind: Any, value: Any, place: str) -> Any:
    """A number, a text or a truth value; a whole number is a number too, and nothing is infinite."""
    right = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not right or isinstance(value, bool) is not (kind is bool):
        raise WrongShape(f"{place} must be {KIND_NAMES[kind]}, not {told(value)}")
    if kind in (int, float) and not (abs(value) <= LARGEST and math.isfinite(value)):
        raise WrongShape(f"{place} is {told(value)}, which no run has")
    return float(value) if kind is float else value


def row_checker(kind: type) -> Callable[[tuple[Any, ...]], bool]:
    """Whether a row of a table has the types of a dataclass's fields, in their order; quick, for there may be many."""
    allowed = [_allowed(each) for each in _kinds(kind).values()]

    def check(row: tuple[Any, ...]) -> bool:
        return all(
            type(value) in types and (words is None or value in words)
            for value, (types, words) in zip(row, allowed, strict=False)
        )

    return check


def _allowed(kind: Any) -> tuple[tuple[type, ...], tuple[Any, ...] | None]:
    """The types that a value may have, and the words that it must be one of."""
    words = get_args(kind)
    if get_origin(kind) is Literal:
        return (str,), words
    if words:
        return tuple(found for word in words for found in _allowed(word)[0]), None
    return {float: (float, int), bool: (bool, int)}.get(kind, (kind,)), None


@cache
def _kinds(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _inside(place: str, name: object) -> str:
    return f"{place}.{told(name)[1:-1]}" if place else told(name)[1:-1]
