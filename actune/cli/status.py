"""`actune status`: where a project stands, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actune.cli import options
from actune.cli.console import Output, counted

if TYPE_CHECKING:
    from actune.core.facts import FinalFacts, RoundFacts


def status(
    folder: options.Folder,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the answers so far, the models, and the command to run next.

    Example: actune status posts
    """
    from actune.cli.project_prose import class_line, model_line, next_line, people_lines, quality_lines
    from actune.session.setup import open_session
    from actune.session.status import status as status_of

    output = Output(json, quiet)
    with open_session(folder) as session:
        found = status_of(session)
    counts = sorted(found.class_counts.items(), key=lambda each: each[1], reverse=True)
    if found.labels:
        output.show("answers", ["class", "answers"], [each for each in counts if each[1]])
    if found.rounds or found.finals:
        rows = [_row(f"round {facts.round}", facts) for facts in found.rounds]
        rows += [_row(f"fine-tuned after round {facts.round - 1}", facts) for facts in found.finals]
        output.show("models", ["model", "answers", "test accuracy", "dev accuracy", "cross-validated"], rows)
    if found.agreement and found.agreement.pairs:
        pairs = [[" and ".join(pair.people), pair.texts, pair.kappa] for pair in found.agreement.pairs]
        output.show("agreement", ["people", "texts of both", "Cohen's kappa"], pairs)
    output.say(
        f"{folder}: {counted(found.texts, 'text')}, {counted(found.labels, 'answer')}, {found.skipped:,} skipped, "
        f"{counted(found.questions, 'open question')}",
        *class_line(found),
        *quality_lines(found.quality),
        *people_lines(found.agreement),
        *model_line(found, folder),
        next_line(found, folder),
    )
    output.give({"folder": str(folder), **found.as_json()})


def _row(name: str, facts: RoundFacts | FinalFacts) -> list[object]:
    quality = getattr(facts, "quality", None)
    validated = quality.cross_validation.accuracy.value if quality and quality.cross_validation else None
    return [name, facts.labels, facts.accuracy, facts.dev_accuracy, validated]
