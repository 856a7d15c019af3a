"""`actune predict`: labels and probabilities for new texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted
from actune.errors import DataError


def predict(
    folder: options.Folder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file with texts.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .csv, .tsv, .jsonl or .parquet file.")],
    text: options.Text = None,
    id: options.Id = None,
    raw: options.Raw = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Labels new texts with the newest model: id, text, label, and a probability p_CLASS for each class.

    Example: actune predict posts new.csv --out labelled.csv
    """
    from actune.cli.progress import progress_bars
    from actune.data.export import check_target, write_table
    from actune.data.formats import read_texts
    from actune.session.setup import open_session

    output = Output(json, quiet)
    if check_target(out).exists() and out.samefile(file):
        raise DataError(f"{out} holds the texts themselves: choose another file")
    texts = read_texts(file, text, id)
    with progress_bars(output) as bars:
        session = open_session(folder, bars)
        predictions = session.predict(texts.texts)
    classes = session.pool.classes
    write_table(
        out,
        ["id", "text", "label", *(f"p_{name}" for name in classes)],
        [
            [texts.ids[row], texts.texts[row], found.label, *(round(found.probabilities[name], 6) for name in classes)]
            for row, found in enumerate(predictions)
        ],
        raw,
    )
    counts = {name: sum(found.label == name for found in predictions) for name in classes}
    output.say(
        f"{counted(len(texts), 'text')} labelled in {out}: {', '.join(f'{n:,} {name}' for name, n in counts.items())}"
    )
    output.give({"folder": str(folder), "file": str(out), "texts": len(texts), "counts": counts})
