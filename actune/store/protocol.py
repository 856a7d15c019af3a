"""What every database of a run can do; SQLite is the first, and another one has the same verbs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from actune.core.facts import FinalFacts, QuestionRow, RoundFacts, Selection
from actune.core.labels import Labels
from actune.core.pool import Pool
from actune.core.strings import Strings
from actune.store.class_state import ClassState
from actune.store.records import (
    AnswerRow,
    Chunk,
    ClassChange,
    Counts,
    Lease,
    Mark,
    MarkKind,
    MarkRow,
    ModelRow,
    Recorded,
    Said,
    Standing,
    Word,
    no_marks,
)

FINAL, EARLIER_FINALS = "final", "earlier_finals"  # facts of the newest final fine-tuning, and of those before it


class Events(Protocol):
    """Append-only events of one run, and what follows from them.

    Any number of threads and processes may call any verb. A verb that writes is one transaction: on return all of it
    is on the disk, and after an error nothing is.
    """

    def close(self) -> None: ...

    def check_log(self) -> None:
        """One sentence for a database that is damaged, or whose log is not as it was written."""
        ...

    # texts

    def add_chunk(
        self,
        split: str,
        file: str,
        ids: Strings,
        answers: Sequence[Said] = (),
        digest: str | None = None,
        marks: Callable[[int], Sequence[Mark]] = no_marks,
    ) -> int:
        """Appends a file of texts, which is on the disk, and the answers that come with them; gives its first row.

        The answers count rows from there. Ids that are taken are refused. `digest` is that of the file. `marks` gives
        what is marked on the new texts, by the row of the first one.
        """
        ...

    def chunks(self, split: str | None = None) -> list[Chunk]:
        """The files of texts that count, of one split in row order, or of all."""
        ...

    def texts_in_database(self, split: str, classes: Sequence[str], first: int = 0) -> Pool:
        """The texts that an earlier version kept in the database, from row `first` on."""
        ...

    def text_count(self, split: str) -> int:
        """How many texts there are."""
        ...

    def rows_of(self, split: str, ids: Sequence[str]) -> list[int | None]:
        """The row of each of these ids, None for an id that no text has."""
        ...

    def forget_chunks(self) -> None:
        """Lets no text count any more, and gives the room back that they take in the database."""
        ...

    # answers

    def tell(self, answers: Sequence[Said]) -> Recorded:
        """Appends answers; which of them are new is decided here, so that no two people are both the first."""
        ...

    def answers(self) -> list[AnswerRow]:
        """The whole log."""
        ...

    def latest(self) -> list[Word]:
        """The word that counts on every row that has one, in row order."""
        ...

    def words(self, row: int) -> list[Word]:
        """The last word of each person on one row, in the order of the answers."""
        ...

    def word_on(self, row: int) -> Word | None:
        """The word that counts on one row."""
        ...

    def words_on(self, rows: Sequence[int]) -> list[Word]:
        """The words that count on some rows."""
        ...

    def words_of_all(self, rows: Sequence[int]) -> list[Word]:
        """The last word of each person on some rows."""
        ...

    def labels(self, until: int | None = None) -> Labels:
        """What the answers add up to, now or after the answer with the number `until`."""
        ...

    def counts(self) -> Counts:
        """How many rows are labelled and skipped."""
        ...

    def history(
        self,
        limit: int,
        before: int | None,
        by: str | None,
        rows: Collection[int] | None,
        label: int | None,
        reader: str | None,
    ) -> list[AnswerRow]:
        """The newest answers below a number, newest first: of one person, on some rows, or of one class.

        Of texts that several people answer, a `reader` gets only what she said herself.
        """
        ...

    def said(self, numbers: Collection[int]) -> dict[int, AnswerRow]:
        """Single answers of the log by their numbers."""
        ...

    def applied_numbers(self) -> list[int]:
        """The numbers of the answers that were applied to a near-duplicate of a text that was read."""
        ...

    def answers_by_hour(self) -> list[tuple[str, int]]:
        """How many answers came in each hour, as `2026-01-31T09` in UTC."""
        ...

    def median_seconds(self) -> float | None:
        """The median time of the answers whose time is known."""
        ...

    def last_answer(self) -> int:
        """The number of the newest answer."""
        ...

    def answers_that_count(self, after: int) -> int:
        """How many answers with a number above `after` have changed what counts on a text."""
        ...

    # marks

    def mark(self, marks: Sequence[Mark]) -> int:
        """Appends notes, flags and the like; gives how many were new."""
        ...

    def marked(self, kind: MarkKind, rows: Collection[int] | None = None) -> Sequence[Standing]:
        """The marks of a kind that stand."""
        ...

    def mark_log(self) -> list[MarkRow]:
        """All marks that were ever made."""
        ...

    def queued(self) -> list[int]:
        """The rows that somebody picked and nobody has answered since, the first picked first."""
        ...

    # questions

    def questions(self, round: int | None = None) -> list[QuestionRow]:
        """The questions of one round, or all that were ever asked."""
        ...

    def add_questions(self, questions: Sequence[QuestionRow], facts: Mapping[str, Any] | None = None) -> int:
        """Appends questions to those of their round, which are chosen already, and keeps single facts with them.

        Gives how many were new: two who add at once may have chosen the same.
        """
        ...

    def open_questions(self) -> list[QuestionRow]:
        """The questions for the round that comes next, without those that were answered or skipped."""
        ...

    def lease_questions(self, by: str, count: int | None, seconds: float) -> list[QuestionRow]:
        """The first questions for `by`, held by `by` from now on, at most `count` of them.

        They are open questions that nobody else holds, mixed with texts that more people are to answer. Of a text for
        several people there are never more than so many who have answered it or hold it, and nobody gets it twice.
        """
        ...

    def lease(self, rows: Sequence[int], by: str, seconds: float) -> list[int]:
        """Holds rows for `by`; gives those that nobody else holds."""
        ...

    def release(self, rows: Sequence[int], by: str) -> None:
        """Gives rows back that `by` holds; an answer does the same, and so does time."""
        ...

    def leases(self) -> list[Lease]:
        """The rows that somebody holds now."""
        ...

    # rounds

    def commit(
        self,
        fitted: RoundFacts | None = None,
        selection: Selection | None = None,
        model: ModelRow | None = None,
        facts: Mapping[str, Any] | None = None,
        keep_models: bool = False,
    ) -> None:
        """A finished round, the choice for the next one, a model and single facts, all in one transaction.

        A model takes the place of earlier ones of its kind, unless `keep_models` says that they stay.
        """
        ...

    def rounds(self) -> list[RoundFacts]:
        """The facts of every finished round."""
        ...

    def round_count(self) -> int:
        """How many rounds are finished."""
        ...

    def selection_count(self) -> int:
        """For how many rounds the questions are chosen."""
        ...

    def selected_arrays(self, round: int) -> list[str]:
        """The names of the arrays that the choice for a round was kept with; none of an earlier version."""
        ...

    def replace_model(self, folder: str, model: ModelRow) -> None:
        """Lets a model that was made again take the place of one that is damaged."""
        ...

    def models(self) -> list[ModelRow]:
        """The models that count, by round."""
        ...

    def digests(self) -> dict[str, str]:
        """The digests of files of texts and of models, by their names, as far as they are known."""
        ...

    # single facts

    def fact(self, name: str) -> Any:
        """A fact, or None where there is none."""
        ...

    def set_fact(self, name: str, value: Any) -> None:
        """Keeps a fact in the place of what it was before."""
        ...

    def finals(self) -> list[FinalFacts]:
        """The facts of every fine-tuning at the end, the newest last."""
        ...

    # classes

    def declare_classes(self, names: Sequence[str], by: str) -> None:
        """Adds the first classes; where there are some already this does nothing."""
        ...

    def add_class(self, name: str, by: str, client: str | None = None) -> int:
        """Adds a class; gives its number."""
        ...

    def rename_class(self, old: str, new: str, by: str, client: str | None = None) -> None:
        """Gives a class another name; its number and its answers stay."""
        ...

    def merge_classes(self, old: str, into: str, by: str, client: str | None = None) -> None:
        """Lets all answers for one class count for another, now and later."""
        ...

    def retire_class(self, name: str, by: str, client: str | None = None) -> None:
        """Lets no answer for a class count any more, and takes no new ones."""
        ...

    def restore_class(self, name: str, by: str, client: str | None = None) -> None:
        """Takes back that a class was retired."""
        ...

    def split_class(self, old: str, into: Sequence[str], by: str, client: str | None = None) -> None:
        """Adds classes beside one, whose texts are to be looked at again."""
        ...

    def undo_classes(self, by: str, client: str | None = None) -> None:
        """Takes back the newest change that was not taken back yet."""
        ...

    def class_state(self) -> ClassState:
        """The classes with all that is known of them."""
        ...

    def classes(self) -> dict[int, str]:
        """The names of the classes there are now, by number."""
        ...

    def class_changes(self) -> list[ClassChange]:
        """All that ever happened to classes."""
        ...
