"""`actune advance`: trains on the answers and chooses the next questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted

if TYPE_CHECKING:
    from actune.core.facts import FinalFacts, RoundFacts
    from actune.session.session import Session


def advance(
    folder: options.Folder,
    finish: Annotated[
        bool, typer.Option("--finish", help="Fine-tune the whole encoder on all answers, for the final model.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Train again even if there are no new answers.")] = False,
    method: options.OwnMethod = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a new model on all answers and select the next questions.

    Open questions are replaced by new ones; an answer to an old question still counts. If there are no new answers, no
    model is trained.

    Example: actune advance posts
    """
    from actune.cli.folders import open_project
    from actune.cli.progress import progress_bars
    from actune.cli.project_prose import class_line, model_line, next_line, quality_lines
    from actune.session.runner import told
    from actune.session.status import status

    output = Output(json, quiet)
    with progress_bars(output) as bars:
        session = open_project(folder, bars, method)
        trained = force or session.has_news(finish)
        if trained:
            facts = session.finish() if finish else session.advance()
            output.say(*_found(facts, finish))
        else:
            facts = session.finals()[-1] if finish else session.rounds()[-1]
            output.say(_nothing_new(session, finish))
    now = status(session)
    if trained and not finish and facts is not None and facts.accuracy is None:
        output.say(*quality_lines(now.quality))
    output.say(*class_line(now), *model_line(now, folder))
    if now.questions:
        output.say(counted(now.questions, "new question" if trained and not finish else "open question"))
    elif not now.unlabelled:
        output.say("all texts are labelled or skipped")
    output.say(next_line(now, folder))
    output.give(
        {
            "folder": str(folder),
            **(told(facts) if facts else {"round": None, "labels": now.labels}),
            "trained": trained and facts is not None,
            "questions": now.questions,
            "unlabelled": now.unlabelled,
            **{name: now.as_json()[name] for name in ("classes_without_answers", "quality", "model", "next")},
        }
    )


def _found(facts: RoundFacts | FinalFacts | None, finish: bool) -> Iterator[str]:
    if facts is None:
        yield "fewer than two classes have answers, so no model can be trained yet; there are new questions"
        return
    yield from facts.notes
    measured = "" if facts.accuracy is None else f", accuracy {facts.accuracy:.4f}"
    yield f"{'fine-tuned' if finish else f'round {facts.round}'}: {counted(facts.labels, 'label')}{measured}"


def _nothing_new(session: Session, finish: bool) -> str:
    """Why nothing is trained; where all questions are skipped, others are chosen."""
    if finish:
        return "the fine-tuned model is already trained on all answers (use --force to train it again)"
    said = "there are no new answers since the last round, so no model was trained (use --force to train anyway)"
    if not session.ask() and session.choose_more():
        return f"{said}; there were no open questions, so new ones were selected"
    return said
