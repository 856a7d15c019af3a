"""`actune methods`: what can be chosen by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from actune.cli import options
from actune.cli.console import Output, counted
from actune.errors import SettingError

if TYPE_CHECKING:
    from actune.methods.method import Recipe

ABLATION = "ablation"  # the family of methods that only take a part of another one away


def methods(
    every: Annotated[bool, typer.Option("--all", help="Also list the ablations, which are for experiments.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print all methods, ablations included, as a Markdown table.")
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List the methods, learners, presets and label models.

    Methods of installed packages are listed with their package. --all adds the ablations; --json always includes them,
    marked with `"ablation": true`.

    Example: actune methods --all
    """
    from actune.methods.recipes import RECIPES, plugins
    from actune.models.learners import described as described_learners
    from actune.session.request import PRESETS
    from actune.weak.label_models import LABEL_MODELS

    output, learners = Output(json, quiet), described_learners()
    if markdown:
        from actune.methods import sentences

        return typer.echo(sentences.markdown())
    shown = [recipe for recipe in RECIPES.values() if every or recipe.family != ABLATION]
    rows = [[recipe.name, recipe.family, recipe.summary] for recipe in shown]
    found = plugins()
    rows += [
        [name, f"package {package}", str(recipe) if isinstance(recipe, SettingError) else recipe.summary]
        for name, (package, recipe) in found.items()
    ]
    output.show("--method", ["name", "family", "what it does"], rows)
    if hidden := len(RECIPES) - len(shown):
        output.say(f"{counted(hidden, 'ablation')} {'is' if hidden == 1 else 'are'} not listed: add --all to see them")
    output.show("--learner", ["name", "what it does"], list(learners.items()))
    output.show("--preset", ["name", "what it is"], list(PRESETS.items()))
    output.show("--label-model", ["name", "what it does"], list(LABEL_MODELS.items()))
    described = [_described(recipe, None) for recipe in RECIPES.values()]
    described += [
        _described(recipe, package) for package, recipe in found.values() if not isinstance(recipe, SettingError)
    ]
    output.give({"methods": described, "learners": learners, "presets": PRESETS, "label_models": LABEL_MODELS})


def _described(recipe: Recipe, package: str | None) -> dict[str, Any]:
    return {
        "name": recipe.name,
        "family": recipe.family,
        "ablation": recipe.family == ABLATION,
        "summary": recipe.summary,
        "reference": recipe.reference,
        "settings": list(recipe.uses),
        "needs": list(recipe.needs),
        "package": package,
    }
