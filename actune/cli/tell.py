"""`actune tell`: answers from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted

SHOWN = 5  # so many ids are named, the rest is counted


def tell(
    folder: options.Folder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The questions with answers filled in.")],
    label_column: Annotated[str, typer.Option(help="The column of answers.")] = "label",
    id_column: Annotated[str, typer.Option(help="The column of ids.")] = "id",
    skip_word: Annotated[str, typer.Option(help="The answer for a text that cannot be labelled.")] = "skip",
    unskip_word: Annotated[str, typer.Option(help="The answer that takes a skip back.")] = "unskip",
    by: Annotated[str, typer.Option(help="Who answered.")] = "person",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Takes the answers of a file, by id. Nothing is trained.

    Empty cells are questions for later, repeats are harmless, and where a file contradicts itself that id is left out.

    Example: actune tell posts batch.csv
    """
    from actune.annotators.files import FileWords, read_answers
    from actune.cli.folders import open_project

    output = Output(json, quiet)
    session = open_project(folder)
    words = FileWords(id=id_column, label=label_column, skip=skip_word, unskip=unskip_word)
    filled = read_answers(file, session.pool, words, by, session.knows)
    told = session.tell(filled.answers)
    waiting = len(session.ask())
    output.say(
        f"{counted(told.new, 'new label')}, {told.skipped:,} skipped, "
        f"{told.repeated:,} known already, {filled.empty:,} still empty"
    )
    if told.changed:
        output.say(f"{counted(len(told.changed), 'earlier answer')} changed: {_ids(told.changed)}")
    for id, said in filled.conflicts.items():
        output.say(f"not taken: the file says {' and '.join(map(repr, said))} of id {id!r}")
    output.say(f"{counted(waiting, 'question')} still open", f"next: actune advance {folder}")
    output.give(
        {
            "folder": str(folder),
            "new": told.new,
            "changed": list(told.changed),
            "skipped": told.skipped,
            "repeated": told.repeated,
            "empty": filled.empty,
            "conflicts": {id: list(said) for id, said in filled.conflicts.items()},
            "labels": session.store.counts().labelled,
            "open": waiting,
        }
    )


def _ids(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
    return ", ".join(map(repr, ids[:SHOWN])) + more
