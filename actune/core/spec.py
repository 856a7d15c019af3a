"""What a run may be told, each option once: command line, grids, `create`, run.toml and the docs follow from it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actune.core.options import Option, Place, option
from actune.errors import SettingError

RUN, START, COMPARE, GRID, CREATE = Place.RUN, Place.START, Place.COMPARE, Place.GRID, Place.CREATE
COMMANDS = RUN | START | COMPARE
OWN_VOTES = "own"  # the votes that come with the data itself

DATA = "Data"
BEGINNING = "How a run begins"
TRAINING = "Training and hardware"


def class_names(labels: str) -> list[str]:
    """`a,b` or `a,"b, or c"` as names."""
    names = [name.strip() for name in next(csv.reader([labels], skipinitialspace=True), [])]
    if not all(names):
        raise SettingError(f"--labels takes names with commas between them, not {labels!r}")
    return names


def _path(value: str) -> str:
    return str(Path(value))


def _absolute(value: str) -> str:
    return str(Path(value).absolute())  # the run may be opened from another folder


def _votes(given: Mapping[str, Any]) -> str | None:
    """`--votes FILE` or `--weak`."""
    return given.get("votes") or (OWN_VOTES if given.get("weak") else None)


def _changes(given: Mapping[str, Any]) -> dict[str, str]:
    """`--set a=1 --set b=2` as a mapping, beside the settings that have an option of their own."""
    changes = {name: str(value) for name, value in given.items() if name != "changes"}
    for setting in given.get("changes", ()):
        name, sign, value = setting.partition("=")
        if not sign or not name.strip():
            raise SettingError(f"--set takes name=value, not {setting!r}")
        changes[name.strip()] = value.strip()
    return changes


def _reading(name: str, kind: type, help: str, places: Place, **facts: Any) -> Option:
    return Option(help, places, name, kind, group=DATA, **facts)


READING_OPTIONS = (
    _reading("text", str, "The column with the texts; `text` by default.", COMMANDS | GRID, metavar="COLUMN"),
    _reading("label", str, "The column with the labels; `label` by default.", COMMANDS | GRID, metavar="COLUMN"),
    _reading(
        "id",
        str,
        "The column with the ids; `id` by default, and row numbers where there is no such column.",
        COMMANDS | GRID,
        metavar="COLUMN",
    ),
    _reading(
        "split",
        str,
        "The column that says whether a row belongs to train, dev or test.",
        RUN | COMPARE | GRID,
        metavar="COLUMN",
    ),
    _reading(
        "classes",
        list,
        "The names of the classes, separated by commas; by default they are those in the column of labels.",
        START | GRID,
        flag="--labels",
        metavar="NAMES",
        parse=class_names,
    ),
    _reading(
        "dev",
        str,
        "A file with labelled texts for the dev set, which chooses the checkpoint.",
        COMMANDS | GRID,
        metavar="FILE",
        parse=_path,
    ),
    _reading(
        "test",
        str,
        "A file with labelled texts for the test set, which measures the model.",
        COMMANDS | GRID,
        metavar="FILE",
        parse=_path,
    ),
    _reading(
        "hold_out_dev",
        float,
        "Hold out this part of the labelled rows as the dev set: a share if below 1, else a number of rows; "
        "0.1 by default.",
        RUN | GRID,
    ),
    _reading(
        "hold_out_test",
        float,
        "Hold out this part of the labelled rows as the test set: a share if below 1, else a number of rows; "
        "0.2 by default.",
        RUN | GRID,
    ),
    _reading("sample", int, "Use at most this many texts of the pool, drawn at random by the seed.", RUN | GRID),
    _reading(
        "data_dir", str, "The folder that holds the named data sets.", RUN | COMPARE, metavar="DIR", parse=_absolute
    ),
)


@dataclass(frozen=True)
class RunSpec:
    """What the user asked for: two runs with equal specs are the same run."""

    data: str = field(
        metadata={
            "option": Option(
                "The data: a named data set (trec), a file, a folder with a train file, or a dataset id on the hub.",
                COMMANDS | CREATE,
                flag="DATA",
                keyword="source",
            )
        }
    )
    method: str = option(
        "auto",
        "The method, which decides what to ask and which pseudo-labels to trust; `actune methods` lists them.",
        RUN | START | CREATE,
        by_value=True,
    )
    preset: str = option(
        "paper",
        "Use the settings of the paper (paper) or those of its authors' scripts (released).",
        RUN | START | GRID | CREATE,
    )
    model: str = option(
        "minilm", "The pretrained encoder: minilm, mpnet, a folder, or a model id on the hub.", COMMANDS | CREATE
    )
    learner: str = option(
        "auto",
        "How a model learns: finetune trains the encoder, probe trains a head on frozen embeddings, and auto chooses "
        "what this machine can do in reasonable time.",
        RUN | START | CREATE,
    )
    device: str = option("auto", "The device that computes: auto, cpu, or cuda.", COMMANDS | CREATE, group=TRAINING)
    initial: int = option(
        100,
        "Ask for this many labels before the first model is trained; by default this depends on the data.",
        COMMANDS | GRID | CREATE,
        from_data=True,
    )
    batch: int = option(
        100,
        "Ask for this many labels in each round; by default this depends on the data.",
        COMMANDS | GRID | CREATE,
        from_data=True,
    )
    rounds: int = option(  # 0 is a project that goes on as long as its people want
        0,
        "Train this many models, one in each round; by default this depends on the data.",
        RUN | COMPARE | GRID | CREATE,
        from_data=True,
    )
    seed: int = option(0, "The random seed: the same seed gives the same run.", RUN | START | CREATE)
    simulated: bool = option(False, "Answer from the labels of the data, as `actune run` does.", CREATE)
    noise: float = option(0.0, "The share of simulated answers that are wrong.", RUN | GRID | CREATE)
    adapt: int = option(
        0,
        "Train the encoder on the texts themselves for this many steps of masked language modelling, before round 0.",
        RUN | START | GRID | CREATE,
        metavar="STEPS",
        group=BEGINNING,
    )
    first: str = option(
        "",
        "How to choose the first texts, before there is a model: random, representatives, typiclust, or alps.",
        RUN | START | GRID | CREATE,
        group=BEGINNING,
    )
    weak: str = option(
        "",
        "Begin with a model that is trained on the votes of rules: `own` for the votes that come with the data, or "
        "a file with a table of votes or with rules.",
        GRID | CREATE,
        group=BEGINNING,
        true_means=OWN_VOTES,
        spellings=(
            Option(
                "Begin with a model that is trained on the votes that come with the data.",
                RUN | START,
                "weak",
                bool,
                default=False,
                group=BEGINNING,
            ),
            Option(
                "Begin with a model that is trained on the votes in this file: a table of votes, or rules.",
                RUN | START,
                "votes",
                str,
                metavar="FILE",
                group=BEGINNING,
                parse=_path,
            ),
        ),
        gather=_votes,
    )
    label_model: str = option(
        "em",
        "How the votes on a text become one label: majority, em, or snorkel.",
        RUN | START | GRID | CREATE,
        group=BEGINNING,
    )
    keep_weak: bool = option(
        False,
        "Keep training on the labels from votes until a person overrules them.",
        RUN | START | GRID | CREATE,
        group=BEGINNING,
    )
    start_from: str = option(
        "",
        "Begin with your own classifier: the folder of a saved model, or of a run.",
        RUN | START | GRID | CREATE,
        metavar="DIR",
        group=BEGINNING,
        parse=_path,
    )
    changes: Mapping[str, Any] = option(
        dict,
        "Change settings of the method or of training (see methods.md).",
        CREATE,
        flag="--set",
        table="set",
        spellings=(
            Option(
                "Change a setting of the method or of training; this option may be repeated.",
                COMMANDS,
                "changes",
                list[str],
                flag="--set",
                metavar="NAME=VALUE",
            ),
            Option(
                "Fine-tune only the last N layers, on stored outputs of the layers below them.",
                RUN | START,
                "train_layers",
                int,
                metavar="N",
                group=TRAINING,
            ),
            Option(
                "The disk space that these stored outputs may take, in gigabytes.",
                RUN | START,
                "cache_limit",
                float,
                metavar="GB",
                group=TRAINING,
            ),
        ),
        gather=_changes,
    )
    reading: Mapping[str, Any] = option(
        dict,
        "How the data was read: columns, splits, folders.",
        CREATE,
        group=DATA,
        table="reading",
        spellings=READING_OPTIONS,
    )
    round_seconds: float = option(
        60.0,
        "With --learner auto on a CPU, fine-tune only where a round is estimated to take no longer than this.",
        RUN | START | CREATE,
        metavar="SECONDS",
        group=TRAINING,
        recorded=False,  # another machine may be faster, and the run is the same one
    )

    @property
    def opens(self) -> bool:
        """Whether there is a first model before anybody has answered: entry 0 of the curve, at 0 labels."""
        return bool(self.weak or self.start_from)

    @property
    def fits(self) -> int:
        """Planned models: one a round, and the first one where it needs no answers; 0 without a plan."""
        return self.rounds + (self.opens if self.rounds else 0)
