"""`actune start`: a project whose answers come from people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli.console import Output, counted, running_code
from actune.cli.options import Json, Quiet, run_options
from actune.core.options import Place
from actune.core.run_options import RunOptions
from actune.core.spec import is_code


@run_options(Place.START)
def start(
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to create for the project.")],
    options: RunOptions,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Create a labelling project from a file of texts.

    Labels in the file become answers. Then repeat `actune ask`, `actune tell` and `actune advance`.

    Example: actune start posts.csv --labels praise,complaint,question --out posts
    """
    from actune.cli.progress import progress_bars
    from actune.session.setup import create_project

    output = Output(json, quiet)
    if is_code(options.get("weak", "")):
        output.say(running_code(options["weak"]))
    with progress_bars(output) as bars:
        session = create_project(out, bars, **options)
    known, questions = len(session.labels().of_row), len(session.ask())
    following = f"actune ask {out} --to batch.csv" if questions else f"actune advance {out}"
    output.say(
        *session.config.resolved.notes,
        f"{out}: {counted(len(session.pool), 'text')}, {counted(known, 'label')}, {counted(questions, 'question')}",
        f"next: {following}",
    )
    output.give(
        {
            "folder": str(out),
            "texts": len(session.pool),
            "classes": list(session.pool.classes),
            "labels": known,
            "questions": questions,
            "learner": session.config.resolved.learner,
            "notes": list(session.config.resolved.notes),
        }
    )
