"""`actune methods`: what can be asked for by name."""

from __future__ import annotations

from actune.cli import options as given_as
from actune.cli.console import Output


def methods(json: given_as.Json = False, quiet: given_as.Quiet = False) -> None:
    """Lists the methods, the learners and the presets.

    Example: actune methods --json
    """
    from actune.methods.recipes import RECIPES
    from actune.models.learners import LEARNERS
    from actune.session.request import PRESETS

    output = Output(json, quiet)
    rows = [[recipe.name, recipe.family, recipe.summary] for recipe in RECIPES.values()]
    output.show("--method", ["name", "family", "what it does"], rows)
    output.show("--learner", ["name", "what it does"], list(LEARNERS.items()))
    output.show("--preset", ["name", "what it is"], list(PRESETS.items()))
    described = [dict(zip(("name", "family", "summary"), row, strict=True)) for row in rows]
    output.give({"methods": described, "learners": LEARNERS, "presets": PRESETS})
