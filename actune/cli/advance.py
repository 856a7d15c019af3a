"""`actune advance`: trains on the answers and chooses the next questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted

if TYPE_CHECKING:
    from actune.core.facts import FinalFacts, RoundFacts
    from actune.session.session import Session


def advance(
    folder: options.Folder,
    finish: Annotated[bool, typer.Option("--finish", help="Fine-tune the encoder once on all that is known.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Trains a fresh model on the answers and picks the next questions.

    Questions without an answer are withdrawn; a late answer still counts.

    Example: actune advance posts
    """
    from actune.cli.folders import open_project
    from actune.cli.progress import progress_bars
    from actune.session.runner import told

    output = Output(json, quiet)
    with progress_bars(output) as bars:
        session = open_project(folder, bars)
        if not finish and _nothing_left(session):
            output.say("no unlabelled texts left, and the model knows all answers: nothing to do")
            facts: RoundFacts | FinalFacts = session.rounds()[-1]
        else:
            facts = session.finish() if finish else session.advance()
            output.say(*facts.notes)
    questions, left = len(session.ask()), _unlabelled(session)
    measured = "" if facts.accuracy is None else f", accuracy {facts.accuracy:.4f}"
    what = "fine-tuned" if finish else f"round {facts.round}"
    output.say(f"{what}: {counted(facts.labels, 'label')}{measured}")
    if questions:
        output.say(f"{counted(questions, 'new question')}", f"next: actune ask {folder} --to batch.csv")
    elif not left:
        output.say("no unlabelled texts left")
    output.give({"folder": str(folder), **told(facts), "questions": questions, "unlabelled": left})


def _unlabelled(session: Session) -> int:
    labels = session.labels()
    return len(session.pool) - len(labels.of_row) - len(labels.skipped)


def _nothing_left(session: Session) -> bool:
    """Whether another round would only repeat the last one."""
    rounds = session.rounds()
    return bool(rounds) and not _unlabelled(session) and session.labels().last_answer == rounds[-1].answers_seen
