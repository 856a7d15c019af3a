"""`actune ask`: the open questions, into a file for a spreadsheet or onto the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted

if TYPE_CHECKING:
    from actune.session.session import Session


def ask(
    folder: options.Folder,
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="A .csv, .tsv, .jsonl or .parquet file.")] = None,
    raw: options.Raw = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Gives the open questions, with what the model would say.

    Fill in the column `label` and hand the file to tell. An empty cell is a question for later, `skip` takes the text
    out of the project until `unskip`.

    Example: actune ask posts --to batch.csv
    """
    from actune.annotators.files import check_replaceable, write_questions
    from actune.session.setup import open_session

    output = Output(json, quiet)
    session = open_session(folder)
    questions = session.ask()
    if to is not None and questions:
        check_replaceable(to, _told(session) if to.exists() else {})
        write_questions(to, questions, raw)
        output.say(
            f"{counted(len(questions), 'question')} in {to}: fill in the column label",
            f"next: actune tell {folder} {to}",
        )
    elif questions:
        rows = [[question.id, question.text, question.suggestion, question.confidence] for question in questions]
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


def _told(session: Session) -> dict[str, str]:
    from actune.annotators.files import USUAL

    labels, pool = session.labels(), session.pool
    words = {pool.ids[row]: pool.classes[number] for row, number in labels.of_row.items()}
    return words | {pool.ids[row]: USUAL.skip for row in labels.skipped}
