"""The README of a saved model: what it is, how it was made, how good it was."""

from __future__ import annotations

from typing import Any

from actune.session.config import Config
from actune.session.state import Labels


def model_card(config: Config, labels: Labels, rounds: list[dict[str, Any]]) -> str:
    """A short model card in Markdown."""
    measured = [facts for facts in rounds if facts.get("accuracy") is not None]
    lines = [
        "---",
        "library_name: transformers",
        "pipeline_tag: text-classification",
        "tags: [actune, active-learning]",
        "---",
        f"# A text classifier for {config.request.data}",
        "",
        f"Classes: {', '.join(config.resolved.classes)}.",
        "",
        f"Made with actune {config.versions['actune']} by the method `{config.request.method}` and the learner "
        f"`{config.resolved.learner}` on the encoder `{config.request.model}`, from {len(labels.of_row)} labelled "
        f"texts of a pool of {config.resolved.pool:,}.",
    ]
    if measured:
        lines += ["", "| labels | test accuracy |", "|---|---|"]
        lines += [f"| {facts['labels']} | {facts['accuracy']:.4f} |" for facts in measured]
    return "\n".join(lines) + "\n"
