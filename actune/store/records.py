"""What a store takes and gives: answers, the words that stand on rows, models, changes of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["label", "skip", "unsure", "unskip", "clear", "retract", "decide"]
MarkKind = Literal["note", "flag", "queue", "reject", "audit", "share", "release", "keep", "overlap"]
ChangeKind = Literal["add", "rename", "merge", "unmerge", "retire", "restore", "remove", "describe", "split"]
WHOLE_RUN = -1  # in the place of a row: a mark that is about the run
UNKNOWN_ROW = -1  # in the place of the row that was read, where nobody knows it any more


@dataclass(frozen=True)
class Said:
    """One answer as somebody gives it: a class number with `label` and perhaps with `decide`, nothing with other kinds.

    `unsure` is a skip with that reason, `unskip` ends a skip, and `clear` takes back whatever stands on the row.
    `retract` takes back what this person said. `decide` counts above all that others say, also later.
    """

    row: int
    kind: Kind
    label: int | None
    by: str
    seconds: float | None = None  # how long it took, where that is known
    client: str | None = None  # an id that the sender chose: the same one of the same person is recorded once
    applied: int | None = None  # the row of the text that was read, where this one is only a near-duplicate of it


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
    client: str | None = None
    before: int | None = None  # the number of the answer whose word stood on the row before
    applied: int | None = None  # the row of the near-duplicate that was read instead; `UNKNOWN_ROW` of an import


@dataclass(frozen=True)
class Word:
    """A word that stands, with the number of the answer that said it: the latest on a row, or that of one person."""

    row: int
    number: int
    kind: Kind
    label: int | None
    by: str


@dataclass(frozen=True)
class Saved:
    """One answer that is on the disk: its number in the log, None where nothing had to be written, and what stood."""

    row: int
    client: str | None
    number: int | None
    before: tuple[Kind, int | None] | None  # the kind and the class of the word that stood before


@dataclass(frozen=True)
class Mark:
    """Something said about a row beside its label; without a value it takes back what was said."""

    row: int
    kind: MarkKind
    value: str | None
    by: str
    client: str | None = None


def no_marks(first: int) -> Sequence[Mark]:
    """What is marked on new texts unless somebody says otherwise; `first` is the row of the first of them."""
    return ()


@dataclass(frozen=True)
class MarkRow:
    """A mark as it lies in the log."""

    number: int
    row: int
    kind: MarkKind
    value: str | None
    by: str
    at: str
    after: int  # the last answer that came before


@dataclass(frozen=True)
class Standing:
    """The newest mark of one kind on a row, of notes and flags that of one person, where it was not taken back."""

    kind: MarkKind
    row: int
    by: str
    number: int
    value: str
    at: str


@dataclass(frozen=True)
class Recorded:
    """What became of some answers, by the words that stood before them."""

    new: int
    repeated: int
    changed: tuple[int, ...]  # rows whose earlier answer was another one
    skipped: int
    saved: tuple[Saved, ...] = ()  # each answer, in their order


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
    """One change of the classes. Numbers of classes never change; `into` is the class that another was merged into.

    What a person does at once has several changes where it is a split; they share the number of their first as `step`.
    """

    number: int
    kind: ChangeKind
    class_number: int
    name: str | None
    into: int | None
    after: int  # the last answer that came before
    by: str
    at: str
    step: int | None = None  # None of what was declared at the start, and of what earlier versions wrote
    undoes: int | None = None  # the step that this one takes back


@dataclass(frozen=True)
class Lease:
    """A row that somebody is working on, until a time in seconds since 1970."""

    row: int
    by: str
    until: float
