"""What other packages add: objects by the entry points of a group, and objects by `module:attribute`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any

from actune.errors import SettingError


def entry_points(group: str) -> dict[str, metadata.EntryPoint]:
    """What the installed packages offer in a group, by name. Of two packages that use one name the first counts."""
    found: dict[str, metadata.EntryPoint] = {}
    for entry in metadata.entry_points(group=group):
        found.setdefault(entry.name, entry)
    return found


def package_of(entry: metadata.EntryPoint) -> str:
    """The name of the package that has an entry point, as `pip install` takes it."""
    return entry.dist.name if entry.dist else entry.module.partition(".")[0]


def is_installed(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def load(entry: metadata.EntryPoint) -> Any:
    """The object behind an entry point, or one sentence."""
    return _loaded(f"{entry.name!r} of the package {package_of(entry)!r}", entry.load)


def import_object(place: str) -> Any:
    """The object at `module:attribute`, or one sentence."""
    module, _, attribute = place.partition(":")

    def find() -> Any:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        return found

    return _loaded(repr(place), find)


def place_of(value: Any) -> str | None:
    """`module:attribute` of a function or a class that another process can import, else None."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not module or not name or module == "__main__":
        return None
    place = f"{module}:{name}"
    try:
        return place if import_object(place) is value else None
    except SettingError:
        return None


def _loaded(what: str, find: Callable[[], Any]) -> Any:
    try:
        return find()
    except Exception as error:  # a package of somebody else may fail in any way
        raise SettingError(f"{what} cannot be loaded: {type(error).__name__}: {error}") from error
