"""A grid: which cells an experiment consists of, as a TOML file says it. Nothing is loaded here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from actune.bench.vocabulary import checked_settings, one_of, variant_of, words_in
from actune.core import toml
from actune.core.checks import told
from actune.core.options import Option, Place, typed
from actune.core.places import LONGEST_NAME, base_name, exists
from actune.core.spec import READING_OPTIONS, is_code
from actune.data.tasks import cards
from actune.errors import SettingError, nearest
from actune.methods.finding import is_known
from actune.methods.recipes import find
from actune.models.learners import AUTO, check_learner

TABLES = ("title", "grid", "settings", "override", "block", "sweep", "task")
AXES = {"tasks": "task", "methods": "method", "models": "model", "learners": "learner", "seeds": "seed"}
DEFAULT_AXES: dict[str, list[Any]] = {"models": ["minilm"], "learners": ["finetune"], "seeds": [0]}
_Block = tuple[dict[str, list[Any]], dict[str, Any], dict[str, list[Any]]]  # axes, own settings, what it sweeps over
LONGEST_PATH = 4_000  # letters
LARGEST_SEED = 2**53  # tables hold it
MOST_CELLS = 100_000
ALLOW = "--allow-python-rules"
DATA = Option("The data.", Place.GRID, "data", str)
READING = ("data", *(option.name for option in READING_OPTIONS if Place.GRID in option.places))


@dataclass(frozen=True)
class Point:
    """One cell as the grid says it."""

    task: str
    method: str
    model: str
    learner: str
    seed: int
    variant: str = ""  # what differs from the grid's plain cell
    settings: Mapping[str, Any] = field(default_factory=dict, compare=False)
    data: str = field(default="", compare=False)  # what the task's data is called, where it has another name
    reading: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def coordinates(self) -> tuple[str, str, str, str, int, str]:
        """What tells it from every other cell of a table. Files have their base names: a table may be published."""
        return (base_name(self.task), self.method, base_name(self.model), self.learner, self.seed, self.variant)

    @property
    def preset(self) -> str:
        return str(self.settings.get("preset", "paper"))

    @property
    def name(self) -> str:
        words = (self.task, self.method, self.model, self.learner, f"seed {self.seed}", self.variant)
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Grid:
    """All cells of an experiment; those that can share a first model stand together."""

    title: str
    points: tuple[Point, ...]
    text: str  # the file itself
    python: bool = False  # the user allows that code runs which the file names

    @property
    def code(self) -> list[str]:
        """The Python files of rules that the cells would run."""
        words = {str(point.settings.get("weak", "")) for point in self.points}
        return sorted(word for word in words if is_code(word))

    def check_code(self) -> None:
        """Refuses to run code that only the grid names: it may be somebody else's."""
        if self.code and not self.python:
            raise SettingError(
                f"the grid names the Python rules {self.code[0]!r}, which would run as code: read the file, then add "
                f"{ALLOW}"
            )

    def only(self, filters: Sequence[str]) -> Grid:
        """The cells that `task=trec`, `method=random,actune` and the like leave."""
        points = list(self.points)
        for filter in filters:
            name, sign, values = filter.partition("=")
            one_of("--only takes", name.strip(), ("variant", *AXES.values()))
            if not sign:
                raise SettingError(f"--only takes name=value, not {filter!r}")
            wanted = {value.strip() for value in values.split(",")}
            known = {str(getattr(point, name.strip())) for point in self.points}
            for value in sorted(wanted - known):
                raise SettingError(f"the grid has no {name.strip()} {value!r}: {nearest(value, known)}")
            points = [point for point in points if str(getattr(point, name.strip())) in wanted]
        if not points:
            raise SettingError(f"no cell of the grid matches {' and '.join(filters)}: check --only")
        return replace(self, points=tuple(points))


def load_grid(file: Path, python: bool = False) -> Grid:
    """The grid in a file, or one sentence that says what is wrong with it; `python` allows code that it names."""
    return parse_grid(toml.read_text(file, SettingError), str(file), python)


def parse_grid(text: str, source: str = "the grid", python: bool = False) -> Grid:
    """The grid in a text. `source` is what sentences call it."""
    tables = toml.parse(text, source, SettingError)
    try:
        _check_names({name: value for name, value in tables.items() if name != "title"})
        if not python:
            _check_methods(tables)
        return Grid(str(tables.get("title", source)), _points(tables), text, python)
    except SettingError as error:
        raise SettingError(f"{source}: {error}") from None


