"""Where a method is looked up: those of actune by name, those of others by entry point, by place, or by value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from actune.core.plugins import entry_points, import_object, is_installed, load, package_of, place_of
from actune.core.settings import Settings
from actune.errors import ActuneError, SettingError, nearest
from actune.methods.method import RECIPES, Builder, Method, Recipe, sentence

GROUP = "actune.methods"  # of entry points: each gives a Recipe, a Method, or a function of Settings
BY_VALUE, OF_PACKAGE, AT_PLACE = "value", "package", "place"

MethodValue = Recipe | Method | Builder


@dataclass(frozen=True)
class Other:
    """A recipe that is not actune's own, and where it comes from: `value`, `package NAME` or `place MODULE:NAME`."""

    recipe: Recipe
    origin: str


@dataclass(frozen=True)
class Constant:
    """A method that no setting changes."""

    method: Method

    def __call__(self, settings: Settings) -> Method:
        return self.method


_others: dict[str, Other] = {}  # those that this process has met


def find(name: str) -> Recipe:
    """The recipe of this name, or a sentence that suggests the nearest."""
    if name in RECIPES:
        return RECIPES[name]
    if (other := _other(name)) is None:
        raise SettingError(f"unknown method {name!r}: {nearest(name, [*RECIPES, *entry_points(GROUP)])}")
    return other.recipe


def is_known(name: str) -> bool:
    """Whether this process has the method of this name already, so that nothing has to be imported for it."""
    return name in RECIPES or name in _others


def origin_of(name: str) -> str:
    """Where a method comes from, as run.toml keeps it; empty for actune's own."""
    other = None if name in RECIPES else _other(name)
    return other.origin if other else ""


def build(name: str, settings: Settings) -> Method:
    """The method of this name with these settings."""
    return made_by(find(name), settings)


def made_by(recipe: Recipe, settings: Settings) -> Method:
    """The method that a recipe makes of settings."""
    try:
        method = recipe.method(settings)
    except Exception as error:
        if isinstance(error, ActuneError) or recipe.name in RECIPES:
            raise
        raise SettingError(f"the method {recipe.name!r} cannot be made: {type(error).__name__}: {error}") from error
    if not isinstance(method, Method):
        raise SettingError(f"the recipe {recipe.name!r} returned a {type(method).__name__}: it must return a Method")
    return method


def find_again(name: str, origin: str, named: str = "") -> Recipe:
    """The recipe of a run that is opened again, or a sentence that says what is missing.

    A run folder may be somebody else's: the module that it names is imported only where the user has `named` the same.
    """
    kind, _, where = origin.partition(" ")
    if name in RECIPES or name in _others or name in entry_points(GROUP):
        return find(name)
    if kind == BY_VALUE:
        raise SettingError(
            f"the method {name!r} of this run was given by value: pass it again with "
            "actune.open_session(folder, method=...)"
        )
    if kind == OF_PACKAGE:
        missing = "which is installed without it" if is_installed(where) else "which is not installed"
        raise SettingError(
            f"this run was made with the method {name!r} of the package {where!r}, {missing}: pip install {where}"
        )
    place = where if kind == AT_PLACE else name
    if (kind == AT_PLACE or ":" in place) and named != place:
        module = place.partition(":")[0]
        raise SettingError(
            f"the method {name!r} of this run is code in the module {module!r}, which is not run because only the run "
            f"folder names it: if you trust it, pass --method {place} or "
            f"actune.open_session(folder, method={place!r})"
        )
    if kind == AT_PLACE:
        return _remember(_recipe_of(import_object(where), name, where), origin)
    if not named:
        raise SettingError(
            f"this run was made with the method {name!r}, which this version of actune does not have: "
            "`actune export DIR --all --to labels.csv` writes its texts and answers, and `actune start labels.csv` "
            "goes on with them in a new project"
        )
    return find(name)


def shown(name: str) -> str:
    """A method's name with what a reader of results must know; the method itself need not be installed."""
    return RECIPES[name].shown if name in RECIPES else name


def is_named(method: str | MethodValue, name: str, origin: str) -> bool:
    """Whether `method` is that of a run, by its name, by its place, or by value."""
    return (isinstance(method, str) and origin == f"{AT_PLACE} {method}") or name_of(method) == name


def name_of(method: str | MethodValue) -> str:
    """The name of a method. One that is given by value can from now on be found by its name in this process."""
    if isinstance(method, str):
        return method
    recipe = _recipe_of(method, _usual_name(method))
    known = RECIPES.get(recipe.name)
    if known is None and (entry := entry_points(GROUP).get(recipe.name)) is not None:
        known = find(entry.name)
    if known is None:
        place = place_of(recipe.method)
        _remember(recipe, f"{AT_PLACE} {place}" if place else BY_VALUE)
    elif known.method != recipe.method:
        raise SettingError(f"there is already a method {recipe.name!r}: give your recipe another name")
    return recipe.name


def plugins() -> dict[str, tuple[str, Recipe | SettingError]]:
    """The methods of installed packages by name: the package, and the recipe or why it cannot be loaded."""
    found: dict[str, tuple[str, Recipe | SettingError]] = {}
    for name, entry in entry_points(GROUP).items():
        if name in RECIPES:
            continue
        try:
            found[name] = package_of(entry), find(name)
        except SettingError as error:
            found[name] = package_of(entry), error
    return found


def _other(name: str) -> Other | None:
    if name in _others:
        return _others[name]
    if (entry := entry_points(GROUP).get(name)) is not None:
        package = package_of(entry)
        _remember(_recipe_of(load(entry), name, package), f"{OF_PACKAGE} {package}")
    elif ":" in name and name.replace(":", ".").replace(".", "").isidentifier():
        _remember(_recipe_of(import_object(name), name, name), f"{AT_PLACE} {name}")
    return _others.get(name)


def _remember(recipe: Recipe, origin: str) -> Recipe:
    _others[recipe.name] = Other(recipe, origin)
    return recipe


def _usual_name(value: MethodValue) -> str:
    if isinstance(value, Recipe):
        return value.name
    if isinstance(value, Method):
        return sentence(value, every_number=True)
    return str(getattr(value, "__name__", type(value).__name__))


def _recipe_of(value: Any, name: str, reference: str = "") -> Recipe:
    """Whatever somebody gives as a method, under this name."""
    if isinstance(value, Recipe):
        return replace(value, name=name)
    if isinstance(value, Method):
        return Recipe(name, "plug-in", sentence(value), reference, Constant(value))
    if callable(value):
        summary = (value.__doc__ or "").strip().partition("\n")[0].rstrip(".")
        return Recipe(name, "plug-in", summary, reference, value)
    raise SettingError(
        f"{name!r} is a {type(value).__name__}: a method must be a Recipe, a Method, or a function from Settings "
        "to a Method"
    )
