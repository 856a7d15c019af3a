"""`actune start`: a project whose answers come from people."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli import options as given_as
from actune.cli.console import Output, counted
from actune.cli.options import changes_of, given
from actune.errors import SettingError

if TYPE_CHECKING:
    from actune.session.request import Words


def start(
    data: given_as.Data,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The new folder of the project.")],
    labels: Annotated[str | None, typer.Option(help="The classes, a,b,c; by default those in the file.")] = None,
    text: given_as.Text = None,
    label: given_as.Label = None,
    id: given_as.Id = None,
    dev: given_as.Dev = None,
    test: given_as.Test = None,
    method: given_as.Method = "auto",
    model: given_as.Model = "minilm",
    learner: given_as.Learner = "auto",
    initial: given_as.Initial = None,
    batch: given_as.Batch = None,
    seed: given_as.Seed = 0,
    settings: given_as.Set = None,
    preset: given_as.Preset = "paper",
    device: given_as.Device = "auto",
    first: given_as.First = None,
    adapt: given_as.Adapt = 0,
    train_layers: given_as.TrainLayers = None,
    cache_limit: given_as.CacheLimit = None,
    weak: given_as.Weak = False,
    votes: given_as.VotesFile = None,
    label_model: given_as.LabelModel = "em",
    keep_weak: given_as.KeepWeak = False,
    start_from: given_as.StartFrom = None,
    round_seconds: given_as.RoundSeconds = 60.0,
    json: given_as.Json = False,
    quiet: given_as.Quiet = False,
) -> None:
    """Opens a project on texts that people will label, in any spreadsheet.

    Labels that the file has already become answers. Then come ask, tell and advance, again and again.

    Example: actune start posts.csv --labels praise,complaint,question --out posts
    """
    from actune.cli.progress import progress_bars
    from actune.session.setup import create, project_task, task_of

    output = Output(json, quiet)
    reading = given(text=text, label=label, id=id, dev=dev, test=test)
    if labels is not None:
        reading = {**reading, "classes": classes_of(labels)}
    found = task_of(data, {**reading, "hold_out_dev": 0, "hold_out_test": 0}, seed)
    task = replace(project_task(found.pool, found.name), dev=found.dev, test=found.test, notes=found.notes)
    words: Words = {
        "source": data,
        "method": method,
        "model": model,
        "learner": learner,
        "device": device,
        "preset": preset,
        "initial": initial,
        "batch": batch,
        "seed": seed,
        "changes": changes_of(settings, train_layers=train_layers, cache_limit=cache_limit),
        "reading": reading,
        **given_as.opening(first, adapt, weak, votes, label_model, keep_weak, start_from),
    }
    with progress_bars(output) as bars:
        session = create(out, task, **words, round_seconds=round_seconds, progress=bars)
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


def classes_of(labels: str) -> list[str]:
    """`a,b` or `a,"b, or c"` as names."""
    names = [name.strip() for name in next(csv.reader([labels], skipinitialspace=True), [])]
    if not all(names):
        raise SettingError(f"--labels takes names with commas between them, not {labels!r}")
    return names
