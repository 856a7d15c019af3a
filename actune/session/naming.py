"""What a request says about the classes: their names alone, or descriptions from a file or from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from actune.core.class_names import COLON, Described, described_classes
from actune.core.matching import matches
from actune.core.places import is_regular
from actune.core.spec import OWN_NAMES
from actune.errors import DataError, SettingError, nearest


def described_of(names: str, classes: Sequence[str]) -> list[Described]:
    """The classes in their order, with what is said about each; one that is not mentioned has its name alone."""
    if names == OWN_NAMES:
        return [Described(name) for name in classes]
    is_text = names.startswith("@") or COLON in names
    if not is_text and not Path(names).suffix and not is_regular(Path(names)):
        raise DataError(f"{names} is not a file that describes classes: give lines `name: description`, TOML or JSON")
    found = described_classes(names if is_text else f"@{names}")
    meant = matches([described.name for described in found], classes)
    for described in found:
        if described.name not in meant:
            raise SettingError(f"there is no class {described.name!r} to describe: {nearest(described.name, classes)}")
    said = {meant[described.name]: described.phrases for described in found}
    return [Described(name, said.get(name, ())) for name in classes]


def useful_names(names: str, classes: Sequence[str]) -> str:
    """The same words, or nothing where most classes are numbers, letters or the like and nothing is said of them."""
    from actune.weak.names import say_something

    return names if names and say_something(described_of(names, classes)) else ""
