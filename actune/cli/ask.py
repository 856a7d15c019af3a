"""`actune ask`: the open questions, into a file for a spreadsheet or onto the screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted
from actune.cli.tools import check_format, write_for_tool

if TYPE_CHECKING:
    from actune.core.dialogue import Question
    from actune.session.session import Session


def ask(
    folder: options.Folder,
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"Write the questions to {options.OUTPUT}; by default they are printed as a table.",
        ),
    ] = None,
    format: options.Format = None,
    config: options.ToolConfig = None,
    raw: options.Raw = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the open questions or write them to a file, with the model's suggestions.

    Fill in the column `label` and pass the file to `actune tell`. Leave a cell empty to answer later; write `skip` if
    you cannot decide (the text is then neither asked nor used), and `unskip` to undo this. Very long texts are
    shortened in the file, but not for the model.

    With --format the file is imported into another labelling tool, with the model's suggestions as predictions;
    `actune tell` takes the answers from the file that this tool exports (JSON).

    Example: actune ask posts --to batch.csv
    """
    from actune.annotators.files import MOST_SHOWN
    from actune.core.printing import abridged
    from actune.data.export import check_target
    from actune.session.setup import open_session

    output = Output(json, quiet, to)
    if format or config:
        check_format(to, format, config)
    elif to is not None:
        check_target(to)
    session = open_session(folder)
    questions = session.ask()
    if to is not None and questions:
        if output.is_free:
            _check_replaceable(to, session)
        notes = _write(to, session, questions, format, config, raw)
        todo = f"import it into {format} and export the answers as JSON" if format else "fill in the column `label`"
        output.say(
            *notes,
            f"{counted(len(questions), 'question')} written to {output.named(to)}: {todo}",
            f"next: actune tell {folder} {to if output.is_free else 'FILE'}",
        )
    elif questions:
        rows = [[one.id, abridged(one.text, MOST_SHOWN), one.suggestion, one.confidence] for one in questions]
        output.show(counted(len(rows), "open question"), ["id", "text", "suggestion", "confidence"], rows)
    else:
        output.say("there are no open questions", f"next: actune advance {folder}")
    output.give(
        {
            "folder": str(folder),
            "round": session.fitted,
            "file": str(to) if to is not None and questions else None,
            "questions": [
                {"id": one.id, "text": one.text, "suggestion": one.suggestion, "confidence": one.confidence}
                for one in questions
            ],
        }
    )


def _write(
    to: Path, session: Session, questions: Sequence[Question], format: str | None, config: Path | None, raw: bool
) -> list[str]:
    from actune.annotators.files import write_questions
    from actune.session.labelled import question_records

    if format is None:
        return write_questions(to, questions, raw)
    write_for_tool(to, question_records(session, questions), format, config, session.pool.classes)
    return []


def _check_replaceable(to: Path, session: Session) -> None:
    """Refuses to write over answers that are not saved yet."""
    from actune.annotators.files import check_replaceable
    from actune.core.settings import words_of

    if not to.exists():
        return
    request = session.config.request
    words, labels, pool = words_of(request.changes), session.labels(), session.pool
    told = {pool.ids[row]: pool.classes[number] for row, number in labels.of_row.items()}
    told |= {pool.ids[row]: words.skip_word for row in labels.skipped}
    check_replaceable(to, told, pool.classes, words, request.reading.get("encoding"))
