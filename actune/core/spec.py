"""What a run may be told, each option once: command line, grids, `create`, run.toml and the docs follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actune.core.class_names import COLON, class_names, described_classes
from actune.core.options import Option, Place, option
from actune.errors import SettingError

RUN, START, COMPARE, GRID, CREATE = Place.RUN, Place.START, Place.COMPARE, Place.GRID, Place.CREATE
COMMANDS = RUN | START | COMPARE
OWN_VOTES = "own"  # the votes that come with the data itself
PAGE_DISTINCT = 0.8  # the similarity of near-duplicates on the labelling page
OWN_NAMES = "own"  # the names of the classes and nothing else

DATA = "Data"
BEGINNING = "Start of a run"
TRAINING = "Training and hardware"


def is_code(votes: str) -> bool:
    """Whether these are rules in Python, which run as code."""
    return Path(votes).suffix == ".py"


def _path(value: str) -> str:
    return str(Path(value))


def _absolute(value: str) -> str:
    return str(Path(value).absolute())  # the run may be opened from another folder


def _votes(given: Mapping[str, Any]) -> str | None:
    """`--votes FILE` or `--weak`."""
    return given.get("votes") or (OWN_VOTES if given.get("weak") else None)


def _names(given: Mapping[str, Any]) -> str | None:
    """`--names`, `--phrases FILE`, or class names in `--labels` that come with descriptions."""
    listed = given.get("classes")
    if given.get("phrases"):
        return str(given["phrases"])
    if listed and any(described.phrases for described in described_classes(listed)):
        return str(listed)
    return OWN_NAMES if given.get("names") else None


def _phrases(value: str) -> str:
    """A path, or the class names and what is said about them in the same words as in `--labels`."""
    return value if COLON in value else _path(value)


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
        "The column with the ids; `id` by default, or row numbers if there is no such column.",
        COMMANDS | GRID,
        metavar="COLUMN",
    ),
    _reading(
        "encoding",
        str,
        "The encoding of files that are not UTF-8, such as cp1252; without it, the error message suggests one.",
        COMMANDS | GRID,
        metavar="NAME",
    ),
    _reading(
        "split",
        str,
        "The column that says whether a row belongs to train, dev or test; by default none is used.",
        RUN | COMPARE | GRID,
        metavar="COLUMN",
    ),
    _reading(
        "classes",
        list,
        "The class names, separated by commas, or @FILE with one name per line (or a JSON list); by default the names "
        "in the label column. A name may have a description: 'refund: the customer wants money back'.",
        START | GRID,
        flag="--labels",
        metavar="NAMES",
        parse=class_names,
    ),
    _reading(
        "dev",
        str,
        "A file with labelled texts for the dev set, which selects the best checkpoint; its columns may have other "
        "names than those of the data.",
        COMMANDS | GRID,
        metavar="FILE",
        parse=_path,
    ),
    _reading(
        "test",
        str,
        "A file with labelled texts for the test set, on which the accuracy is measured; its columns may have other "
        "names than those of the data.",
        COMMANDS | GRID,
        metavar="FILE",
        parse=_path,
    ),
    _reading(
        "hold_out_dev",
        float,
        "The part of the labelled rows to hold out as the dev set: a share if below 1, otherwise a number of rows; "
        "0.1 by default.",
        RUN | GRID,
    ),
    _reading(
        "hold_out_test",
        float,
        "The part of the labelled rows to hold out as the test set: a share if below 1, otherwise a number of rows; "
        "0.2 by default.",
        RUN | GRID,
    ),
    _reading(
        "keep_together",
        float,
        "Never hold out a part of a group of near-duplicates as dev or test set, which are texts that share at least "
        "this part of their pairs of neighbouring words, such as 0.8; by default near-duplicates are not looked for.",
        RUN | GRID,
        metavar="SIMILARITY",
    ),
    _reading("sample", int, "Use at most this many texts of the pool, sampled at random; all by default.", RUN | GRID),
    _reading(
        "data_dir",
        str,
        "The folder with the named data sets; by default the one in the environment variable ACTUNE_DATA.",
        RUN | COMPARE,
        metavar="DIR",
        parse=_absolute,
    ),
)


@dataclass(frozen=True)
class RunSpec:
    """What the user asked for: two runs with equal specs are the same run."""

    data: str = field(
        metadata={
            "option": Option(
                "The data: a named data set (trec), a file, a folder with a train file, or a data set on the Hugging "
                "Face hub.",
                COMMANDS | CREATE,
                flag="DATA",
                keyword="source",
            )
        }
    )
    method: str = option(
        "thrifty",
        "The method, which selects the questions and the pseudo-labels; `actune methods` lists all methods.",
        RUN | START | CREATE,
        by_value=True,
    )
    preset: str = option(
        "paper",
        "Use the settings of the paper (paper) or those of its authors' scripts (released).",
        RUN | START | GRID | CREATE,
    )
    model: str = option(
        "minilm",
        "The pretrained encoder: minilm, mpnet, a folder, or a model on the Hugging Face hub.",
        COMMANDS | CREATE,
    )
    learner: str = option(
        "auto",
        "How models are trained: finetune trains the encoder, probe trains a small network on frozen embeddings, and "
        "auto chooses by the speed of this machine.",
        RUN | START | CREATE,
    )
    recipe: str = option(
        "contrastive",
        "How finetune trains the encoder: contrastive needs fewer labels, because its head begins as a probe and texts "
        "of one class are drawn together; paper is the fine-tuning of the paper. The default is contrastive, or paper "
        "with --preset released.",
        COMMANDS | GRID | CREATE,
        group=TRAINING,
        from_others=True,
        before="paper",
    )
    device: str = option("auto", "The device to compute on: auto, cpu, or cuda.", COMMANDS | CREATE, group=TRAINING)
    initial: int = option(
        100,
        "The number of labels before the first model is trained; the default depends on the data.",
        COMMANDS | GRID | CREATE,
        from_data=True,
    )
    batch: int = option(
        100,
        "The number of questions per round; the default depends on the data.",
        COMMANDS | GRID | CREATE,
        from_data=True,
    )
    rounds: int = option(  # 0 is a project that goes on as long as its people want
        0,
        "The number of rounds; the default depends on the data.",
        RUN | COMPARE | GRID | CREATE,
        from_data=True,
    )
    seed: int = option(0, "The random seed; on a CPU, the same seed gives the same results.", RUN | START | CREATE)
    simulated: bool = option(False, "Simulate the answers from the labels, as `actune run` does.", CREATE)
    noise: float = option(0.0, "The share of simulated answers that are wrong.", RUN | GRID | CREATE)
    adapt: int = option(
        0,
        "First train the encoder on the texts with this many steps of masked language modelling.",
        RUN | START | GRID | CREATE,
        metavar="STEPS",
        group=BEGINNING,
    )
    first: str = option(
        "",
        "How the first texts are selected, before there is a model: random (the default of `actune run`), "
        "representatives (the default of a project), typiclust, alps, or, in simulations, balanced (the same number of "
        "texts from every class).",
        RUN | START | GRID | CREATE,
        group=BEGINNING,
    )
    weak: str = option(
        "",
        "Start with a model that is trained on weak labels: `own` for the votes in the data, or a file with votes or "
        "rules.",
        GRID | CREATE,
        group=BEGINNING,
        true_means=OWN_VOTES,
        spellings=(
            Option(
                "Start with a model that is trained on weak labels, from the votes in the data.",
                RUN | START,
                "weak",
                bool,
                default=False,
                group=BEGINNING,
            ),
            Option(
                "Start with a model that is trained on weak labels, from rules (.toml, .py) or a table of votes.",
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
        "How the votes on a text are combined into one label: majority, em, or snorkel.",
        RUN | START | GRID | CREATE,
        group=BEGINNING,
    )
    names: str = option(
        "",
        "Start with a model that is made from the class names: `own` for the names alone, or a file or text with "
        "names and descriptions.",
        GRID | CREATE,
        group=BEGINNING,
        true_means=OWN_NAMES,
        spellings=(
            Option(
                "Start with a model that is made from the class names.",
                RUN | START,
                "names",
                bool,
                default=False,
                group=BEGINNING,
            ),
            Option(
                "Start with a model that is made from the class names and what this file says about them: lines "
                "`name: description`, TOML, or JSON.",
                RUN | START,
                "phrases",
                str,
                metavar="FILE",
                group=BEGINNING,
                parse=_phrases,
            ),
            Option("The class names with descriptions.", START, "classes", str, flag="--labels", echoes=True),
        ),
        gather=_names,
    )
    keep_weak: bool = option(
        False,
        "Give weak labels the full weight in all rounds, until a person labels the text; by default their weight "
        "depends on how well they agree with the answers.",
        RUN | START | GRID | CREATE,
        group=BEGINNING,
    )
    start_from: str = option(
        "",
        "Start with your own classifier: the folder of a saved model or of a run.",
        RUN | START | GRID | CREATE,
        metavar="DIR",
        group=BEGINNING,
        parse=_path,
    )
    changes: Mapping[str, Any] = option(
        dict,
        "Change settings of the method or of training (see [methods.md](methods.md#settings)).",
        CREATE,
        flag="--set",
        table="set",
        spellings=(
            Option(
                "Change a setting of the method or of training; may be repeated.",
                COMMANDS,
                "changes",
                list[str],
                flag="--set",
                metavar="NAME=VALUE",
            ),
            Option(
                "Fine-tune only the last N layers of the encoder, and compute the output of the lower ones once; "
                "all layers by default.",
                RUN | START,
                "train_layers",
                int,
                metavar="N",
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
    no_dev: bool = option(
        False,
        "Do not use the dev set, as in a project that has none: the final checkpoint is used, and the dev labels help "
        "with nothing.",
        RUN | COMPARE | GRID | CREATE,
        group=DATA,
    )
    distinct: float = option(
        0.0,
        "Ask about at most one of several near-duplicates, which are texts that share at least this part of their "
        "pairs of neighbouring words, such as 0.8; 0 does not look for near-duplicates.",
        RUN | START | GRID | CREATE,
        metavar="SIMILARITY",
    )
    page: bool = option(
        False,
        "For the labelling page: keep what the page shows about every text, and wait with everything that needs a "
        "model, so that the first texts are there at once. Classes may be declared later.",
        CREATE,
    )
    audit: int = option(
        0,
        "How many texts are drawn at random for an audit sample: they are asked about among the others, and their "
        "labels measure the model and train none until the sample is released.",
        CREATE,
    )
    audit_every: int = option(5, "One of so many questions is about a text of the audit sample.", CREATE)
    store: str = option(
        "",
        "Keep the answers in this PostgreSQL database, such as postgresql://ann@db.example.org/labels, and not in a "
        "file of the project's folder; the password is best kept in PGPASSWORD or ~/.pgpass.",
        START | CREATE,
        metavar="URL",
        recorded=False,  # the run's folder has the address, without the password, in a file of its own
    )
    overlap: float = option(
        0.0,
        "The share of questions that several people answer, so that their agreement can be measured; these questions "
        "are drawn at random.",
        START | CREATE,
        metavar="SHARE",
    )
    answers_each: int = option(
        2, "How many people answer each of the questions that --overlap draws.", START | CREATE, metavar="PEOPLE"
    )
    round_seconds: float = option(
        60.0,
        "With --learner auto on a CPU: fine-tune only if a round is estimated to take at most this many seconds.",
        RUN | START | CREATE,
        metavar="SECONDS",
        group=TRAINING,
        recorded=False,  # another machine may be faster, and the run is the same one
    )

    @property
    def opens(self) -> bool:
        """Whether there is a first model before anybody has answered: entry 0 of the curve, at 0 labels."""
        return bool(self.weak or self.names or self.start_from)

    @property
    def fits(self) -> int:
        """Planned models: one a round, and the first one where it needs no answers; 0 without a plan."""
        return self.rounds + (self.opens if self.rounds else 0)
