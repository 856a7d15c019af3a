"""The README of a saved model: what it is, how it was made, how good it was."""

from __future__ import annotations

from collections.abc import Sequence

from actune.core.facts import FinalFacts, RoundFacts
from actune.methods.recipes import shown
from actune.models.learners import find_learner
from actune.session.config import Config


def model_card(config: Config, learner: str, pool: int, curve: Sequence[RoundFacts | FinalFacts]) -> str:
    """A short model card in Markdown; the last facts of the curve are those of the model itself."""
    measured = [facts for facts in curve if facts.accuracy is not None]
    lines = [
        "---",
        f"library_name: {find_learner(learner).library}",
        "pipeline_tag: text-classification",
        "tags: [actune, active-learning]",
        "---",
        f"# A text classifier for {config.request.data}",
        "",
        f"Classes: {', '.join(config.resolved.classes)}.",
        "",
        f"Made with actune {config.versions['actune']} by the method `{shown(config.request.method)}` "
        f"and the learner `{learner}` on the encoder `{config.request.model}`, "
        f"from {curve[-1].labels:,} labelled texts of a pool of {pool:,}.",
    ]
    if measured:
        lines += ["", "| labels | test accuracy |", "|---|---|"]
        lines += [f"| {facts.labels} | {facts.accuracy:.4f} |" for facts in measured]
    return "\n".join(lines) + "\n"
