"""`actune tell`: answers from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted
from actune.core.printing import one_line
from actune.errors import DataError

if TYPE_CHECKING:
    from actune.annotators.files import Filled

SHOWN = 5  # so many ids are named, the rest is counted
LISTED = 100  # so many cells that cannot be taken are listed, the rest is counted
CLASSES = 30  # with more classes than this they are not listed


def tell(
    folder: options.Folder,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The file from `actune ask` with the answers filled in, or an export of actune, Label Studio or "
            "Argilla.",
        ),
    ],
    label_column: Annotated[
        str | None, typer.Option(help="The column with the answers; `label` or the project's own column by default.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="The column with the ids; `id` or the project's own column by default.")
    ] = None,
    encoding: options.Encoding = None,
    by: Annotated[
        str, typer.Option(help="The name of the annotator of answers whose file names nobody; it is stored with them.")
    ] = "person",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Save the answers from a file; no model is trained.

    Empty cells are ignored, and telling the same file twice changes nothing. Invalid cells are listed, and all other
    answers are saved (the exit code is 2): correct these cells and run the command again. Case and spaces around a
    label are ignored.

    Example: actune tell posts batch.csv
    """
    from actune.annotators.files import FileColumns, read_answers
    from actune.cli.folders import open_project
    from actune.cli.project_prose import next_line
    from actune.core.settings import words_of
    from actune.session.status import status

    output = Output(json, quiet)
    session = open_project(folder)
    request = session.config.request
    reading = {**request.reading, **options.given(encoding=encoding)}
    columns, words = FileColumns(id_column, label_column), words_of(request.changes)
    filled = read_answers(file, session.pool, columns, words, by, session.knows, reading)
    not_taken = _not_taken(filled, session.pool.classes)
    if not_taken and not filled.answers:
        _list(not_taken)
        raise DataError(f"no answer in {file} was saved: correct the cells listed above and run the command again")
    told = session.tell(filled.answers)
    now = status(session)
    output.say(
        *filled.notes,
        f"{counted(told.new, 'new label')}, {told.skipped:,} skipped, "
        f"{told.repeated:,} unchanged, {filled.empty:,} empty",
    )
    if filled.matched:
        output.say(f"{counted(filled.matched, 'label')} matched without regard to case and spaces")
    if told.changed:
        output.say(f"{counted(len(told.changed), 'earlier answer')} changed: {_ids(told.changed)}")
    output.say(f"{counted(now.questions, 'question')} still open", next_line(now, folder))
    output.give(
        {
            "folder": str(folder),
            "new": told.new,
            "changed": list(told.changed),
            "skipped": told.skipped,
            "repeated": told.repeated,
            "matched": filled.matched,
            "empty": filled.empty,
            "conflicts": {id: list(said) for id, said in filled.conflicts.items()},
            "bad": [{"place": bad.place, "id": bad.id, "value": bad.value, "reason": bad.reason} for bad in filled.bad],
            "labels": now.labels,
            "open": now.questions,
            "next": now.next,
        }
    )
    if not_taken:
        _list(not_taken)
        cells = counted(len(filled.bad) + len(filled.conflicts), "answer")
        typer.echo(
            f"actune: {cells} not saved, all others are: correct the cells listed above and run the command again",
            err=True,
        )
        raise typer.Exit(2)


def _not_taken(filled: Filled, classes: tuple[str, ...]) -> list[str]:
    """What cannot be saved, a line each."""
    lines = [f"not saved: {bad}" for bad in filled.bad]
    lines += [
        f"not saved: the file has {len(said)} answers for the id {id!r}: {' and '.join(map(repr, said))}"
        for id, said in filled.conflicts.items()
    ]
    if len(lines) > LISTED:
        lines[LISTED:] = [f"and {len(lines) - LISTED:,} more, which --json lists"]
    if filled.bad and len(classes) <= CLASSES:
        lines.append(f"the classes are {', '.join(classes)}")
    return lines


def _list(lines: list[str]) -> None:
    for line in lines:  # also with --quiet: these are mistakes
        typer.echo(one_line(line), err=True)


def _ids(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
    return ", ".join(map(repr, ids[:SHOWN])) + more
