"""`actune methods`: what can be chosen by name."""

from __future__ import annotations

from typing import Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted

ABLATION = "ablation"  # the family of methods that only take a part of another one away


def methods(
    every: Annotated[bool, typer.Option("--all", help="Also list the ablations, which are for experiments.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print all methods, ablations included, as a Markdown table.")
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Lists the methods, the learners, the presets and the label models.

    Ablations of the methods are listed with --all. The JSON object always has them, each with `"ablation": true`.

    Example: actune methods --all
    """
    from actune.methods.recipes import RECIPES
    from actune.models.learners import described as described_learners
    from actune.session.request import PRESETS
    from actune.weak.label_models import LABEL_MODELS

    output, learners = Output(json, quiet), described_learners()
    if markdown:
        from actune.methods import sentences

        return typer.echo(sentences.markdown())
    shown = [recipe for recipe in RECIPES.values() if every or recipe.family != ABLATION]
    rows = [[recipe.name, recipe.family, recipe.summary] for recipe in shown]
    output.show("--method", ["name", "family", "what it does"], rows)
    if hidden := len(RECIPES) - len(shown):
        output.say(f"{counted(hidden, 'ablation')} not listed: use --all to see them")
    output.show("--learner", ["name", "what it does"], list(learners.items()))
    output.show("--preset", ["name", "what it is"], list(PRESETS.items()))
    output.show("--label-model", ["name", "what it does"], list(LABEL_MODELS.items()))
    described = [
        {
            "name": recipe.name,
            "family": recipe.family,
            "ablation": recipe.family == ABLATION,
            "summary": recipe.summary,
            "reference": recipe.reference,
            "settings": list(recipe.uses),
            "needs": list(recipe.needs),
        }
        for recipe in RECIPES.values()
    ]
    output.give({"methods": described, "learners": learners, "presets": PRESETS, "label_models": LABEL_MODELS})
