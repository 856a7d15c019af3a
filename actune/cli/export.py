"""`actune export`: the labels of a run as a table, or as records for another labelling tool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli import options
from actune.cli.console import Output, counted
from actune.cli.tools import check_format, write_for_tool

if TYPE_CHECKING:
    from actune.session.session import Session


def export(
    folder: options.Folder,
    to: Annotated[Path, typer.Option(metavar="FILE", help=f"Write the labels to {options.OUTPUT}.")],
    pseudo: Annotated[
        bool, typer.Option("--pseudo", help="Include pseudo-labels (their source column says `pseudo`).")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Include all texts: also those that were skipped or have no label yet.")
    ] = False,
    format: options.Format = None,
    config: options.ToolConfig = None,
    raw: options.Raw = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the labels to a file.

    Its columns are id, text, label, source (human or pseudo), round, confidence and by. `round` is the first round that
    was trained on the label; it is empty if there is none yet. With --all there is also a column `skipped`, which is
    `yes` or empty. `actune start`, `actune add` and `actune tell` read the file again.

    With --format the file has the answers of each person, and pseudo-labels are predictions of the model there.

    Example: actune export posts --to labels.csv
    """
    from actune.data.export import check_target
    from actune.session.setup import open_session

    output = Output(json, quiet, to)
    check_format(to, format, config) if format or config else check_target(to)
    session = open_session(folder)
    if format:
        human, found, notes = _records(session, to, format, config, pseudo, everything)
    else:
        human, found, notes = _table(session, to, pseudo, everything, raw)
    mixed = f" and {counted(found, 'pseudo-label')}" if pseudo else ""
    output.say(*notes, f"{counted(human, 'human label')}{mixed} written to {output.named(to)}")
    if config:
        output.say(f"the classes are written to {config}")
    output.give({"folder": str(folder), "file": str(to), "human": human, "pseudo": found, "notes": notes})


def _table(session: Session, to: Path, pseudo: bool, everything: bool, raw: bool) -> tuple[int, int, list[str]]:
    from actune.data.export import write_table
    from actune.session.labelled import ALL_COLUMNS, COLUMNS, all_rows, human_rows, pseudo_rows

    human = human_rows(session)
    found = pseudo_rows(session) if pseudo else []
    rows = [*human, *found]
    if everything:
        return len(human), len(found), write_table(to, ALL_COLUMNS, all_rows(session, rows), raw)
    return len(human), len(found), write_table(to, COLUMNS, rows, raw)


def _records(
    session: Session, to: Path, format: str, config: Path | None, pseudo: bool, everything: bool
) -> tuple[int, int, list[str]]:
    from actune.data.records import HUMAN, PSEUDO
    from actune.session.labelled import labelled_records

    records = labelled_records(session, pseudo, everything)
    write_for_tool(to, records, format, config, session.pool.classes)
    labelled = [record.source for record in records if record.guess or any(given.label for given in record.given[-1:])]
    return labelled.count(HUMAN), labelled.count(PSEUDO), []
