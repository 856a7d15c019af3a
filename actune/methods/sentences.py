"""Methods in words: the composition of each, and a table of all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from actune.core.settings import SYMBOLS, Settings
from actune.methods.recipes import RECIPES, Recipe, build

COLUMNS = ("method", "asks", "trusts", "settings", "from")


def sentence(value: Any) -> str:
    """A value as it is written: `Hottest(Regions(entropy))`; numbers are settings, shown where they are not usual."""
    if not is_dataclass(value):
        return str(getattr(value, "__name__", value))
    inner = []
    for field in fields(value):
        part = getattr(value, field.name)
        if is_dataclass(part) or callable(part) or isinstance(part, str):
            inner.append(sentence(part))
        elif field.default is not MISSING and part != field.default:
            inner.append(f"{field.name}={part}")
    name = type(value).__name__
    return f"{name}({', '.join(inner)})" if inner else name


def row(recipe: Recipe) -> tuple[str, ...]:
    """One line of the table, built with the default settings."""
    method = build(recipe.name, Settings())
    symbol = {name: letter for letter, name in SYMBOLS.items()}
    settings = [
        f"`{name}`{f' ({symbol[name]})' if name in symbol else ''} {getattr(Settings(), name)}" for name in recipe.uses
    ]
    trusts = "nothing" if method.self_training is None else f"`{sentence(method.self_training)}`"
    if method.teacher:
        trusts += ", by a teacher of the same round" + " and its student" * (method.teacher.generations > 1)
    return f"`{recipe.name}`", f"`{sentence(method.query)}`", trusts, ", ".join(settings), recipe.reference


def markdown(recipes: Iterable[Recipe] = ()) -> str:
    """The table as it stands in the documentation."""
    rows = [row(recipe) for recipe in recipes or RECIPES.values()]
    lines = [COLUMNS, tuple("---" for _ in COLUMNS), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
