"""A run as its folder has it: texts, questions, answers, rounds. Everything here is cheap, and touches no model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from actune.core.checks import checked_count, told
from actune.core.dialogue import Answer, Question
from actune.core.facts import FinalFacts, Quality, QuestionRow, RoundFacts, stays_in_use
from actune.core.labels import Labels
from actune.core.pool import Pool
from actune.core.printing import counted
from actune.core.strings import is_text
from actune.core.task import Task
from actune.core.training_set import EARLIER_PREFIX, PREFIX, PseudoLabels, renamed_columns
from actune.data.formats import read_more
from actune.data.frames import Data
from actune.errors import DataError, RunFolderError, SettingError
from actune.session.config import Config
from actune.session.opening import ARRAYS, FACT, LEARNT, WEIGHT, WeakLabels, load_weak_labels
from actune.session.quality import agreement
from actune.session.wording import (
    Told,
    answers_of,
    question_of,
    said_of,
    told_of,
)
from actune.store.class_state import ClassState
from actune.store.records import Mark, Said, no_marks
from actune.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

GROUPS, GROUP_OF = "near-duplicates", "group_of"  # a fact and a file, and the array in the file


class RunRecord:
    """What is known of a run; all that changes over time lies in its store."""

    def __init__(self, store: Store, config: Config, task: Task) -> None:
        self.store = store
        self.config = config
        self.task = task
        store.classes_expected = len(task.pool.classes)
        store.rows_expected = None if config.resolved.stored else len(task.pool)
        self._state = ClassState(dict(enumerate(task.pool.classes)))
        self._changes = 0  # of classes that `_state` knows
        self._rounds: list[RoundFacts] = []
        self._lock = RLock()  # for what is kept between calls; any number of threads may ask, tell and predict

    def __repr__(self) -> str:
        method, learner = self.config.request.method, self.config.resolved.learner
        size = f"{counted(len(self.pool), 'text')}, {counted(len(self.pool.classes), 'class', 'classes')}"
        return f"Session({str(self.store.folder)!r}, {size}, method={method!r}, learner={learner!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the run's database."""
        self.store.close()

    def reconfigure(self, config: Config) -> None:
        """Goes on with another configuration, which is kept in run.toml."""
        self.store.seal(config.dumps())
        self.config = config

    @property
    def config_now(self) -> Config:
        """The configuration with the classes that there are now, for whoever tells people about the run."""
        if self.pool.classes == self.config.resolved.classes:
            return self.config
        return replace(self.config, resolved=replace(self.config.resolved, classes=self.pool.classes))

    @property
    def pool(self) -> Pool:
        return self.task.pool

    @property
    def fitted(self) -> int:
        """Rounds that are finished."""
        return self.store.round_count()

    def rounds(self) -> list[RoundFacts]:
        """The facts of every finished round, which never change: after hundreds of rounds reading them takes long."""
        with self._lock:
            if self.store.round_count() != len(self._rounds):
                self._rounds = self.store.rounds()
            return [*self._rounds]

    @property
    def selected(self) -> int:
        """Rounds whose questions are chosen: one more than are fitted, unless a run came to its planned end."""
        return self.store.selection_count()

    @property
    def done(self) -> bool:
        """Whether the planned rounds are all fitted; a project without a plan never is."""
        return 0 < self.config.request.fits <= self.fitted

    def labels(self) -> Labels:
        """What the answers add up to by now; the pool has all the texts that they are about."""
        labels = self.store.labels()
        self.refresh()
        return labels

    # ask and tell: no model is touched, so both are instant

    def ask(self, by: str | None = None, n: int | None = None, seconds: float = 600.0) -> list[Question]:
        """The open questions, in the order of asking: chosen for the next round, neither answered nor skipped.

        With `by` these are questions that nobody else is working on, and for so many `seconds` nobody else who gives a
        name gets them. With `n` there are at most so many.
        """
        store, n = self.store, checked_count(n, "n")
        if by is not None and not is_text(by):
            raise SettingError(f"by must be the name of a person, not {told(by)}")
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
            raise SettingError(f"seconds must be a number, not {told(seconds)}")
        questions = store.open_questions()[:n] if by is None else store.lease_questions(by, n, seconds)
        self.refresh()
        audit, picked = {*self.audit_rows}, {*store.queued()}
        bare = audit | self.shared_rows([question.row for question in questions])
        found = []
        for question in questions:
            if question.row in bare:  # who follows a suggestion measures neither the model nor the agreement of people
                question = replace(question, suggestion=None, confidence=None)
            shown = question_of(self.named_now(question), self.pool)
            found.append(replace(shown, audit=question.row in audit, picked=question.row in picked))
        return found

    def named_now(self, question: QuestionRow) -> QuestionRow:
        """A question whose suggestion is a class that there is now."""
        number = None if question.suggestion is None else self.meaning(question.suggestion)
        return replace(question, suggestion=number, confidence=None if number is None else question.confidence)

    def tell(self, answers: Mapping[str, str] | Iterable[Answer]) -> Told:
        """Takes answers on any texts of the pool; on return they are safe on the disk. Nothing is trained."""
        answers = answers_of(answers)
        rows = self._rows([answer.id for answer in answers])
        self.refresh()
        found = self.store.tell([said_of(answer, row, self.pool) for answer, row in zip(answers, rows, strict=True)])
        return told_of(found, self.pool, [answer.id for answer in answers])

    def applied_numbers(self) -> frozenset[int]:
        """The numbers of the answers that were applied to a near-duplicate of a text that was read."""
        return frozenset(self.store.applied_numbers())

    def unread_rows(self) -> frozenset[int]:
        """The rows whose label was applied to them, and nobody has read their texts."""
        applied = self.applied_numbers()
        return frozenset(word.row for word in self.store.latest() if word.number in applied) if applied else applied

    def knows(self, id: str) -> bool:
        """Whether there is a text with this id."""
        return self._found([id])[0] is not None

    def add(self, more: Pool | Data) -> int:
        """Appends texts to a project's pool; old rows keep their numbers. Labels that come along are answers.

        They may be a pool, a file, or whatever `actune.read_pool` takes; without ids they get numbers that are free.
        """
        if not self.config.resolved.stored:
            raise DataError("texts can be added to a project (actune start), not to a run on a named data set")
        if not isinstance(more, Pool):
            self.refresh()
            more = read_more(more, self.pool, remembered=self.config.request.reading)
        numbers = {row: self.pool.class_number(more.classes[more.labels[row]]) for row in more.known_rows()}
        answers = [Said(row, "label", number, "file") for row, number in numbers.items()]
        known = {answer.row for answer in answers}
        self.store.add_texts("pool", more.unlabelled(), answers, self.marks_of_more(len(more), known))
        self.refresh()
        return len(more)

    def refresh(self) -> None:
        """Takes in what this session or another process has added: texts, and changes of the classes.

        The models' side begins anew with either.
        """
        with self._lock:
            self._take_classes()
            if not self.config.resolved.stored:
                return
            if self.store.text_count("pool") > len(self.pool):
                more = self.store.texts("pool", self.pool.classes, first=len(self.pool))
                self.task = replace(self.task, pool=self.pool.extended(more))
                for name in ("prepared", "audit_rows"):
                    self.__dict__.pop(name, None)

    def _take_classes(self) -> None:
        if (changes := self.store.class_change_count()) == self._changes:
            return
        self._changes, state = changes, self.store.class_state()
        if len(names := state.all_names) < len(self.config.resolved.classes):
            return  # of an earlier version, which declared none in its database
        self._state = state
        self.store.classes_expected = len(names)
        if names != self.pool.classes:
            self.task = replace(
                self.task,
                **{
                    split: replace(pool, classes=names)
                    for split in ("pool", "dev", "test")
                    if (pool := getattr(self.task, split)) is not None
                },
            )
            self.__dict__.pop("prepared", None)

    def meaning(self, number: int) -> int | None:
        """The class that a class number stands for now; None where it was retired or removed."""
        number = self._state.merged.get(number, number)
        return None if number in self._state.asleep else number

    @property
    def gone_classes(self) -> frozenset[int]:
        """The numbers of classes that no text can be given any more."""
        return frozenset({*self._state.merged, *self._state.asleep})

    def unlabelled(self, labels: Labels | None = None) -> int:
        """How many texts nobody has answered or skipped."""
        labels = labels or self.labels()
        return len(self.pool) - len(labels.of_row) - len(labels.skipped)

    def has_news(self, final: bool = False) -> bool:
        """Whether a round would train on other answers than the last one did; a skipped question is no answer.

        With `final` the same of another fine-tuning at the end.
        """
        rounds, labels = self.rounds(), self.training_labels()
        if final:
            newest = next(reversed(self.finals()), None)
            if newest is None or newest.answers_seen is None or newest.round < len(rounds):
                return True
            return labels.of_row != self.labels_of(newest).of_row
        if not rounds or self.starts_from_a_model(rounds[-1].round):
            return not rounds or bool(labels.of_row)
        # classes that were changed since the newest answer move labels that the round knew otherwise
        counts = labels.counts(len(self.pool.classes))
        before = [*rounds[-1].class_counts, *[0] * (len(counts) - len(rounds[-1].class_counts))]
        return counts != before or labels.of_row != self.labels_of(rounds[-1]).of_row

    def news(self) -> int:
        """How many answers after those that the newest round knows have changed what counts; a cheap read."""
        rounds = self.rounds()
        return self.store.answers_that_count(rounds[-1].answers_seen if rounds else 0)

    # the audit sample, which trains nothing until it is released

    def marks_of_more(self, count: int, known: Collection[int]) -> Callable[[int], Sequence[Mark]]:
        """How some of the texts that are added enter the audit sample, where there is one."""
        return no_marks

    @cached_property
    def audit_rows(self) -> tuple[int, ...]:
        """The rows of the audit sample, in the order in which they were drawn; new texts may be added at its end."""
        marks = self.store.marked("audit") if self.config.request.audit else []
        return tuple(mark.row for mark in sorted(marks, key=lambda mark: int(mark.value)))

    @property
    def audit_released(self) -> bool:
        return bool(self.audit_rows) and bool(self.store.marked("release"))

    def training_labels(self, labels: Labels | None = None) -> Labels:
        """What a round learns from: not the rows that are held out, which are left alone as if skipped."""
        labels = labels or self.labels()
        return labels if not self.audit_rows or self.audit_released else labels.without(self.held_out_rows)

    @property
    def group_of(self) -> npt.NDArray[np.int64] | None:
        """The group of near-duplicates of each text, as the row of its first one; None before they were looked for.

        A text that was added since then is alone in its group.
        """
        if not self.config.request.distinct or (found := self.store.fact(GROUPS)) is None:
            return None
        import numpy as np

        with self._lock:
            kept, texts = self.__dict__.get("_groups"), len(self.pool)
            if kept is None or kept[0] != (found, texts):
                try:
                    known = self.store.load_arrays(GROUPS)[GROUP_OF][:texts]
                except (RunFolderError, KeyError):  # they are looked for again with the next round
                    return None
                kept = (found, texts), np.concatenate([known, np.arange(len(known), texts)])
                self.__dict__["_groups"] = kept
            grouped: npt.NDArray[np.int64] = kept[1]
            return grouped

    @property
    def held_out_rows(self) -> frozenset[int]:
        """The rows of the audit sample and of their near-duplicates, which no model may learn."""
        group_of, audit = self.group_of, self.audit_rows
        if group_of is None or not audit:
            return frozenset(audit)
        import numpy as np

        with self._lock:
            kept = self.__dict__.get("_held_out")
            if kept is None or kept[0] is not group_of or kept[1] != audit:
                rows = np.flatnonzero(np.isin(group_of, group_of[np.asarray(audit)]))
                kept = group_of, audit, frozenset(rows.tolist())
                self.__dict__["_held_out"] = kept
            held_out: frozenset[int] = kept[2]
            return held_out

    def shared_rows(self, rows: Collection[int] | None = None) -> frozenset[int]:
        """Those of some rows, or of all, that were drawn for several people to answer."""
        marks = self.store.marked("overlap", rows) if self.config.request.overlap else []
        return frozenset(mark.row for mark in marks)

    def rejected_rows(self) -> frozenset[int]:
        """Rows that a person wants no pseudo-label on."""
        return frozenset(mark.row for mark in self.store.marked("reject"))

    def labels_of(self, facts: RoundFacts | FinalFacts) -> Labels:
        """The labels that a round knew."""
        labels = self.store.labels(until=facts.answers_seen)
        return labels if len(labels.of_row) == facts.labels else labels.without(self.held_out_rows)

    @property
    def final(self) -> FinalFacts | None:
        """The facts of the fine-tuned final model, where that is the model in use."""
        newest = next(reversed(self.finals()), None)
        in_use = newest and stays_in_use(newest, next(reversed(self.rounds()), None))
        return newest if in_use else None

    def finals(self) -> list[FinalFacts]:
        """The facts of every fine-tuning at the end, also of those whose model is not in use any more."""
        return self.store.finals()

    @property
    def finished(self) -> bool:
        """Whether a plan is carried out, with its fine-tuning at the end where there is to be one."""
        return self.done and (not self.config.resolved.final or self._has_final_of(self.fitted))

    def _has_final_of(self, fitted: int) -> bool:
        """Whether the encoder was fine-tuned when so many rounds were finished."""
        return any(facts.round == fitted for facts in self.finals())

    def quality(self) -> Quality:
        """What the answers say about the model; a simulated run has a test set, and leaves both parts out."""
        if self.config.request.simulated:
            return Quality()
        newest = next(reversed(self.rounds()), None)
        validated = newest.quality.cross_validation if newest else None
        audit = newest.quality.audit if newest else None
        return Quality(validated, agreement(self.store.questions(), self.labels().of_row), audit)

    def _rows(self, ids: Sequence[str]) -> list[int]:
        """The rows of texts by their ids; the pool has all of them afterwards."""
        found = self._found(ids)
        rows = [row for row in found if row is not None]
        if len(rows) < len(ids):
            raise DataError(f"this project has no text with the id {ids[found.index(None)]!r}: check the ids")
        if max(rows, default=0) >= len(self.pool):
            self.refresh()
        return rows

    def _found(self, ids: Sequence[str]) -> list[int | None]:
        """The row of each id, None where there is none; a stored pool is not searched, but looked up in the store."""
        stored = self.config.resolved.stored
        return self.store.rows_of("pool", ids) if stored else [self.pool.row_of.get(id) for id in ids]

    @cached_property
    def weak(self) -> WeakLabels | None:
        """What rules, class names or an earlier classifier say; a finished run may have dropped it."""
        request, kept = self.config.request, self.store.has_arrays(ARRAYS)
        if not request.opens or (not kept and (self.done or request.start_from)):
            return None  # a classifier to start from has read the pool in the first round
        return load_weak_labels(self.store.load_arrays(ARRAYS), self.store.fact(FACT), self.store.folder)

    @property
    def weighs_weak(self) -> bool:
        """Whether weak labels count in later rounds, as answers judge them; not where an earlier version began."""
        return self.store.fact(WEIGHT) == LEARNT and not self.config.request.keep_weak

    def weak_of_row(self, round: int) -> dict[int, int]:
        """The weak labels with full weight in a round: in the first one, and with --keep-weak in all of them."""
        used = round == 0 or self.config.request.keep_weak
        return self.weak.of_row if used and self.weak else {}

    def starts_from_a_model(self, round: int) -> bool:
        return round == 0 and bool(self.config.request.start_from)

    def can_train(self, labels: Labels) -> bool:
        """Whether there are answers of two classes, or something else that the first model comes from."""
        labels = self.training_labels(labels)
        enough = len(set(labels.of_row.values())) > 1
        weak = self.weak_of_row(self.fitted) or (self.weighs_weak and labels.of_row and self.weak)
        return enough or self.starts_from_a_model(self.fitted) or bool(weak)

    def usable(self, found: PseudoLabels) -> PseudoLabels:
        """Pseudo-labels as the classes are now, without those that somebody rejected since."""
        gone, rejected = self.gone_classes, self.rejected_rows()
        if not len(found):
            return found
        if self.audit_rows and not self.audit_released:
            rejected |= self.held_out_rows.intersection(found.rows.tolist())  # by texts that were added since
        if rejected:
            found = found.without(rejected)
        if not gone and not found.is_older(self.pool.classes):
            return found
        return found.renamed(self.meaning, len(self.pool.classes))

    def usable_memory(self, memory: Any) -> Any:
        """A memory bank of predictions with a column for each class; what was remembered of a merged one moves."""
        if memory is None or memory.ndim != 2:
            return memory
        gone, missing = self.gone_classes, len(self.pool.classes) - memory.shape[1]
        if not gone and missing <= 0:
            return memory
        return renamed_columns(memory, self.meaning, len(self.pool.classes))

    def _chosen(self, round: int) -> dict[str, Any]:
        """The arrays of the choice for a round; the first questions come without any."""
        return self.store.load_arrays(f"select-{round:03d}") if round else {}

    def newest_choice(self) -> tuple[int, PseudoLabels, Any]:
        """The newest pseudo-labels, the round that they are for, and the memory bank behind them where there is one.

        They were chosen by a model for the next round, or by a teacher within the last one.
        """
        chosen, fitted = self.selected - 1, self.fitted - 1
        if chosen >= 1:  # the first questions come before any model
            arrays = self.store.load_arrays(f"select-{chosen:03d}")
            if any(f"{prefix}rows" in arrays for prefix in (PREFIX, EARLIER_PREFIX)):
                return chosen, PseudoLabels.from_arrays(arrays), self.memory(chosen)
        if fitted >= 0 and self.store.has_arrays(f"fit-{fitted:03d}"):
            return fitted, PseudoLabels.from_arrays(self.store.load_arrays(f"fit-{fitted:03d}")), None
        return chosen, PseudoLabels.none(), None

    def memory(self, round: int) -> Any:
        """The memory bank as the choice for `round` left it."""
        name = f"memory-{round:03d}"
        if self.store.has_arrays(name) or name in self.store.selected_arrays(round):
            return self.store.load_arrays(name).get("memory")
        return self._chosen(round).get("memory")  # where an earlier version kept it
