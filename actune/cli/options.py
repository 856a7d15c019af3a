"""The options that several commands share, each written once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from actune.errors import SettingError

if TYPE_CHECKING:
    from actune.session.request import Words

Data = Annotated[
    str,
    typer.Argument(metavar="DATA", help="A named data set (trec), a file, a folder with a train file, or a hub id."),
]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run or a project.")]

Method = Annotated[str, typer.Option(help="What to ask and trust: see `actune methods`.")]
Preset = Annotated[str, typer.Option(help="Which published settings to use.")]
Model = Annotated[str, typer.Option(help="The encoder: minilm, mpnet, a folder, or a hub id.")]
Learner = Annotated[str, typer.Option(help="finetune, probe, or auto.")]
Device = Annotated[str, typer.Option(help="auto, cpu, or cuda.")]
Initial = Annotated[int | None, typer.Option(help="Labels before the first round; the data set's own by default.")]
Batch = Annotated[int | None, typer.Option(help="Labels asked for each round; the data set's own by default.")]
Seed = Annotated[int, typer.Option(help="Decides every random draw.")]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Overrides a setting; repeatable.")]
RoundSeconds = Annotated[float, typer.Option(help="With --learner auto on a CPU: the longest round to fine-tune in.")]
DataDir = Annotated[Path | None, typer.Option(help="The folder that holds the named data sets.")]

First = Annotated[
    str | None,
    typer.Option(help="What to ask before there is a model: random, representatives, typiclust, or alps."),
]
Adapt = Annotated[int, typer.Option(metavar="STEPS", help="Trains the encoder on the texts themselves first.")]
TrainLayers = Annotated[
    int | None, typer.Option(metavar="N", help="Fine-tune the last N layers only, on kept outputs of those below.")
]
CacheLimit = Annotated[float | None, typer.Option(metavar="GB", help="What these outputs may take on the disk.")]
Weak = Annotated[bool, typer.Option("--weak", help="Begin with a model of the votes that come with the data.")]
VotesFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Begin with these votes: a table, or rules.")]
LabelModel = Annotated[str, typer.Option(help="How votes become labels: majority, em, or snorkel.")]
KeepWeak = Annotated[bool, typer.Option("--keep-weak", help="Train on weak labels until a person overrules them.")]
StartFrom = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Begin with your own classifier: a saved model, or a run.")
]

Text = Annotated[str | None, typer.Option(help="The column of texts; `text` by default.")]
Label = Annotated[str | None, typer.Option(help="The column of labels; `label` by default.")]
Id = Annotated[str | None, typer.Option(help="The column of ids; `id` by default, else row numbers.")]
Dev = Annotated[Path | None, typer.Option(metavar="FILE", help="Labelled texts that choose the checkpoint.")]
Test = Annotated[Path | None, typer.Option(metavar="FILE", help="Labelled texts that measure the model.")]

Raw = Annotated[bool, typer.Option("--raw", help="Leave CSV cells as they are, for machines.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no progress and no prose.")]


def changes_of(settings: Sequence[str] | None, **named: object) -> dict[str, str]:
    """`--set a=1 --set b=2` as a mapping, beside settings that have an option of their own."""
    changes = {name: str(value) for name, value in named.items() if value is not None}
    for setting in settings or ():
        name, sign, value = setting.partition("=")
        if not sign or not name.strip():
            raise SettingError(f"--set takes name=value, not {setting!r}")
        changes[name.strip()] = value.strip()
    return changes


def opening(
    first: str | None,
    adapt: int,
    weak: bool,
    votes: Path | None,
    label_model: str,
    keep_weak: bool,
    start_from: Path | None,
) -> Words:
    """What a run begins with, in a request's words."""
    return {
        "first": first or "",
        "adapt": adapt,
        "weak": str(votes) if votes else "own" if weak else "",
        "label_model": label_model,
        "keep_weak": keep_weak,
        "start_from": str(start_from) if start_from else "",
    }


def given(**options: Any) -> Mapping[str, Any]:
    """The options that the user gave, with paths as text."""
    return {
        name: str(value) if isinstance(value, Path) else value for name, value in options.items() if value is not None
    }
