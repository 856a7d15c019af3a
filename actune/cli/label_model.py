"""`actune label-model`: the votes of rules as labels, and what each rule is worth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from actune.cli import options
from actune.cli.console import Output, counted, running_code
from actune.cli.options import given
from actune.core.class_names import class_names
from actune.core.spec import is_code

if TYPE_CHECKING:
    from actune.session.votes import Voted
    from actune.weak.label_models import Combined

COLUMNS = {
    "name": "source",
    "classes": "votes for",
    "coverage": "coverage",
    "overlap": "overlap",
    "conflict": "conflict",
    "estimated_accuracy": "estimated accuracy",
    "measured_accuracy": "measured accuracy",
    "measured_on": "on votes",
}


def label_model(
    data: Annotated[
        str, typer.Argument(metavar="FILE", help="A table with votes or texts, or a named data set (trec).")
    ],
    rules: Annotated[
        Path | None,
        typer.Option(
            metavar="RULES", help="A file with rules that vote on the texts (.toml or .py; a .py file is executed)."
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option("--label-model", help="How votes are combined: majority, em, or snorkel (in the extra `weak`)."),
    ] = "em",
    labels: Annotated[
        str | None,
        typer.Option(help="The class names, separated by commas, or @FILE; by default the names in votes and labels."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="The columns with votes, separated by commas, one per source; vote_... or lf_... by default."
        ),
    ] = None,
    to: Annotated[Path | None, typer.Option(metavar="FILE", help=f"Write the labels to {options.OUTPUT}.")] = None,
    seed: options.Seed = 0,
    data_dir: options.DataDir = None,
    text: options.Text = None,
    label: options.Label = None,
    id: options.Id = None,
    encoding: options.Encoding = None,
    raw: options.Raw = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Combine the votes of several sources into one label and a confidence per text.

    Votes are in columns named vote_... or lf_..., or in a column `votes` or `weak_labels` with a list per row. True
    labels, if any, are only used to measure accuracy.

    Example: actune label-model posts.csv --rules rules.toml --to labels.csv
    """
    from actune.data.export import check_target
    from actune.session.votes import read_votes
    from actune.weak.label_models import combine

    output = Output(json, quiet, to)
    if to is not None:
        check_target(to, data)
    if rules is not None and is_code(str(rules)):
        output.say(running_code(str(rules)))
    reading = given(data_dir=data_dir, text=text, label=label, id=id, encoding=encoding)
    voted = read_votes(
        data,
        None if rules is None else str(rules),
        None if columns is None else [name.strip() for name in columns.split(",")],
        None if labels is None else class_names(labels),
        reading,
    )
    combined = combine(model, voted.votes, len(voted.pool.classes), seed)
    facts = {"data": data, "label_model": model, "file": None if to is None else str(to), **_facts(voted, combined)}
    if to is not None:
        output.say(*_write(to, voted, combined, raw))
    _show(output, facts)
    output.give(facts)


def _facts(voted: Voted, combined: Combined) -> dict[str, Any]:
    import numpy as np

    from actune.core.pool import UNKNOWN
    from actune.weak.sources import describe, in_conflict

    truth = np.array(voted.pool.labels, dtype=np.int64)
    covered = voted.votes.covered
    measured = covered & (truth != UNKNOWN)
    classes = voted.pool.classes
    sources = [asdict(facts) for facts in describe(voted.votes, combined, truth)]
    for facts in sources:
        facts["classes"] = [classes[number] for number in facts["classes"]]
        facts["estimated_accuracy"] = facts["estimated_accuracy"] if facts["coverage"] else None
    return {
        "rows": len(voted.pool),
        "covered": int(covered.sum()),
        "conflicts": int(in_conflict(voted.votes).sum()),
        "accuracy": float((combined.labels == truth)[measured].mean()) if measured.any() else None,
        "measured_on": int(measured.sum()),
        "classes": list(classes),
        "counts": {name: int((combined.labels == number).sum()) for number, name in enumerate(classes)},
        "sources": sources,
    }


def _show(output: Output, facts: dict[str, Any]) -> None:
    names = [name for name in COLUMNS if facts["measured_on"] or not name.startswith("measured")]
    rows = [[_cell(source[name]) for name in names] for source in facts["sources"]]
    output.show(f"{facts['data']}: {facts['label_model']}", [COLUMNS[name] for name in names], rows)
    share = facts["covered"] / facts["rows"]
    right = "" if facts["accuracy"] is None else f", accuracy {facts['accuracy']:.4f} on {facts['measured_on']:,}"
    output.say(
        f"{counted(facts['rows'], 'row')}, {facts['covered']:,} with votes ({share:.1%}), "
        f"{facts['conflicts']:,} with conflicting votes{right}"
    )
    if facts["file"]:
        output.say(f"{counted(facts['covered'], 'label')} written to {output.named(Path(facts['file']))}")


def _cell(value: object) -> object:
    return ", ".join(value) if isinstance(value, list) else value


def _write(to: Path, voted: Voted, combined: Combined, raw: bool) -> list[str]:
    from actune.data.export import write_table

    pool, texts = voted.pool, voted.has_texts
    return write_table(
        to,
        ["id", *(["text"] if texts else []), "label", "confidence"],
        [
            [
                pool.ids[row],
                *([pool.texts[row]] if texts else []),
                pool.classes[combined.labels[row]],
                round(float(combined.proba[row].max()), 6),
            ]
            for row in voted.votes.covered.nonzero()[0]
        ],
        raw,
    )
