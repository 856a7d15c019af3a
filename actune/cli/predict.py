"""`actune predict`: labels for new texts, beside the columns that a file has already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted

if TYPE_CHECKING:
    from actune.data.cells import Table
    from actune.rounds.predicting import Prediction

DIGITS = 6  # of a probability
SHOWN = 10  # so many classes are counted in the prose, the most frequent ones


def predict(
    folder: options.Folder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file with texts.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"The output, {options.OUTPUT}; by default NAME-labelled next to the input, in the same format.",
        ),
    ] = None,
    text: options.Text = None,
    encoding: options.Encoding = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add a column p_CLASS with the probability of each class.")
    ] = False,
    raw: options.Raw = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Label the texts of a file with the model of a run or project.

    The output has all rows and columns of the file and two more, `label` and `confidence` (`predicted_label` and
    `predicted_confidence` if the file already has one of these). Rows without a text get no label.

    Example: actune predict posts new.csv --out labelled.csv
    """
    from actune.cli.progress import progress_bars
    from actune.data.export import check_names, check_target, kind_of, write_table
    from actune.data.formats import columns_in, read_table, rows_without_text
    from actune.data.tables import check_file
    from actune.session.config import load_config
    from actune.session.setup import open_session

    output = Output(json, quiet, out)
    check_file(file)
    out = check_target(out or _beside(file), file)
    reading = load_config(folder).request.reading
    table = read_table(file, encoding or reading.get("encoding"))
    if not raw and kind_of(out) in (".csv", ".tsv"):
        check_names(list(table.cells))  # now, and not when the model has done its work
    column = columns_in(table, {"text": text}, reading)["text"]
    empty = set(rows_without_text(table, column))
    rows = [row for row in range(len(table)) if row not in empty]
    cells = table.column(column or "text", "--text")
    with progress_bars(output) as bars:
        session = open_session(folder, bars)
        found = dict(zip(rows, session.predict([str(cells[row]) for row in rows]), strict=True))
    classes = session.pool.classes
    names = _new_columns(table, classes if probabilities else ())
    said = [_cells(found.get(row), classes if probabilities else ()) for row in range(len(table))]
    old = zip(*table.cells.values(), strict=True)
    notes = [*table.notes]
    if empty:
        notes.append(f"{counted(len(empty), 'row')} without a text got no label: {table.where(sorted(empty))}")
    notes += write_table(out, [*table.cells, *names], [[*row, *new] for row, new in zip(old, said, strict=True)], raw)
    counts = {name: sum(one.label == name for one in found.values()) for name in classes}
    told = _told(counts)
    output.say(*notes, f"{counted(len(found), 'text')} labelled in {output.named(out)}, column {names[0]!r}: {told}")
    facts = {"texts": len(found), "empty": len(empty), "columns": names, "counts": counts, "notes": notes}
    output.give({"folder": str(folder), "file": str(out), **facts})


def _told(counts: Mapping[str, int]) -> str:
    """How many texts got which label, the most frequent first."""
    found = sorted(((name, number) for name, number in counts.items() if number), key=lambda each: -each[1])
    rest = f", and {len(found) - SHOWN:,} more classes" if len(found) > SHOWN else ""
    return ", ".join(f"{number:,} {name}" for name, number in found[:SHOWN]) + rest


def _beside(file: Path) -> Path:
    """`new-labelled.csv` for `new.csv`; what is compressed or one JSON list becomes JSON lines or CSV."""
    from actune.data.tables import file_kind

    kind = file_kind(file)
    name = file.name[: file.name.lower().rindex(kind)]
    return file.with_name(f"{name}-labelled{'.jsonl' if kind == '.json' else kind}")


def _new_columns(table: Table, classes: Sequence[str]) -> list[str]:
    """Names for what is added; with a prefix, where the file has one of them already."""
    names = ["label", "confidence", *(f"p_{name}" for name in classes)]
    prefixes = ("" if n == 0 else "predicted_" if n == 1 else f"predicted_{n}_" for n in count())
    prefix = next(each for each in prefixes if not any(f"{each}{name}" in table.cells for name in names))
    return [f"{prefix}{name}" for name in names]


def _cells(found: Prediction | None, classes: Sequence[str]) -> list[object]:
    if found is None:
        return [None] * (2 + len(classes))
    chances = [round(found.probabilities[name], DIGITS) for name in classes]
    return [found.label, round(max(found.probabilities.values()), DIGITS), *chances]
