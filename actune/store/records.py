"""What a store takes and gives: answers, the words that stand on rows, models, changes of classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["label", "skip", "unskip"]


@dataclass(frozen=True)
class Said:
    """One answer as somebody gives it: a class number with `label`, nothing with `skip` and `unskip`."""

    row: int
    kind: Kind
    label: int | None
    by: str
    seconds: float | None = None  # how long it took, where that is known


@dataclass(frozen=True)
class AnswerRow:
    """One answer as it lies in the log."""

    number: int
    row: int
    kind: Kind
    label: int | None
    by: str
    at: str
    seconds: float | None = None
    round: int | None = None  # how many rounds were finished when it came


@dataclass(frozen=True)
class Word:
    """A word that stands, with the number of the answer that said it: the latest on a row, or that of one person."""

    row: int
    number: int
    kind: Kind
    label: int | None
    by: str


@dataclass(frozen=True)
class Recorded:
    """What became of some answers, by the words that stood before them."""

    new: int
    repeated: int
    changed: tuple[int, ...]  # rows whose earlier answer was another one
    skipped: int


@dataclass(frozen=True)
class Counts:
    """How many rows are labelled with each class number, and how many are skipped."""

    of_class: dict[int, int]
    skipped: int

    @property
    def labelled(self) -> int:
        return sum(self.of_class.values())


@dataclass(frozen=True)
class Chunk:
    """A file of texts, and which rows it holds."""

    file: str  # inside the run's folder
    first: int
    rows: int
    numbered: bool  # whether every id is its row number


@dataclass(frozen=True)
class ModelRow:
    """A saved model: the model of a round, or a final one that was fitted when `round` rounds were finished."""

    folder: str  # inside the run's folder
    round: int
    kind: Literal["round", "final"]
    digest: str | None = field(default=None, compare=False)  # of its files; earlier versions kept none


@dataclass(frozen=True)
class ClassChange:
    """One change of the classes. Numbers of classes never change; `into` is the class that another was merged into."""

    number: int
    kind: Literal["add", "rename", "merge"]
    class_number: int
    name: str | None
    into: int | None
    after: int  # the last answer that came before
    by: str
    at: str


@dataclass(frozen=True)
class Lease:
    """A row that somebody is working on, until a time in seconds since 1970."""

    row: int
    by: str
    until: float
