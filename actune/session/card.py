"""The README of a saved model: what it is, how it was made, how good it was."""

from __future__ import annotations

from collections.abc import Sequence

from actune.core.facts import FinalFacts, RoundFacts
from actune.methods.recipes import shown
from actune.models.learners import find_learner
from actune.models.sources import public_name
from actune.session.config import Config


def model_card(config: Config, learner: str, pool: int, curve: Sequence[RoundFacts | FinalFacts]) -> str:
    """A short model card in Markdown; the last facts of the curve are those of the model itself."""
    trained = config.training if learner == config.resolved.learner else config.final_training
    measured = [facts for facts in curve if facts.accuracy is not None]
    lines = [
        "---",
        f"library_name: {find_learner(learner).form(trained.pooled_head).library}",
        "pipeline_tag: text-classification",
        "tags: [actune, active-learning]",
        "---",
        f"# Text classifier for {public_name(config.request.data)}",
        "",
        f"Classes: {', '.join(config.resolved.classes)}.",
        "",
        f"Made with actune {config.versions['actune']}: method `{shown(config.request.method)}`, learner `{learner}`, "
        f"encoder `{public_name(config.request.model)}`, trained on {curve[-1].labels:,} labelled texts of a pool of "
        f"{pool:,}.",
    ]
    if measured:
        lines += ["", f"The accuracy is measured on {config.resolved.test:,} test texts that no model was trained on."]
        lines += ["", "| labels | test accuracy | macro-F1 |", "|---|---|---|"]
        lines += [f"| {facts.labels} | {facts.accuracy:.4f} | {facts.macro_f1:.4f} |" for facts in measured]
    else:
        lines += ["", "There was no test set, so the accuracy was not measured."]
    return "\n".join(lines) + "\n"
