"""The models' side of the loop: prepared texts, fitting, measuring, choosing. Everything that needs torch is here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch

from actune.core.classifier import Classifier, Labelled, Learner
from actune.core.objective import PLAIN
from actune.core.pool import UNKNOWN, Pool
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.core.view import View, checked
from actune.methods.recipes import build
from actune.methods.released import as_released
from actune.methods.trust import Pace
from actune.models.encoders import choose_device
from actune.models.learners import make_learner
from actune.models.starting import kind_of, load_start, model_in
from actune.session.mapping import map_arrays
from actune.session.metrics import accuracy, macro_f1
from actune.session.outputs import ModelOutputs, drawn, glimpse, question_rows
from actune.session.resolve import encoder_folder
from actune.session.trusting import described, held_out, trusted_arrays, trusted_in
from actune.store.records import Labels, Selection
from actune.store.store import newest_model_in

if TYPE_CHECKING:
    import numpy.typing as npt

    from actune.core.objective import Objective
    from actune.core.settings import Training
    from actune.methods.queries import Query
    from actune.session.session import Session


@dataclass(frozen=True)
class Prediction:
    """What the model says about one text."""

    label: str
    probabilities: dict[str, float]


Predictor = Callable[[Sequence[str]], list[Prediction]]


@dataclass(frozen=True)
class Chosen:
    """A selection for a round: what is committed, and the arrays that go with it."""

    record: Selection
    arrays: dict[str, Any]


@dataclass(frozen=True)
class Fitted:
    """The model of a round, what it learnt from, and the pseudo-labels it was offered, taken or not."""

    classifier: Classifier
    training: TrainingSet
    offered: PseudoLabels
    rival: Classifier | None = None  # of a teacher and its last student the one that was not taken


class Shared(Protocol):
    """What the runs of an experiment compute once for all of them; a run of its own shares nothing."""

    def prepared(self, machine: Machine, texts: Sequence[str], prepare: Callable[[], Any]) -> Any: ...

    def first(
        self, machine: Machine, training: TrainingSet, objective: Objective, fit: Callable[[], Classifier]
    ) -> Classifier: ...


class Machine:
    """Learner and prepared texts of one session; holds nothing that a restart would miss."""

    def __init__(self, session: Session, at_the_end: bool = False, start: Path | None = None) -> None:
        self.session = session
        self.task = session.task  # as it is now: others may add texts while a round is computed
        config = self.config = session.config
        torch.set_num_threads(config.resolved.threads)  # it decides the last bits
        here = config.resolved.device
        # a run that began on a GPU goes on, and predicts, where there is none
        self.device = choose_device("cpu" if here.startswith("cuda") and not torch.cuda.is_available() else here)
        self.learner_name = "finetune" if at_the_end else config.resolved.learner
        self.start = start  # the folder of a classifier that is the first model
        if start is not None:
            self.learner_name = kind_of(start)
        self.recipe = config.final_training if at_the_end else config.training
        self.method = build(config.request.method, config.settings)
        if config.request.preset == "released":
            self.method = as_released(self.method, config.settings)

    def for_the_end(self) -> Machine:
        """The machine that fine-tunes the encoder once, where the rounds used a probe."""
        return Machine(self.session, at_the_end=True)

    def for_the_start(self) -> Machine:
        """The machine of the first round where the user's own classifier is the first model."""
        return Machine(self.session, start=model_in(newest_model_in(Path(self.config.request.start_from))))

    @cached_property
    def folder(self) -> Path:
        """The encoder's files."""
        if self.start is not None and self.learner_name == "finetune":
            return self.start
        config = self.config
        task, first = self.task, config.resolved.pool
        return encoder_folder(config.request, task, config.settings, self.device, self.session.progress, first=first)

    @cached_property
    def learner(self) -> Learner:
        return self._make_learner(self.learner_name, self.folder, self.recipe)

    def _make_learner(self, name: str, folder: Path, recipe: Training) -> Learner:
        classes = len(self.config.resolved.classes)
        return make_learner(name, folder, classes, self.config.settings.max_tokens, recipe, self.device)

    @cached_property
    def inputs(self) -> Any:
        return self._prepare(self.task.pool.texts)

    def _prepare(self, texts: Sequence[str]) -> Any:
        def prepare() -> Any:
            return self.learner.prepare(texts, self.session.progress)

        shared = self.session.shared
        return shared.prepared(self, texts, prepare) if shared else prepare()

    @cached_property
    def dev(self) -> Labelled | None:
        return self._labelled(self.task.dev)

    @cached_property
    def test(self) -> Labelled | None:
        return self._labelled(self.task.test)

    def _labelled(self, pool: Pool | None) -> Labelled | None:
        if pool is None or not len(pool):
            return None
        return Labelled(self._prepare(pool.texts), np.asarray(pool.labels, np.int64))

    def training_set(self, labels: Labels, chosen: dict[str, Any], round: int) -> TrainingSet:
        """Labelled rows in row order, and the rows trusted for this round that nobody has answered or skipped since."""
        weak = self.session.weak_of_row(round)
        known = {row: label for row, label in weak.items() if row not in labels.skipped} | labels.of_row
        rows = np.asarray(sorted(known), np.int64)
        trusted = trusted_in(chosen)
        classes = np.asarray([known[row] for row in rows.tolist()], np.int64)
        return TrainingSet(rows, classes, trusted.without({*labels.of_row, *labels.skipped}))

    def fit(self, labels: Labels, chosen: dict[str, Any], streams: Streams) -> Fitted:
        """A round's model learns from answers, and from what the last model or a teacher trusts."""
        training, teacher = self.training_set(labels, chosen, streams.round), self.method.teacher
        if self.start is not None:
            classifier = load_start(self.learner, self.start, self.config.resolved.classes)
            return Fitted(classifier, training, training.trusted)
        if teacher is None or self.method.self_training is None or not len(labels.of_row):
            classifier = self._fit(training, self.method.objective, streams)
            return Fitted(classifier, training, training.trusted)
        taught = self._fit(training, PLAIN, streams)
        newest = Fitted(taught, training, PseudoLabels.none())
        for generation in range(1, teacher.generations + 1):  # the teacher's own streams are those of generation 0
            newest = self._next(newest, labels, replace(streams, generation=generation))
        if newest.classifier is taught:
            return newest
        if teacher.may_stay and self._clearly_better(taught, newest.classifier):
            return Fitted(taught, training, newest.offered, newest.classifier)
        return replace(newest, rival=taught)

    def _next(self, last: Fitted, labels: Labels, streams: Streams) -> Fitted:
        """The student of the newest model, or that model where it passes nothing on: the same fit again."""
        assert self.method.teacher and self.method.self_training
        pace, classifier = Pace(streams.round, self.config.resolved.horizon), last.classifier
        rows = drawn(self._free(labels), self.method.teacher.reads, streams)
        view = self.view(classifier, labels, streams) if rows is None else glimpse(self, classifier, rows, streams)
        found, _ = self.method.self_training(view, None, pace)
        trusted = self._described(found, view, last.classifier)
        if rows is not None:
            trusted = replace(trusted, rows=rows[trusted.rows])
        if not len(trusted):
            return replace(last, offered=trusted)
        training = replace(last.training, trusted=trusted)
        start = last.classifier if self.method.teacher.hands_over else None
        return Fitted(self._fit(training, self.method.objective, streams, start), training, trusted)

    def _clearly_better(self, one: Classifier, other: Classifier) -> bool:
        """Whether dev says so, by two standard errors of what the two disagree on; without a dev set nothing does."""
        if self.dev is None:
            return False
        ours, theirs = (held_out(each, self.dev).right for each in (one, other))
        ahead, behind = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
        return bool(ahead - behind > 2 * np.sqrt(ahead + behind))

    def _described(self, trusted: PseudoLabels, view: View, classifier: Classifier) -> PseudoLabels:
        return described(trusted, view, None if self.dev is None else held_out(classifier, self.dev))

    def _fit(
        self, training: TrainingSet, objective: Objective, streams: Streams, start: Classifier | None = None
    ) -> Classifier:
        def fit() -> Classifier:
            return self.learner.fit(self.inputs, training, objective, streams, self.dev, self.session.progress, start)

        shared = self.session.shared
        alike = streams.round == 0 and start is None and not len(training.trusted)
        return shared.first(self, training, objective, fit) if shared and alike else fit()

    def view(self, classifier: Classifier, labels: Labels, streams: Streams) -> View:
        """What `classifier` says about the pool, with what is known of it so far."""
        labelled = sorted(labels.of_row)
        return View(
            ModelOutputs(self, classifier, streams),
            unlabelled=torch.from_numpy(self._free(labels)),
            labelled=labelled,
            labels=[labels.of_row[row] for row in labelled],
            streams=streams,
            ids=self.task.pool.ids,
        )

    def _free(self, labels: Labels) -> npt.NDArray[np.int64]:
        """The rows that nobody has labelled or skipped."""
        free = np.ones(len(self.task.pool), bool)
        free[[*labels.of_row, *labels.skipped]] = False
        return np.flatnonzero(free)

    def evaluate(self, classifier: Classifier) -> tuple[dict[str, Any], Any]:
        """Accuracy on dev and test, macro-F1, and the predictions on test behind them; none without the set."""
        facts: dict[str, Any] = {"accuracy": None, "macro_f1": None, "dev_accuracy": None}
        task, predictions = self.task, None
        if self.test is not None and task.test is not None:
            predicted, known = self._predicted(classifier, self.test, task.test), self.test.labels
            facts |= {"accuracy": accuracy(predicted, known), "macro_f1": macro_f1(predicted, known)}
            predictions = predicted.astype(np.int16)
        if self.dev is not None and task.dev is not None:
            facts["dev_accuracy"] = accuracy(self._predicted(classifier, self.dev, task.dev), self.dev.labels)
        return facts, predictions

    def gain(self, fitted: Fitted, metrics: dict[str, Any]) -> dict[str, Any]:
        """What self-training brings in this round: the last student's accuracy less its teacher's, taken or not."""
        if fitted.rival is None:
            return {}
        other, _ = self.evaluate(fitted.rival)
        sign = 1 if len(fitted.training.trusted) else -1
        return {
            gain: None if metrics[name] is None else sign * (metrics[name] - other[name])
            for gain, name in (("gain", "accuracy"), ("dev_gain", "dev_accuracy"))
        }

    def _predicted(self, classifier: Classifier, given: Labelled, pool: Pool) -> Any:
        return checked(classifier.read(given.inputs), pool.ids).log_proba.argmax(1).cpu().numpy()

    def describe_trusted(self, fitted: Fitted) -> dict[str, Any]:
        """How many rows were trusted, of which classes, and how many rightly where the truth is known.

        What was offered and not taken is told apart: a teacher may have been better without it.
        """
        trusted, offered = fitted.training.trusted, fitted.offered
        return {
            "trusted": len(trusted),
            "trusted_accuracy": self._share_right(trusted),
            "trusted_classes": self._counts(trusted),
            "offered": len(offered),
            "offered_accuracy": self._share_right(offered),
            "offered_classes": self._counts(offered),
            "offered_estimate": offered.estimate,
        }

    def _counts(self, trusted: PseudoLabels) -> list[int]:
        return np.bincount(trusted.targets, minlength=len(self.config.resolved.classes)).tolist()  # type: ignore[no-any-return]

    def _share_right(self, trusted: PseudoLabels) -> float | None:
        known = np.asarray(self.task.pool.labels, np.int64)[trusted.rows]
        judged = known != UNKNOWN
        return accuracy(trusted.targets[judged], known[judged]) if judged.any() else None

    def taught_arrays(self, trusted: PseudoLabels) -> dict[str, Any]:
        """What a teacher of this very round passed on; what the last model trusts is kept with its choice."""
        return trusted_arrays(trusted) if self.method.teacher else {}

    def select(self, classifier: Classifier, labels: Labels, streams: Streams, memory: Any, round: int) -> Chosen:
        """What to ask and what to trust for `round`, from one read of the pool."""
        view = self.view(classifier, labels, streams)
        asked = self.method.query(view, self.config.request.batch).tolist()
        arrays: dict[str, Any] = {}
        if self.method.self_training is not None and self.method.teacher is None:
            pace = Pace(round - 1, self.config.resolved.horizon)
            trusted, memory = self.method.self_training(view.without(asked), memory, pace)
            arrays = trusted_arrays(self._described(trusted, view, classifier))
            if memory is not None:
                arrays["memory"] = memory
        person = not self.config.request.simulated
        questions = question_rows(round, asked, view.log_proba if person else None)
        if view.was_read:
            arrays |= map_arrays(view, asked, self.method)
        return Chosen(Selection(round, questions, {"round": round, "asked": len(asked)}), arrays)

    def first(self, query: Query, rows: Sequence[int], count: int) -> list[int]:
        """A first batch before there is a model, by a query that needs none."""
        streams = Streams(self.config.request.seed)
        return query(View(ModelOutputs(self, None, streams), rows, streams=streams), count).tolist()

    def predictor(self, folder: Path) -> Predictor:
        """The model in `folder`, ready for any number of new texts; a fine-tuned one brings its own tokenizer."""
        kind = kind_of(folder)
        maker = self._make_learner(
            kind, folder if kind == "finetune" else self.folder, replace(self.recipe, train_layers=0)
        )
        classifier, names, progress = maker.load(folder), self.config.resolved.classes, self.session.progress

        def predict(texts: Sequence[str]) -> list[Prediction]:
            readout = checked(classifier.read(maker.prepare(texts, progress), progress))
            return [
                Prediction(names[int(np.argmax(row))], dict(zip(names, row, strict=True)))
                for row in readout.log_proba.exp().cpu().tolist()
            ]

        return predict
