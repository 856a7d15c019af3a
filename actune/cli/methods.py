"""`actune methods`: what can be asked for by name."""

from __future__ import annotations

from typing import Annotated

import typer

from actune.cli import options
from actune.cli.console import Output


def methods(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the methods as a table for documents.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Lists the methods, the learners, the presets and the label models.

    Example: actune methods --json
    """
    from actune.methods.recipes import RECIPES
    from actune.models.learners import LEARNERS
    from actune.session.request import PRESETS
    from actune.weak.label_models import LABEL_MODELS

    output = Output(json, quiet)
    if markdown:
        from actune.methods import sentences

        return typer.echo(sentences.markdown())
    rows = [[recipe.name, recipe.family, recipe.summary] for recipe in RECIPES.values()]
    output.show("--method", ["name", "family", "what it does"], rows)
    output.show("--learner", ["name", "what it does"], list(LEARNERS.items()))
    output.show("--preset", ["name", "what it is"], list(PRESETS.items()))
    output.show("--label-model", ["name", "what it does"], list(LABEL_MODELS.items()))
    described = [
        {
            "name": recipe.name,
            "family": recipe.family,
            "summary": recipe.summary,
            "reference": recipe.reference,
            "settings": list(recipe.uses),
            "needs": list(recipe.needs),
        }
        for recipe in RECIPES.values()
    ]
    output.give({"methods": described, "learners": LEARNERS, "presets": PRESETS, "label_models": LABEL_MODELS})
