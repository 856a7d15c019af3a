"""Options as data: what an option is called, what it takes and where it may be given, and what follows from that."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from enum import Flag, auto
from pathlib import Path
from typing import Any, TypeVar, get_origin, get_type_hints

from actune.core.checks import KIND_NAMES, told, whole_number
from actune.errors import SettingError, nearest

Spec = TypeVar("Spec")
LARGEST = 10**18  # arrays, files and random streams count in 64 bits


class Place(Flag):
    """Where an option may be given."""

    RUN = auto()  # actune run
    START = auto()  # actune start
    COMPARE = auto()  # actune compare
    GRID = auto()  # a grid of actune bench
    CREATE = auto()  # actune.create


@dataclass(frozen=True)
class Option:
    """One option; that of a field has the field's name, type and default."""

    help: str
    places: Place
    name: str = ""
    kind: Any = None
    default: Any = None
    flag: str = ""  # on the command line, where it is not the name with dashes; without dashes it is an argument
    metavar: str | None = None  # what the help shows for the value
    group: str | None = None  # the heading in the help
    parse: Callable[[Any], Any] | None = None  # makes the value of what the command line gave
    keyword: str = ""  # of `create`, where it is not the name
    from_data: bool = False  # where it is left out, the data decides
    from_others: bool = False  # where it is left out, other options may decide
    recorded: bool = True  # it is part of what a run is, and is kept in run.toml
    table: str = "request"  # of run.toml; a mapping has a table of its own
    before: Any = None  # its value in run folders that are older than the option, where that is not the default
    echoes: bool = False  # another field has the same option, and shows it
    by_value: bool = False  # `create` also takes the thing itself in place of its name
    true_means: str = ""  # the text that `true` stands for
    spellings: tuple[Option, ...] = ()  # the options of the command line that make up this one
    gather: Callable[[Mapping[str, Any]], Any] = dict  # makes one value of what the spellings gave

    @property
    def spelled(self) -> str:
        """What a user writes on the command line."""
        parts = " or ".join(part.spelled for part in self.spellings if not part.echoes)
        return self.flag or parts or "--" + self.name.replace("_", "-")

    @property
    def is_argument(self) -> bool:
        """Whether the command line has an argument for it."""
        return not self.spelled.startswith("-")

    def spelled_for(self, key: str) -> str:
        """What a user writes for one key of a mapping."""
        known = {spelling.name: spelling.spelled for spelling in self.spellings}
        return known.get(key, f"{self.spelled} {key}")


def option(default: Any, help: str, places: Place, **facts: Any) -> Any:
    """A field that is an option. It returns Any, as `dataclasses.field` does, so that the field's annotation counts."""
    metadata = {"option": Option(help, places, **facts)}
    compare = facts.get("recorded", True)
    if callable(default):
        return field(default_factory=default, compare=compare, metadata=metadata)
    return field(default=default, compare=compare, metadata=metadata)


def options_of(spec: type) -> dict[str, Option]:
    """All options of a spec, by the names of its fields."""
    kinds = get_type_hints(spec)
    return {
        entry.name: replace(entry.metadata["option"], name=entry.name, kind=kinds[entry.name], default=_default(entry))
        for entry in fields(spec)
    }


def _default(entry: Field[Any]) -> Any:
    return None if entry.default is MISSING else entry.default


def options_at(spec: type, place: Place) -> dict[str, Option]:
    """The options that may be given at a place, by the names of its fields."""
    return {name: option for name, option in options_of(spec).items() if place in option.places}


def command_options(spec: type, place: Place) -> list[Option]:
    """What a command has on its command line: each option itself, or those that make it up."""
    found = [spelling for option in options_of(spec).values() for spelling in option.spellings or (option,)]
    by_name: dict[str, Option] = {}
    for option in found:
        if place in option.places and (not option.echoes or option.name not in by_name):
            by_name[option.name] = option  # one that several fields are made of has its help once
    return list(by_name.values())


def from_command_line(spec: type, place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of `create` that a command line amounts to. What was left out (None) stays out."""
    keywords: dict[str, Any] = {}
    for name, option in options_of(spec).items():
        said = {
            part.name: part.parse(given[part.name]) if part.parse else given[part.name]
            for part in option.spellings or (option,)
            if place in part.places and given[part.name] is not None
        }
        value = option.gather(said) if option.spellings else said.get(name)
        if value is not None:
            keywords[option.keyword or name] = value
    return keywords


def from_keywords(spec: type, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the keyword arguments of `create` set. None is as if it had been left out."""
    known = {option.keyword or name: option for name, option in options_at(spec, Place.CREATE).items()}
    for keyword in keywords:
        if keyword not in known:
            raise SettingError(f"a run has no option {keyword!r}: {nearest(keyword, known)}")
    return {known[word].name: typed(known[word], value) for word, value in keywords.items() if value is not None}


def tables_of(spec: Any) -> dict[str, dict[str, Any]]:
    """A spec as the tables of run.toml."""
    tables: dict[str, dict[str, Any]] = {}
    for name, option in options_of(type(spec)).items():
        if option.recorded:
            value = getattr(spec, name)
            tables.setdefault(option.table, {}).update(value if isinstance(value, Mapping) else {name: value})
    return tables


def from_tables(spec: type[Spec], tables: Mapping[str, Mapping[str, Any]]) -> Spec:
    """The spec in the tables of run.toml. An option that is not there is newer: it has its default, or `before`."""
    recorded = {name: option for name, option in options_of(spec).items() if option.recorded}
    mappings = {
        name: _table(tables, option.table, option.spellings)
        for name, option in recorded.items()
        if option.table != "request"
    }
    plain = {name: option.before for name, option in recorded.items() if option.before is not None}
    for name, value in _table(tables, "request").items():
        if name not in recorded or name in mappings:
            raise SettingError(f"[request] has an unknown option {name!r}: {nearest(name, recorded)}")
        plain[name] = typed(recorded[name], value)
    return spec(**plain, **mappings)


def _table(tables: Mapping[str, Any], name: str, known: Sequence[Option] = ()) -> dict[str, Any]:
    """One table of run.toml; those of its values that have options of their own are of their types."""
    if not isinstance(found := tables.get(name), Mapping):
        raise SettingError(f"the table [{name}] is missing" if found is None else f"{name!r} must be a table")
    options = {option.name: option for option in known}
    return {key: typed(options[key], value) if key in options else value for key, value in found.items()}


def typed(option: Option, value: Any, noun: str = "option") -> Any:
    """The value in the option's own type, or one sentence."""
    kind = get_origin(option.kind) or option.kind
    if option.true_means and isinstance(value, bool):
        return option.true_means if value else ""
    if kind is str and isinstance(value, Path):
        return str(value)
    if kind is int and (number := whole_number(value)) is not None:
        if abs(number) >= LARGEST:
            raise SettingError(f"{noun} {option.name!r} takes a number of at most 18 digits, not {told(value)}")
        return number
    if (
        kind is float
        and not isinstance(value, (bool, str))
        and hasattr(value, "__float__")
        and not hasattr(value, "__len__")
    ):
        return _real(option, value, noun)
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise SettingError(f"{noun} {option.name!r} takes {KIND_NAMES[kind]}, not {told(value)}")
    return value


def _real(option: Option, value: Any, noun: str) -> float:
    try:
        number = float(value)
    except OverflowError:  # a whole number that no float is as large as
        number = math.nan
    if math.isnan(number):
        raise SettingError(f"{noun} {option.name!r} takes a number, not {told(value)}")
    return number
