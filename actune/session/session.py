"""The loop of Algorithm 1 over a run folder: ask, tell, advance. It may stop between any two calls and go on later."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Self

from actune.core.dialogue import Answer, Question
from actune.core.facts import FinalFacts, RoundFacts
from actune.core.files import replacing_folder, storage_sentences
from actune.core.labels import Labels
from actune.core.pool import Pool
from actune.core.progress import Progress, silent
from actune.core.streams import Streams
from actune.core.strings import Strings
from actune.core.task import Task
from actune.core.training_set import PseudoLabels
from actune.data.formats import read_more, read_texts
from actune.data.frames import Data
from actune.errors import DataError, SettingError
from actune.session.clock import Clock
from actune.session.config import Config
from actune.session.opening import ARRAYS, WeakLabels, load_weak_labels
from actune.session.preparing import method_of, prepare, prepare_for_the_end, prepare_for_the_start
from actune.session.wording import Told, question_of, said_of, told_of
from actune.store.records import ModelRow, Said
from actune.store.store import Store, newest_model_in

if TYPE_CHECKING:
    from actune.core.classifier import Classifier
    from actune.methods.method import Method
    from actune.rounds.fitting import Fitted
    from actune.rounds.predicting import Prediction, Predictor
    from actune.rounds.prepared import PreparedTask, Shared
    from actune.rounds.selecting import Choice


class Session:
    """One run. All that changes over time lies in its store; a Session object can be thrown away at any moment."""

    models: Literal["none", "last", "all"] = "last"  # which rounds' models a simulated run keeps
    shared: Shared | None = None

    def __init__(self, store: Store, config: Config, task: Task, progress: Progress = silent) -> None:
        self.store = store
        self.config = config
        self.task = task
        self.progress = progress
        self._lock = RLock()  # for what is kept between calls; any number of threads may ask, tell and predict
        self._loaded: tuple[Path, Predictor] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the run's database and lets go of the model."""
        self._loaded = None
        self.__dict__.pop("prepared", None)
        self.store.close()

    def reconfigure(self, config: Config) -> None:
        """Goes on with another configuration, which is kept in run.toml."""
        self.store.seal(config.dumps())
        self.config = config

    @property
    def pool(self) -> Pool:
        return self.task.pool

    @property
    def fitted(self) -> int:
        """Rounds that are finished."""
        return self.store.round_count()

    def rounds(self) -> list[RoundFacts]:
        """The facts of every finished round."""
        return self.store.rounds()

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
        store = self.store
        questions = store.open_questions()[:n] if by is None else store.lease_questions(by, n, seconds)
        self.refresh()
        return [question_of(question, self.pool) for question in questions]

    def tell(self, answers: Mapping[str, str] | Iterable[Answer]) -> Told:
        """Takes answers on any texts of the pool; on return they are safe on the disk. Nothing is trained."""
        if isinstance(answers, Mapping):
            answers = [Answer(id, label) for id, label in answers.items()]
        answers = list(answers)
        rows = self._rows([answer.id for answer in answers])
        found = self.store.tell([said_of(answer, row, self.pool) for answer, row in zip(answers, rows, strict=True)])
        return told_of(found, self.pool)

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
            more = read_more(more, self.pool)
        numbers = {row: self.pool.class_number(more.classes[more.labels[row]]) for row in more.known_rows()}
        answers = [Said(row, "label", number, "file") for row, number in numbers.items()]
        self.store.add_texts("pool", more.unlabelled(), answers)
        self.refresh()
        return len(more)

    def refresh(self) -> None:
        """Takes in what this session or another process has added to the pool; the models' side begins anew with it."""
        if not self.config.resolved.stored:
            return
        with self._lock:
            if self.store.text_count("pool") > len(self.pool):
                more = self.store.texts("pool", self.pool.classes, first=len(self.pool))
                self.task = replace(self.task, pool=self.pool.extended(more))
                self.__dict__.pop("prepared", None)

    # advance: all the work

    def advance(self) -> RoundFacts:
        """Fits a fresh model on the answers and on pseudo-labels, then chooses the next questions; one commit.

        Where a run came to its planned end and was extended, the next questions are chosen first and nothing is fitted.
        """
        with self.store.advancing():
            if self.selected == self.fitted:
                return self._select_after_the_end()
            return self._round()

    def finish(self) -> FinalFacts:
        """Fine-tunes the encoder once on all that is known; it is the newest model until another round is finished."""
        from actune.rounds.measuring import measure

        if not self.config.resolved.final:
            raise SettingError(
                f"this run was made with --learner {self.config.resolved.learner}: only one made with auto, "
                "where that chose probe, is fine-tuned at the end"
            )
        with self.store.advancing():
            self._drop_old_memories()  # of a process that was killed just after the commit of its round
            labels, started = self._checked_labels(), time.perf_counter()
            prepared = prepare_for_the_end(self.config, self.task, self.progress, self.shared)
            fitted = self._fit(prepared, labels, self.fitted, self.selected - 1)
            metrics, _ = measure(prepared, fitted.classifier)
            seconds = time.perf_counter() - started
            notes = _unique(prepared.learner.notes)
            facts = FinalFacts(self.fitted, len(labels.of_row), **asdict(metrics), seconds=seconds, notes=notes)
            model = self._write_model(prepared.learner_name, fitted.classifier, facts, self.fitted, "final")
            self.store.commit(model=model, facts={"final": asdict(facts)})
            self.store.point_to_newest()
            return facts

    @property
    def final(self) -> FinalFacts | None:
        """The facts of the fine-tuning at the end, where there was one for the rounds there are."""
        found = self.store.fact("final")
        return FinalFacts.from_json(found) if found and found["round"] == self.fitted else None

    def _round(self) -> RoundFacts:
        from actune.rounds.measuring import describe, gains, measure

        labels, round = self._checked_labels(), self.fitted
        clock = Clock()
        prepared, fitted = self._fit_round(labels, round)
        clock.stop("fit")
        metrics, predictions = measure(prepared, fitted.classifier)
        gain, dev_gain = gains(prepared, fitted, metrics)
        clock.stop("evaluate")
        last = 0 < self.config.request.fits <= round + 1
        choice = None if last else self._select(prepared, fitted.classifier, labels, round)
        clock.stop("select")
        facts = RoundFacts(
            round=round,
            labels=len(labels.of_row),
            answers_seen=labels.last_answer,
            class_counts=tuple(labels.counts(len(self.pool.classes))),
            metrics=metrics,
            pseudo_labels=describe(prepared, fitted),
            gain=gain,
            dev_gain=dev_gain,
            seconds=clock.seconds,
            notes=_unique(prepared.learner.notes),
        )
        self._save_fit(fitted, predictions, round)
        self._save_choice(choice)
        model = None
        if self._keeps_model(last):
            model = self._write_model(prepared.learner_name, fitted.classifier, facts, round, "round")
        chosen = choice.selection if choice else None
        self.store.commit(facts, chosen, model, keep_models=self.models == "all")
        self.store.point_to_newest()
        self._drop_old_memories()
        return facts

    def _fit_round(self, labels: Labels, round: int) -> tuple[PreparedTask, Fitted]:
        """The round's model: fitted, or the user's own classifier where the run begins with that."""
        if not self._starts_from_a_model(round):
            prepared = self.prepared  # one for the whole round, also where another thread adds texts meanwhile
            return prepared, self._fit(prepared, labels, round, round)
        from actune.models.starting import load_start, model_in
        from actune.rounds.fitting import Fitted, training_set

        folder = model_in(newest_model_in(Path(self.config.request.start_from)))
        prepared = prepare_for_the_start(self.config, self.task, folder, self.progress, self.shared)
        classifier = load_start(prepared.learner, folder, self.config.resolved.classes)
        return prepared, Fitted(classifier, training_set(labels, {}, PseudoLabels.none()), PseudoLabels.none())

    def _fit(self, prepared: PreparedTask, labels: Labels, round: int, chosen: int) -> Fitted:
        from actune.rounds.fitting import fit, training_set

        training = training_set(labels, self.weak_of_row(round), PseudoLabels.from_arrays(self._chosen(chosen)))
        streams = Streams(self.config.request.seed, round)
        return fit(prepared, self.method, labels, training, streams, self.config.resolved.horizon)

    def _select(self, prepared: PreparedTask, classifier: Classifier, labels: Labels, round: int) -> Choice:
        """What the model of `round` chooses for the next one."""
        from actune.rounds.selecting import select

        request = self.config.request
        streams, memory = Streams(request.seed, round), self.memory(round)
        horizon, suggest = self.config.resolved.horizon, not request.simulated
        return select(prepared, self.method, classifier, labels, streams, memory, request.batch, horizon, suggest)

    def _select_after_the_end(self) -> RoundFacts:
        round = self.fitted
        labels = self.labels()
        folder = self.store.newest_model(kinds=("round",))
        if round == 0 or folder is None or not folder.is_dir():
            raise SettingError("this run has no model to choose questions with: it was made without keeping models")
        prepared = self.prepared
        choice = self._select(prepared, prepared.learner.load(folder), labels, round - 1)
        self._save_choice(choice)
        self.store.commit(selection=choice.selection)
        return self.rounds()[-1]

    def _save_fit(self, fitted: Fitted, predictions: Any, round: int) -> None:
        """What a teacher of this very round trusts, and predictions on test; the rest is kept with its choice."""
        kept = fitted.training.pseudo_labels.as_arrays() if self.method.teacher else {}
        if predictions is not None:
            kept["test_predictions"] = predictions
        if kept:
            self.store.save_arrays(f"fit-{round:03d}", kept)

    def _save_choice(self, choice: Choice | None) -> None:
        if choice is None:
            return
        round = choice.selection.round
        if choice.memory is not None:
            self.store.save_arrays(f"memory-{round:03d}", {"memory": choice.memory})
        self.store.save_arrays(f"select-{round:03d}", choice.arrays)

    def _drop_old_memories(self) -> None:
        """Only the newest memory bank is ever used again, and one is as long as the pool."""
        newest = f"memory-{self.selected - 1:03d}"
        for name in self.store.array_names():
            if name.startswith("memory-") and name < newest:
                self.store.drop_arrays(name)

    # using the model

    def predict(self, texts: Sequence[str] | Data) -> list[Prediction]:
        """A class name and a probability for each class, by the newest model, which is kept for the next call.

        The texts are a list of them, or a file or a frame with a column `text`.
        """
        from actune.rounds.predicting import predictor

        newest = self._newest_model()
        if not isinstance(texts, (list, tuple, Strings)):
            texts = read_texts(texts).texts
        if not len(texts):
            return []
        with self._lock:
            if self._loaded is None or self._loaded[0] != newest:
                self._loaded = newest, predictor(self.prepared, newest)
            predict = self._loaded[1]
        return predict(texts)

    def save(self, folder: str | Path) -> Path:
        """Copies the newest model to a folder of its own."""
        import shutil

        source = self._newest_model()
        target = Path(folder)
        if target.exists():
            raise DataError(f"{str(target)!r} exists already: choose another folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        with storage_sentences(target), replacing_folder(target) as scratch:
            shutil.copytree(source, scratch, dirs_exist_ok=True)
        return target

    def _newest_model(self) -> Path:
        """The folder of the newest model."""
        folder = self.store.newest_model()
        if folder is None or not folder.is_dir():
            raise DataError(f"{str(self.store.folder)!r} has no model yet: advance it first")
        return folder

    def _keeps_model(self, last: bool) -> bool:
        return not self.config.request.simulated or self.models == "all" or (last and self.models == "last")

    def _write_model(
        self,
        learner: str,
        classifier: Classifier,
        facts: RoundFacts | FinalFacts,
        round: int,
        kind: Literal["round", "final"],
    ) -> ModelRow:
        """Writes a model that counts once it is committed; `facts` are its own, not yet committed."""
        from actune.session.card import model_card

        with self.store.new_model(round, kind) as (model, folder):
            card = model_card(self.config, learner, len(self.pool), [*self.rounds(), facts])
            classifier.save(folder, self.pool.classes, card)
        return model

    @cached_property
    def prepared(self) -> PreparedTask:
        """The learner and its texts, made when first needed: it is what imports torch."""
        return prepare(self.config, self.task, self.progress, self.shared)

    @cached_property
    def method(self) -> Method:
        return method_of(self.config)

    def _rows(self, ids: Sequence[str]) -> list[int]:
        """The rows of texts by their ids; the pool has all of them afterwards."""
        found = self._found(ids)
        rows = [row for row in found if row is not None]
        if len(rows) < len(ids):
            raise DataError(f"there is no text with the id {ids[found.index(None)]!r} in this project")
        if max(rows, default=0) >= len(self.pool):
            self.refresh()
        return rows

    def _found(self, ids: Sequence[str]) -> list[int | None]:
        """The row of each id, None where there is none; a stored pool is not searched, but looked up in the store."""
        stored = self.config.resolved.stored
        return self.store.rows_of("pool", ids) if stored else [self.pool.row_of.get(id) for id in ids]

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

    def _chosen(self, round: int) -> dict[str, Any]:
        """The arrays of the choice for a round; the first questions come without any."""
        return self.store.load_arrays(f"select-{round:03d}") if round else {}

    def memory(self, round: int) -> Any:
        """The memory bank as the choice for `round` left it."""
        name = f"memory-{round:03d}"
        if self.store.has_arrays(name):
            return self.store.load_arrays(name)["memory"]
        return self._chosen(round).get("memory")  # where an earlier version kept it


def _unique(notes: Iterable[str]) -> tuple[str, ...]:
    """Each note once, in their order: a learner tells anew for every split that it prepares."""
    return tuple(dict.fromkeys(notes))
