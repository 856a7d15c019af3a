"""Methods in words: the composition of each, and a table of all of them."""

from __future__ import annotations

from collections.abc import Iterable

from actune.core.settings import SYMBOLS, Settings
from actune.methods.method import sentence
from actune.methods.recipes import RECIPES, Recipe, build

COLUMNS = ("method", "asks", "pseudo-labels", "settings", "from")


def row(recipe: Recipe) -> tuple[str, ...]:
    """One line of the table, built with the default settings."""
    method = build(recipe.name, Settings())
    symbol = {name: letter for letter, name in SYMBOLS.items()}
    settings = [
        f"`{name}`{f' ({symbol[name]})' if name in symbol else ''} {getattr(Settings(), name)}" for name in recipe.uses
    ]
    trusts = "none" if method.self_training is None else f"`{sentence(method.self_training)}`"
    if method.teacher:
        trusts += ", by a teacher of the same round" + ", then by its student" * (method.teacher.generations > 1)
    return f"`{recipe.name}`", f"`{sentence(method.query)}`", trusts, ", ".join(settings), recipe.reference


def markdown(recipes: Iterable[Recipe] = ()) -> str:
    """The table as it stands in the documentation."""
    rows = [row(recipe) for recipe in recipes or RECIPES.values()]
    lines = [COLUMNS, tuple("---" for _ in COLUMNS), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
