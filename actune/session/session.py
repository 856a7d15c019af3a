"""The loop of Algorithm 1 over a run folder: ask, tell, advance. It may stop between any two calls and go on later."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from actune.core.dialogue import Answer, Question
from actune.core.pool import UNKNOWN, Pool, pool_of_numbers
from actune.core.progress import Progress, silent
from actune.core.streams import Streams
from actune.core.task import Task
from actune.errors import DataError, SettingError
from actune.session.clock import Clock
from actune.session.config import Config
from actune.session.database import AnswerEntry
from actune.session.opening import ARRAYS, WeakLabels, load_weak_labels
from actune.session.state import Labels, add_up
from actune.session.store import Store

if TYPE_CHECKING:
    from actune.core.classifier import Classifier
    from actune.session.machine import Machine, Prediction, Shared


@dataclass(frozen=True)
class Told:
    """What became of some answers."""

    new: int
    repeated: int
    changed: tuple[str, ...]  # ids whose earlier answer was another one
    skipped: int


class Session:
    """One run. All that changes over time lies in its store; a Session object can be thrown away at any moment."""

    models: Literal["none", "last", "all"] = "last"  # which rounds' models a simulated run keeps
    shared: Shared | None = None

    def __init__(self, store: Store, task: Task, progress: Progress = silent) -> None:
        self.store = store
        self.task = task
        self.progress = progress

    @property
    def config(self) -> Config:
        return self.store.config

    @property
    def pool(self) -> Pool:
        return self.task.pool

    @property
    def fitted(self) -> int:
        """Rounds that are finished."""
        return len(self.rounds())

    def rounds(self) -> list[dict[str, Any]]:
        """The facts of every finished round."""
        return self.store.database.rounds()

    @property
    def selected(self) -> int:
        """Rounds whose questions are chosen: one more than are fitted, unless a run came to its planned end."""
        return len(self.store.database.selections())

    @property
    def done(self) -> bool:
        """Whether the planned rounds are all fitted; a project without a plan never is."""
        return 0 < self.config.request.fits <= self.fitted

    def labels(self) -> Labels:
        return add_up(self.store.database.answers())

    # ask and tell: no model is touched, so both are instant

    def ask(self) -> list[Question]:
        """The open questions, in the order of asking: chosen for the next round, neither answered nor skipped."""
        labels, round = self.labels(), self.fitted
        return [
            Question(
                id=self.pool.ids[question.row],
                text=self.pool.texts[question.row],
                round=round,
                suggestion=None if question.suggestion is None else self.pool.classes[question.suggestion],
                confidence=question.confidence,
            )
            for question in self.store.database.questions()
            if question.round == round and question.row not in labels.of_row and question.row not in labels.skipped
        ]

    def tell(self, answers: Mapping[str, str] | Iterable[Answer]) -> Told:
        """Takes answers on any texts of the pool; on return they are safe on the disk. Nothing is trained."""
        if isinstance(answers, Mapping):
            answers = [Answer(id, label) for id, label in answers.items()]
        labels = self.labels()
        words: dict[int, int | str] = {**labels.of_row, **dict.fromkeys(labels.skipped, "skip")}
        entries: list[AnswerEntry] = []
        new, repeated, changed, skipped = 0, 0, [], 0
        for answer in answers:
            row = self._row(answer.id)
            number = None if answer.label is None else self.pool.class_number(answer.label)
            kind = "label" if number is not None else "unskip" if answer.unskip else "skip"
            before, now = words.get(row), number if number is not None else kind
            if now == before or (kind == "unskip" and before != "skip"):
                repeated += 1
                continue
            if isinstance(before, int):
                changed.append(answer.id)
            new += kind == "label" and not isinstance(before, int)
            skipped += kind == "skip"
            words[row] = now
            entries.append((row, kind, number, answer.by))
        if entries:
            self.store.database.append_answers(entries)
        return Told(new, repeated, tuple(changed), skipped)

    def add(self, more: Pool) -> int:
        """Appends texts to a project's pool; old rows keep their numbers. Labels that come along are answers."""
        if not self.config.resolved.stored:
            raise DataError("texts can be added to a project (actune start), not to a run on a named data set")
        pool = self.pool.followed_by(more)
        numbers = {row: self.pool.class_number(more.classes[more.labels[row]]) for row in more.known_rows()}
        rows = [(id, text, UNKNOWN) for id, text in zip(more.ids, more.texts, strict=True)]
        answers = [(row, "label", number, "file") for row, number in numbers.items()]
        if self.store.database.add_texts("pool", rows, answers) != len(self.pool):  # another process has added some too
            ids, texts, labels = self.store.database.texts("pool")
            pool = pool_of_numbers(texts, ids, self.pool.classes, labels)
        self.task = replace(self.task, pool=pool)
        return len(more)

    # advance: all the work

    def advance(self) -> dict[str, Any]:
        """Fits a fresh model on the answers and on the rows it trusts, then chooses the next questions; one commit.

        Where a run came to its planned end and was extended, the next questions are chosen first and nothing is fitted.
        """
        with self.store.advancing():
            self.store.adopt_models(self.fitted)
            if self.selected == self.fitted:
                return self._select_after_the_end()
            return self._round()

    def finish(self) -> dict[str, Any]:
        """Fine-tunes the encoder once on all that is known; kept in model/ and in the run's record."""
        if not self.config.resolved.final:
            raise SettingError(
                f"this run was made with --learner {self.config.resolved.learner}: only one made with auto, "
                "where that chose probe, is fine-tuned at the end"
            )
        with self.store.advancing():
            labels = self._checked_labels()
            started = time.perf_counter()
            machine = self.machine.for_the_end()
            streams = Streams(self.config.request.seed, self.fitted)
            classifier = machine.fit(labels, self._trusted(self.selected - 1), streams).classifier
            facts, _ = machine.evaluate(classifier)
            facts |= {"labels": len(labels.of_row), "round": self.fitted, "seconds": time.perf_counter() - started}
            self._keep_model("model", machine.learner_name, classifier, facts, self.fitted)
            self.store.database.set_fact("final", facts)
            self.store.adopt_models(self.fitted)
            return facts

    @property
    def final(self) -> dict[str, Any] | None:
        """The facts of the fine-tuning at the end, where there was one for the rounds there are."""
        found = self.store.database.fact("final")
        return found if found and found["round"] == self.fitted else None

    def _round(self) -> dict[str, Any]:
        round, database = self.fitted, self.store.database
        labels = self._checked_labels()
        streams = Streams(self.config.request.seed, round)
        clock = Clock()
        machine = self.machine.for_the_start() if self._starts_from_a_model(round) else self.machine
        fitted = machine.fit(labels, self._trusted(round), streams)
        classifier = fitted.classifier
        clock.stop("fit")
        metrics, predictions = machine.evaluate(classifier)
        metrics |= machine.gain(fitted, metrics)
        clock.stop("evaluate")
        last = 0 < self.config.request.fits <= round + 1
        selection = None if last else machine.select(classifier, labels, streams, self._memory(round), round + 1)
        clock.stop("select")
        facts = {
            "round": round,
            "labels": len(labels.of_row),
            "answers_seen": labels.last_answer,
            **metrics,
            **machine.describe_trusted(fitted),
            "class_counts": labels.counts(len(self.pool.classes)),
            "seconds": clock.seconds,
        }
        kept = machine.taught_arrays(fitted.training.trusted)
        if predictions is not None:
            kept["test_predictions"] = predictions
        if kept:
            self.store.save_arrays(f"fit-{round:03d}", kept)
        if selection:
            self.store.save_arrays(f"select-{round + 1:03d}", selection.arrays)
        for name in self._models_to_keep(round, last):
            self._keep_model(name, machine.learner_name, classifier, facts, round + 1)
        database.commit((round, facts), selection.record if selection else None)
        self.store.adopt_models(round + 1)
        return facts

    def _select_after_the_end(self) -> dict[str, Any]:
        round = self.fitted
        labels = self.labels()
        folder = self.store.model(self._rounds_model)
        if round == 0 or folder is None:
            raise SettingError("this run has no model to choose questions with: its folder model/ is missing")
        classifier = self.machine.learner.load(folder)
        streams = Streams(self.config.request.seed, round - 1)
        selection = self.machine.select(classifier, labels, streams, self._memory(round - 1), round)
        self.store.save_arrays(f"select-{round:03d}", selection.arrays)
        self.store.database.commit(None, selection.record)
        return self.rounds()[-1]

    # using the model

    def predict(self, texts: Sequence[str]) -> list[Prediction]:
        """A class name and a probability for each class, by the newest model."""
        newest = self._newest_model()
        return self.machine.predict(newest, texts) if texts else []

    def save(self, folder: str | Path) -> Path:
        """Copies the newest model to a folder of its own."""
        import shutil

        source = self._newest_model()
        target = Path(folder)
        if target.exists():
            raise DataError(f"{str(target)!r} exists already: choose another folder")
        shutil.copytree(source, target)
        return target

    def _newest_model(self) -> Path:
        """The folder of the newest model."""
        if self.final and (folder := self.store.model("model")):
            return folder
        folder = self.store.model(self._rounds_model)
        if folder is None:
            raise DataError(f"{str(self.store.folder)!r} has no model yet: advance it first")
        return folder

    @property
    def _rounds_model(self) -> str:
        """Where the rounds' own model lies: beside the final one, where there will be one."""
        return "probe" if self.config.resolved.final else "model"

    def _models_to_keep(self, round: int, last: bool) -> list[str]:
        newest = not self.config.request.simulated or (last and self.models != "none")
        return [self._rounds_model] * newest + [f"model-{round:03d}"] * (self.models == "all" and not last)

    def _keep_model(self, name: str, learner: str, classifier: Classifier, facts: dict[str, Any], fitted: int) -> None:
        """Writes a model that counts once `fitted` rounds are committed; `facts` are its own, not yet committed."""
        from actune.session.card import model_card

        with self.store.new_model(name) as folder:
            card = model_card(self.config, learner, len(self.pool), [*self.rounds(), facts])
            classifier.save(folder, self.pool.classes, card)
            (folder / "round").write_text(str(fitted))

    @cached_property
    def machine(self) -> Machine:
        """The models' side of the loop, made when first needed: it is what imports torch."""
        from actune.session.machine import Machine

        return Machine(self)

    def _row(self, id: str) -> int:
        try:
            return self.pool.row_of[id]
        except KeyError:
            raise DataError(f"there is no text with the id {id!r} in this project") from None

    @cached_property
    def weak(self) -> WeakLabels | None:
        """What rules voted, where this run was given such votes; a finished one may have dropped them."""
        dropped = self.done and not self.store.has_arrays(ARRAYS)
        return load_weak_labels(self.store) if self.config.request.weak and not dropped else None

    def weak_of_row(self, round: int) -> dict[int, int]:
        """The weak labels that a round learns from: the first one, and with --keep-weak all of them."""
        used = self.weak is not None and (round == 0 or self.config.request.keep_weak)
        return self.weak.of_row if used and self.weak else {}

    def _starts_from_a_model(self, round: int) -> bool:
        return round == 0 and bool(self.config.request.start_from)

    def _checked_labels(self) -> Labels:
        labels = self.labels()
        if self._starts_from_a_model(self.fitted) or self.weak_of_row(self.fitted):
            return labels
        counts = Counter(labels.of_row.values())
        if len(labels.of_row) < len(self.pool.classes):
            raise DataError(
                f"{len(labels.of_row)} answers are too few for {len(self.pool.classes)} classes: "
                f"answer at least {len(self.pool.classes)} questions before advancing"
            )
        if len(counts) < 2:
            only = self.pool.classes[next(iter(counts))]
            raise DataError(f"all {len(labels.of_row)} answers are {only!r}: a classifier needs at least two classes")
        return labels

    def _trusted(self, round: int) -> dict[str, Any]:
        return self.store.load_arrays(f"select-{round:03d}") if round else {}

    def _memory(self, round: int) -> Any:
        """The memory bank as the choice for `round` left it."""
        return self._trusted(round).get("memory")