def _check_names(value: Any) -> None:
    """Refuses names that no disk takes, before anybody looks for a file of that name."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _check_names(inner if name != "classes" else None)
    elif isinstance(value, list):
        for inner in value:
            _check_names(inner)
    elif isinstance(value, str) and ("\0" in value or not _fits(value)):
        raise SettingError(f"the grid has the name {told(value)}, which is too long or has a NUL: use another name")


def _fits(name: str) -> bool:
    parts = re.split(r"[/\\]", name)
    return len(name) <= LONGEST_PATH and all(len(part.encode()) <= LONGEST_NAME for part in parts)


def _check_methods(tables: Mapping[str, Any]) -> None:
    """Refuses a method `module:name` that only the grid names: to import a module is to run it."""
    blocks = [_table(tables, "grid"), *(table for name in ("block", "sweep") for _, table in _tables(tables, name))]
    for method in (word for table in blocks for word in words_in(table.get("methods", []))):
        if isinstance(method, str) and ":" in method and not is_known(method):
            raise SettingError(
                f"the grid names the method {told(method)}, whose module would run as code: read the module, then add "
                f"{ALLOW}"
            )


def _points(tables: dict[str, Any]) -> tuple[Point, ...]:
    for name in tables:
        one_of("a grid has", name, TABLES)
    usual = _axes(_table(tables, "grid"), "[grid]")
    common = checked_settings(_table(tables, "settings"), "[settings]")
    blocks: list[_Block] = [(usual, {}, {})] if "tasks" in usual and "methods" in usual else []
    blocks += [_block(table, usual, f"[[block]] {n}", "settings") for n, table in _tables(tables, "block")]
    blocks += [_block(table, usual, f"[[sweep]] {n}", "settings", "over") for n, table in _tables(tables, "sweep")]
    _check_size(blocks)
    plain = [(axes, own, over, Point(*place)) for axes, own, over in blocks for place in _places(axes)]
    if not plain:
        raise SettingError("the grid has no cells: name tasks and methods in [grid]")
    overrides = [_override(table, n, [point for *_, point in plain]) for n, table in _tables(tables, "override")]
    data = {name: _data(table, name) for name, table in _table(tables, "task").items()}
    points = []
    for _, own, over, point in plain:
        settings = common | {name: value for when, then in overrides if _holds(when, point) for name, value in then}
        for values in product(*over.values()):
            changed = own | dict(zip(over, values, strict=True))
            points.append(_point(point, settings | changed, changed, data.get(point.task)))
    return _in_order(points)


def _check_size(blocks: Sequence[_Block]) -> None:
    """Refuses more cells than anybody can run, before they are made: a few short lists multiply to billions."""
    cells = sum(prod(map(len, (*_lists(axes).values(), *over.values()))) for axes, _, over in blocks)
    if cells > MOST_CELLS:
        raise SettingError(
            f"the grid has {cells:,} cells, and at most {MOST_CELLS:,} can be planned: shorten its lists"
        )


def _point(point: Point, settings: dict[str, Any], changed: dict[str, Any], data: dict[str, Any] | None) -> Point:
    reading = dict(data or {})
    source = _absolute(reading.pop("data", point.task))
    reading |= {name: _absolute(reading[name]) for name in ("dev", "test") if name in reading}
    place = (point.task, point.method, point.model, point.learner, point.seed)
    return Point(*place, variant_of(changed, bool(settings.get("weak"))), settings, source, reading)


def _absolute(name: str) -> str:
    """A file or folder under its whole path: cells run elsewhere too. A data set's name stays a name."""
    return name if name in cards() or not exists(Path(name)) else str(Path(name).absolute())


def _in_order(points: list[Point]) -> tuple[Point, ...]:
    """Cells that can share a first model one after another; no two at one place of the table."""
    seen: set[tuple[Any, ...]] = set()
    for point in points:
        if point.coordinates in seen:
            raise SettingError(f"the grid has the cell {point.name} twice: remove one of them")
        seen.add(point.coordinates)
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        groups.setdefault((point.task, point.model, point.learner, point.seed), []).append(point)
    return tuple(point for group in groups.values() for point in group)


def _axes(table: dict[str, Any], where: str, further: Iterable[str] = ()) -> dict[str, list[Any]]:
    """The lists of a block; a single value is a list of one."""
    axes: dict[str, list[Any]] = {}
    for name, value in table.items():
        one_of(f"{where} has", name, (*AXES, *further))
        if name in AXES:
            axes[name] = list(value) if isinstance(value, list) else [value]
            _check_axis(name, axes[name], where)
    return axes


