"""The loop of Algorithm 1 over a run folder: ask, tell, advance. It may stop between any two calls and go on later."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from actune.core.checks import checked_folder
from actune.core.facts import FinalFacts, Quality, QuestionRow, RoundFacts, Selection
from actune.core.labels import Labels
from actune.core.progress import Progress, silent
from actune.core.refusals import already_saved
from actune.core.streams import Streams
from actune.core.task import Task
from actune.core.training_set import PseudoLabels
from actune.data.frames import Data
from actune.data.texts import texts_of
from actune.errors import DataError, SettingError
from actune.models.starting import saved_classes
from actune.session.classes import ClassVerbs
from actune.session.clock import Clock
from actune.session.config import Config
from actune.session.duplicates import NearDuplicates
from actune.session.insight import Insight
from actune.session.logs import log_facts
from actune.session.opening import guessed_labels
from actune.session.overlapping import Overlapping
from actune.session.preparing import method_of, prepare, prepare_for_the_end, prepare_for_the_start
from actune.session.progress import Progressing
from actune.session.quality import agreement
from actune.session.wording import (
    nothing_left_to_ask,
    too_few_answers,
)
from actune.store.backups import back_up_at_times
from actune.store.files import EARLIER_FINALS, FINAL
from actune.store.records import ModelRow
from actune.store.store import Store, newest_model_in

DIVERSE = "diverse_batch"  # a fact: the first batch that is spread over the pool was chosen

if TYPE_CHECKING:
    from actune.core.classifier import Classifier
    from actune.methods.method import Method
    from actune.rounds.fitting import Fitted
    from actune.rounds.predicting import Prediction, TextModel
    from actune.rounds.prepared import PreparedTask, Shared
    from actune.rounds.selecting import Choice


class Session(Overlapping, ClassVerbs, Insight, NearDuplicates, Progressing):
    """One run. All that changes over time lies in its store; a Session object can be thrown away at any moment."""

    models: Literal["none", "last", "all"] = "last"  # which rounds' models a simulated run keeps
    shared: Shared | None = None

    def __init__(self, store: Store, config: Config, task: Task, progress: Progress = silent) -> None:
        super().__init__(store, config, task)
        self.progress = progress
        self._loaded: tuple[Path, TextModel] | None = None

    def close(self) -> None:
        """Closes the run's database and lets go of the model."""
        self._loaded = None
        self.__dict__.pop("prepared", None)
        super().close()

    # advance: all the work

    def advance(self) -> RoundFacts | None:
        """Fits a fresh model on the answers and on pseudo-labels, then chooses the next questions; one commit.

        Where a run came to its planned end and was extended, the next questions are chosen first and nothing is fitted.
        Where fewer than two classes have answers and no question is open, more questions are chosen, nothing is fitted
        and the result is None.
        """
        with self.store.advancing():
            self.find_groups()
            if self.selected == self.fitted:
                return self._select_after_the_end()
            labels = self.training_labels()
            if self.can_train(labels):
                return self._round(labels)
            if self.config.request.simulated or self.store.open_questions():
                raise too_few_answers(labels, self.pool.classes, len(self.store.open_questions()))
            self._choose_more(labels)
            return None

    def choose_more(self) -> int:
        """Chooses more questions for the coming round, beside those that were answered or skipped; trains nothing.

        Gives how many there are: none where no text is left to ask about.
        """
        with self.store.advancing():
            self.find_groups()
            labels = self.training_labels()
            return self._choose_more(labels) if self.unlabelled(labels) else 0

    def finish(self) -> FinalFacts:
        """Fine-tunes the encoder once on all that is known.

        This model is in use until another one is fine-tuned, or until a later round is better on the dev set.
        """
        from actune.rounds.measuring import measure

        if not self.config.resolved.final:
            raise SettingError(
                f"this run uses --learner {self.config.resolved.learner}, and only runs for which --learner auto chose "
                "probe are fine-tuned at the end"
            )
        with self.store.advancing():
            self._drop_old_memories()  # of a process that was killed just after the commit of its round
            self.find_groups()
            labels, started = self.training_labels(), time.perf_counter()
            if not self.can_train(labels):
                raise too_few_answers(labels, self.pool.classes, len(self.store.open_questions()))
            checkpoints = self.store.checkpoints
            prepared = prepare_for_the_end(self.config, self.task, checkpoints, self.progress, self.shared)
            fitted = self._fit(prepared, labels, self.fitted, self.selected - 1)
            metrics, predictions = measure(prepared, fitted.classifier)
            if predictions:
                self.store.save_arrays(f"final-{self.fitted:03d}", predictions)
            seconds = time.perf_counter() - started
            notes = _unique([*prepared.learner.notes, *fitted.notes])
            seen = labels.last_answer
            known = {"round": self.fitted, "labels": len(labels.of_row), "answers_seen": seen, **asdict(metrics)}
            facts = FinalFacts(**known, seconds=seconds, notes=notes)
            model = self._write_model(prepared.learner_name, fitted.classifier, facts, self.fitted, "final")
            earlier = [asdict(each) for each in self.finals() if (each.round, each.answers_seen) != (self.fitted, seen)]
            self.store.commit(model=model, facts={FINAL: asdict(facts), EARLIER_FINALS: earlier})
            log_facts("the fine-tuning after round", facts)
            with already_saved("the fine-tuned model"):
                self.store.point_to_newest()
                self.store.drop_checkpoints()
            return facts

    def _round(self, labels: Labels) -> RoundFacts:
        from actune.rounds.measuring import describe, gains, measure

        round, clock = self.fitted, Clock()
        prepared, fitted = self._fit_round(labels, round)
        clock.stop("fit")
        metrics, predictions = measure(prepared, fitted.classifier)
        gain, dev_gain = gains(prepared, fitted, metrics)
        quality = self._measured_without_test(prepared, fitted.classifier, labels, round)
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
            notes=_unique([*prepared.learner.notes, *fitted.notes]),
            quality=quality,
        )
        if not self.config.request.simulated:  # whose answers are in the data
            back_up_at_times(self.store)
        self._save_fit(prepared, fitted, round, predictions)
        chosen = self._save_choice(choice) if choice else None
        model = None
        if self._keeps_model(last):
            model = self._write_model(prepared.learner_name, fitted.classifier, facts, round, "round")
        self.store.commit(facts, chosen, model, keep_models=self.models == "all")
        log_facts("round", facts)
        with already_saved(f"round {round}"):
            self.store.point_to_newest()
            self.store.drop_checkpoints()  # of a fine-tuning that was given up
            self._drop_old_memories()
        return facts

    def _measured_without_test(
        self, prepared: PreparedTask, classifier: Classifier, labels: Labels, round: int
    ) -> Quality:
        """The quality as a round stores it; nothing is cross-validated where there is a test set."""
        from actune.rounds.auditing import audit_quality
        from actune.rounds.cross_validating import cross_validate

        if self.config.request.simulated:
            return Quality()
        streams = Streams(self.config.request.seed, round)
        read = labels.without(self.unread_rows())  # near-duplicates of other answers would flatter the model
        validated = None if self.task.test else cross_validate(prepared, read, streams)
        held_out = self._audit_labels(labels)
        audit = audit_quality(prepared, classifier, held_out, streams) if held_out else None
        return Quality(validated, agreement(self.store.questions(), labels.of_row), audit)

    def _audit_labels(self, labels: Labels) -> dict[int, int]:
        """The labels of the audit sample, as they were when the round began; none that the round trains on."""
        if not self.audit_rows or labels.of_row.keys() & {*self.audit_rows}:
            return {}
        answered = self.store.labels(until=labels.last_answer).of_row
        return {row: answered[row] for row in self.audit_rows if row in answered}

    def _fit_round(self, labels: Labels, round: int) -> tuple[PreparedTask, Fitted]:
        """The round's model: fitted, or the user's own classifier where the run begins with that."""
        if not self.starts_from_a_model(round):
            prepared = self.prepared  # one for the whole round, also where another thread adds texts meanwhile
            return prepared, self._fit(prepared, labels, round, round)
        from actune.models.starting import load_start, model_in
        from actune.rounds.fitting import Fitted, training_set

        folder = model_in(newest_model_in(Path(self.config.request.start_from)))
        prepared = prepare_for_the_start(self.config, self.task, folder, self.progress, self.shared)
        classifier = load_start(prepared.learner, folder, self.config.resolved.classes)
        if self.weighs_weak:
            guessed_labels(prepared, classifier).save(self.store)
            self.__dict__.pop("weak", None)
        return prepared, Fitted(classifier, training_set(labels, {}, PseudoLabels.none()), PseudoLabels.none())

    def _fit(self, prepared: PreparedTask, labels: Labels, round: int, chosen: int) -> Fitted:
        from actune.rounds.fitting import fit, training_set
        from actune.rounds.weighing import Weighed, weigh

        streams, weak, weighed = Streams(self.config.request.seed, round), self.weak_of_row(round), Weighed()
        if self.weighs_weak and self.weak:
            judged = len(set(labels.of_row.values())) > 1
            weighed = weigh(prepared, labels, self.weak.guesses, streams) if judged else weighed
            weak = {} if judged else self.weak.of_row
        trusted, rejected = self.usable(PseudoLabels.from_arrays(self._chosen(chosen))), self.rejected_rows()
        training = training_set(labels, weak, trusted, weighed.rows)
        fitted = fit(prepared, self.method, labels, training, streams, self.config.resolved.horizon, rejected)
        return replace(fitted, notes=weighed.notes)

    def _select(self, prepared: PreparedTask, classifier: Classifier, labels: Labels, round: int) -> Choice:
        """What the model of `round` chooses for the next one."""
        from actune.rounds.selecting import select

        request = self.config.request
        streams, memory = Streams(request.seed, round), self.usable_memory(self.memory(round))
        horizon, suggest = self.config.resolved.horizon, not request.simulated
        explain, rejected = request.page, self.rejected_rows()
        return select(
            prepared,
            self.method,
            classifier,
            labels,
            streams,
            memory,
            request.batch,
            horizon,
            suggest,
            explain,
            rejected,
        )

    def _select_after_the_end(self) -> RoundFacts:
        labels = self.training_labels()
        choice = self._select(*self._model_of_the_last_round(), labels, self.fitted - 1)
        self.store.commit(selection=self._save_choice(choice))
        return self.rounds()[-1]

    def _choose_more(self, labels: Labels) -> int:
        """More questions for the coming round; the same answers and skips always lead to the same ones."""
        from actune.rounds.first import rows_for_a_person
        from actune.rounds.selecting import select_more

        request, round = self.config.request, self.fitted
        if not self.unlabelled(labels):
            raise nothing_left_to_ask(labels, self.pool.classes)
        if round:
            trusted, streams = PseudoLabels.from_arrays(self._chosen(round)), Streams(request.seed, round - 1)
            prepared, classifier = self._model_of_the_last_round()
            questions = select_more(prepared, self.method, classifier, labels, streams, trusted, request.batch)
        else:
            rows, _ = rows_for_a_person(request, self.pool, labels, lambda: self.prepared, self.group_of)
            questions = [QuestionRow(0, row, None, None) for row in rows]
        return self.store.add_questions(self.to_ask(questions))

    # a project for a page, before its first model

    def draw(self, n: int = 10) -> int:
        """More texts drawn at random, for people who wait for the first batch; cheap, and no model is touched.

        Gives how many there are: none once there is a model, or where no text is left.
        """
        from actune.rounds.first import drawn_rows

        if self.fitted or self.config.request.simulated:
            return 0
        asked = [question.row for question in self.store.questions(0)]
        rows = drawn_rows(self.pool, self.training_labels(), n, self.config.request.seed, asked, self.group_of)
        return self.store.add_questions(self.to_ask([QuestionRow(0, row, None, None) for row in rows]))

    def draw_unsure(self, n: int = 10) -> int:
        """More texts of which the newest model was least sure when it read the pool, for people who wait for a round.

        Cheap, and no model is touched. Gives how many there are: none without a model, or where no text is left.
        """
        from actune.rounds.distinct import next_rows

        round = self.fitted
        order = self.least_sure_first(round) if round else None
        if order is None:
            return 0
        labels, arrays = self.labels(), self._arrays(round)
        taken = {*labels.of_row, *labels.skipped, *self.held_out_rows}
        taken.update(question.row for question in self.store.questions(round))
        rows = next_rows(map(int, order), n, taken, self.group_of)
        seen = [(row, self.meaning(int(arrays["seen_classes"][row])), arrays["seen_confidence"][row]) for row in rows]
        chosen = [
            QuestionRow(round, row, number, None if number is None else float(sure)) for row, number, sure in seen
        ]
        return self.store.add_questions(self.to_ask(chosen))

    def diversify(self) -> int:
        """The first batch that is spread over the whole pool, for which all texts are embedded.

        Gives how many questions there are: none once there is a model, or where this was done before.
        """
        from actune.rounds.first import rows_for_a_person

        request = self.config.request
        with self.store.advancing():
            if self.fitted or not request.page or self.store.fact(DIVERSE):
                return 0
            self.find_groups()
            asked = [question.row for question in self.store.questions(0)]
            labels = self.training_labels()
            free, rows = labels.without({*asked} - labels.of_row.keys()), list[int]()
            if self.unlabelled(free):
                spread = replace(request, first="representatives")
                rows, _ = rows_for_a_person(spread, self.pool, free, lambda: self.prepared, self.group_of)
            questions = self.to_ask([QuestionRow(0, row, None, None) for row in rows])
            return self.store.add_questions(questions, {DIVERSE: True})

    def _model_of_the_last_round(self) -> tuple[PreparedTask, Classifier]:
        folder = self.store.newest_model(kinds=("round",))
        if not self.fitted or folder is None or not folder.is_dir():
            raise SettingError("this run kept no models, so it cannot select more questions")
        if self.starts_from_a_model(self.fitted - 1):
            prepared = prepare_for_the_start(self.config, self.task, folder, self.progress, self.shared)
        else:
            prepared = self.prepared
        self.store.check_model(folder)
        return prepared, prepared.load(folder, len(saved_classes(folder)))

    def _save_fit(
        self, prepared: PreparedTask, fitted: Fitted, round: int, predictions: Mapping[str, Any] | None = None
    ) -> None:
        """What a teacher of this very round trusts, and predictions on test; the rest is kept with its choice."""
        from actune.rounds.measuring import measure

        predictions = measure(prepared, fitted.classifier)[1] if predictions is None else predictions
        trusted = fitted.training.pseudo_labels.as_arrays() if self.method.teacher else {}
        if kept := {**trusted, **predictions}:
            self.store.save_arrays(f"fit-{round:03d}", kept)

    def _save_choice(self, choice: Choice) -> Selection:
        """Keeps the arrays of a choice; gives what is to be committed."""
        round = choice.selection.round
        files = {f"select-{round:03d}": choice.arrays}
        if choice.memory is not None:
            files[f"memory-{round:03d}"] = {"memory": choice.memory}
        for name, arrays in files.items():
            self.store.save_arrays(name, arrays)
        questions = self.to_ask(choice.selection.questions)
        return replace(choice.selection, questions=questions, arrays=tuple(files))

    def _drop_old_memories(self) -> None:
        """Only the newest memory bank is used again, or the one before it, where a damaged choice is made again."""
        kept = f"memory-{self.selected - 2:03d}"
        for name in self.store.array_names():
            if name.startswith("memory-") and name < kept:
                self.store.drop_arrays(name)

    # using the model

    def predict(self, texts: Sequence[str] | Data) -> list[Prediction]:
        """The likeliest class of each text and the probability of every class, by the model that is in use.

        The texts are a list of them, a Series or an array, a frame with a column `text`, or the path of a file. The
        model is kept in memory for the next call.
        """
        return self._model().predict(texts_of(texts, self.config.request.reading), self.progress)

    def save(self, folder: str | Path) -> Path:
        """Writes the model that is in use, with all that it needs, to a new folder, which `actune.load` opens."""
        from actune.models.portable import copy_model, make_portable, new_folder

        source, target = self._newest_model(), checked_folder(folder)
        with new_folder(target) as scratch:
            copy_model(source, scratch)
            make_portable(scratch, self._encoder_of(source), self.config.settings.max_tokens)
        return target

    def _model(self) -> TextModel:
        """The newest model, loaded when it is first needed."""
        from actune.rounds.predicting import load_model

        newest = self._newest_model()
        with self._lock:
            if self._loaded is None or self._loaded[0] != newest:
                self.store.check_model(newest)
                by, encoder = self.prepared, self._encoder_of(newest)
                self._loaded = newest, load_model(newest, encoder, by.max_tokens, by.device, by.recipe)
            return self._loaded[1]

    def _encoder_of(self, model: Path) -> Path:
        """The encoder that a model stands on: that of the run, or the model's own."""
        from actune.models.starting import saved_learner

        return self.prepared.folder if saved_learner(model).is_frozen_encoder else model

    def _newest_model(self) -> Path:
        """The folder of the newest model."""
        folder = self.store.newest_model()
        if folder is None or not folder.is_dir():
            raise DataError(f"{str(self.store.folder)!r} has no model yet: run `actune advance` first")
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
            card = model_card(self.config_now, learner, len(self.pool), [*self.rounds(), facts])
            classifier.save(folder, self.pool.classes, card)
            (folder / "README.md").write_text(card, encoding="utf-8")  # a learner from outside may not have done it
        return self.store.with_digest(model)

    @cached_property
    def prepared(self) -> PreparedTask:
        """The learner and its texts, made when first needed: it is what imports torch."""
        prepared = prepare(self.config, self.task, self.progress, self.shared)
        prepared.gone = self.gone_classes
        if (group_of := self.group_of) is not None:
            prepared.group_of = group_of
        return prepared

    @cached_property
    def method(self) -> Method:
        return method_of(self.config)


def _unique(notes: Iterable[str]) -> tuple[str, ...]:
    """Each note once, in their order: a learner tells anew for every split that it prepares."""
    return tuple(dict.fromkeys(notes))