def _check_axis(name: str, values: list[Any], where: str) -> None:
    if not values:
        raise SettingError(f"the list {name} in {where} is empty: add at least one value")
    for value in values:
        if name == "seeds" and (type(value) is not int or value < 0):
            raise SettingError(f"seeds in {where} must be whole numbers of at least 0, not {told(value)}")
        if name == "seeds" and value > LARGEST_SEED:
            raise SettingError(f"seeds in {where} must be at most {LARGEST_SEED:,}, not {value:,}")
        if name != "seeds" and not (isinstance(value, str) and value):
            raise SettingError(f"{name} in {where} must be names, not {told(value)}")
        if name == "methods":
            find(value)
        if name == "learners" and check_learner(value) == AUTO:
            raise SettingError(
                "a grid cannot use the learner auto, which depends on the speed of the machine: choose finetune or "
                "probe"
            )
    if len(set(values)) < len(values):
        raise SettingError(f"{where} has a duplicate in {name}: remove it")


def _block(table: dict[str, Any], usual: dict[str, list[Any]], where: str, *further: str) -> _Block:
    """A further block; what it does not name is as in [grid]."""
    axes = {**usual, **_axes(table, where, further)}
    for name in ("tasks", "methods"):
        if name not in axes:
            raise SettingError(f"{where} has no {name}, and neither has [grid]: add a list of {name}")
    over: dict[str, list[Any]] = {}
    for name, values in _table(table, "over", where).items():
        for value in values if isinstance(values, list) else [values]:
            for canonical, changed in checked_settings({name: value}, where).items():
                over.setdefault(canonical, []).append(changed)
    if "over" in further and not over:
        raise SettingError(f"{where} has no values to sweep over: write over = {{ beta = [0, 0.25] }}")
    return axes, checked_settings(_table(table, "settings", where), where), over


def _places(axes: Mapping[str, list[Any]]) -> Iterator[tuple[Any, ...]]:
    """Task, method, model, learner and seed of every cell."""
    for task, model, learner, seed, method in product(*_lists(axes).values()):
        yield task, method, model, learner, seed


def _lists(axes: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The values of each axis, in the order in which cells follow one another."""
    order = ("tasks", "models", "learners", "seeds", "methods")
    return {name: axes.get(name, DEFAULT_AXES.get(name, [])) for name in order}


def _override(
    table: dict[str, Any], number: int, points: Sequence[Point]
) -> tuple[dict[str, list[Any]], list[tuple[str, Any]]]:
    where = f"[[override]] {number}"
    for name in table:
        one_of(f"{where} has", name, ("when", "set"))
    when = {name: words_in(value) for name, value in _table(table, "when", where).items()}
    for name, values in when.items():
        one_of(f"`when` in {where} has", name, AXES.values())
        known = {getattr(point, name) for point in points}
        for value in values:
            if value not in known:
                hint = nearest(str(value), map(str, known))
                raise SettingError(f"{where} is for the {name} {value!r}, which the grid does not have: {hint}")
    then = checked_settings(_table(table, "set", where), where)
    if not when or not then:
        raise SettingError(f'{where} needs both `when` and `set`: when = {{ task = "trec" }}, set = {{ weak = true }}')
    return when, list(then.items())


def _holds(when: Mapping[str, list[Any]], point: Point) -> bool:
    return all(getattr(point, name) in values for name, values in when.items())


def _data(table: Any, name: str) -> dict[str, Any]:
    """Data under a short name: where it lies, unless it is a named set, and how it is read."""
    where = f"[task.{name}]"
    if not isinstance(table, dict) or ("data" not in table and name not in cards()):
        raise SettingError(f'{where} needs the path of its data: data = "texts.csv"')
    for word in table:
        one_of(f"{where} has", word, READING)
    options = {option.name: option for option in (*READING_OPTIONS, DATA)}
    found = {word: typed(options[word], value, f"{where}: setting") for word, value in table.items()}
    if not all(isinstance(name, str) and name.strip() for name in found.get("classes", [])):
        raise SettingError(f"{where}: classes must be names, not {told(found['classes'])}")
    return found


def _table(tables: Mapping[str, Any], name: str, where: str = "a grid") -> dict[str, Any]:
    found = tables.get(name, {})
    if not isinstance(found, dict):
        raise SettingError(f"{name} in {where} must be a table, not {found!r}")
    return found


def _tables(tables: Mapping[str, Any], name: str) -> list[tuple[int, dict[str, Any]]]:
    found = tables.get(name, [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise SettingError(f"write [[{name}]] with two brackets, because a grid may have several")
    return list(enumerate(found, 1))
