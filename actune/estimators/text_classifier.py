"""`TextClassifier`: one call of `fit` on some labelled and some unlabelled texts, as scikit-learn has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from actune.core.checks import told
from actune.core.labels import Labels
from actune.core.pool import UNKNOWN, pool_of_numbers
from actune.core.streams import Streams
from actune.core.strings import Strings
from actune.core.task import Task
from actune.core.training_set import PseudoLabels
from actune.errors import DataError, ModelError, SettingError
from actune.estimators.inputs import is_labelled, labels_of, targets_of, texts_of
from actune.methods.finding import MethodValue
from actune.methods.method import Method
from actune.models.encoders import choose_device
from actune.models.folders import ENCODER, read_json
from actune.models.portable import FILE as PORTABLE
from actune.models.portable import make_portable, new_folder
from actune.models.sources import fetch, find_model, public_name
from actune.rounds.fitting import Fitted, fit, training_set
from actune.rounds.outputs import free_rows, view_of
from actune.rounds.predicting import TextModel, load_model
from actune.rounds.prepared import PreparedTask
from actune.rounds.selecting import select
from actune.session.config import Config
from actune.session.loading import load
from actune.session.preparing import method_of, prepare
from actune.session.request import check, make_request
from actune.session.resolve import resolve_request
from actune.session.setup import project_task

FILE = "text_classifier.json"  # in the folder of a saved one, beside its model


@dataclass(frozen=True)
class State:
    """What `fit` leaves behind for `query`."""

    prepared: PreparedTask
    method: Method
    labels: Labels
    streams: Streams  # of the last round
    fitted: Fitted
    batch: int


class TextClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns from labelled texts, and by self-training from unlabelled ones; `query` says which to label next.

    Rows of `y` that are None, NaN, -1 or an empty text have no label: they are the pool, from which the method selects
    pseudo-labels and questions. A method with a teacher (`thrifty`, `ust`, `st`, ...) needs one round. A method whose
    pseudo-labels come from the model of the round before (`actune`, `asst`, ...) is fitted twice: on the labels alone,
    and then also on the pseudo-labels that the first model has selected. There is no dev set, so the final
    checkpoint is used.

    `method`, `model`, `learner`, `seed` and `device` are the options of a run (see docs/reference/options.md), and
    `settings` is a mapping of settings of the method or of training (see docs/reference/methods.md). `batch` is how
    many rows `query` gives by default, and `max_tokens` is where texts are cut; if they are None, they depend on the
    data.
    """

    def __init__(
        self,
        method: str | MethodValue = "thrifty",
        model: str = "minilm",
        learner: str = "probe",
        seed: int = 0,
        batch: int | None = None,
        max_tokens: int | None = None,
        settings: Mapping[str, Any] | None = None,
        device: str = "auto",
    ) -> None:
        self.method = method
        self.model = model
        self.learner = learner
        self.seed = seed
        self.batch = batch
        self.max_tokens = max_tokens
        self.settings = settings
        self.device = device

    _state: State | None
    _model: TextModel

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fits a model to the texts `X` and to those of their labels `y` that are known."""
        texts = texts_of(X)
        targets = targets_of(y, len(texts))
        pool = pool_of_numbers(texts, Strings.numbered(len(texts)), targets.names, targets.numbers.tolist())
        task = project_task(pool, "texts")
        config = self._configured(task)
        known = {row: int(targets.numbers[row]) for row in np.flatnonzero(targets.numbers != UNKNOWN).tolist()}
        self._state = _fit(config, task, Labels(known, frozenset(), len(known)))
        by, fitted = self._state.prepared, self._state.fitted
        self._model = TextModel(targets.names, by.max_tokens, "", by.learner, fitted.classifier)
        self.classes_ = targets.classes
        if getattr(X, "ndim", 1) == 2:
            self.n_features_in_ = 1
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class, in the order of `classes_`."""
        check_is_fitted(self, "classes_")
        return self._model.predict_proba(texts_of(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The likeliest class of each text."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]  # type: ignore[no-any-return]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy on the rows that have a label."""
        check_is_fitted(self, "classes_")
        texts, labels = texts_of(X), labels_of(y)
        rows = np.flatnonzero(is_labelled(labels))
        if not len(rows):
            raise DataError("y has no labels, so there is nothing to score: pass the true labels")
        weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
        predicted = self.predict([texts[row] for row in rows])
        # as lists, because a y with None in it is an array of objects and one with NaN an array of floats
        return float(accuracy_score(labels[rows].tolist(), predicted.tolist(), sample_weight=weights))

    def query(self, n: int | None = None) -> npt.NDArray[np.int64]:
        """The rows of the fitted `X` that are most worth labelling next, as the method chooses them, best first."""
        check_is_fitted(self, "classes_")
        if self._state is None:
            raise DataError("a loaded classifier has no texts to choose from: fit it first")
        state = self._state
        view = view_of(state.prepared, state.fitted.classifier, state.labels, state.streams)
        return state.method.query(view, state.batch if n is None else n).numpy()

    def save(self, folder: str | Path) -> Path:
        """Writes the model to a new folder, which `TextClassifier.load` and `actune.load` open."""
        check_is_fitted(self, "classes_")
        target = Path(folder)
        if self._state is None:
            raise DataError("this classifier was loaded from a folder: copy the folder instead of saving again")
        by, encoder = self._state.prepared, public_name(self.model)
        facts = {
            "model": encoder if encoder == self.model else f"./{encoder}",  # which no one takes for a name of the hub
            "learner": by.learner_name,
            "max_tokens": by.max_tokens,
            "classes": self.classes_.tolist(),
            "dtype": self.classes_.dtype.str,
        }
        with new_folder(target) as scratch:
            made = f"Made with actune: learner `{by.learner_name}`, encoder `{encoder}`."
            card = f"# Text classifier\n\n{made}\n"
            self._state.fitted.classifier.save(scratch, by.task.pool.classes, card)
            make_portable(scratch, by.folder, by.max_tokens, card)
            (scratch / FILE).write_text(json.dumps(facts, indent=1), encoding="utf-8")
        return target

    @classmethod
    def load(cls, folder: str | Path, device: str = "auto") -> Self:
        """A classifier that `save` has written. It predicts; `query` needs texts to choose from, and so a new `fit`."""
        try:
            facts = read_json(Path(folder) / FILE)
            words = {name: facts[name] for name in ("model", "learner", "max_tokens")}
            kind = np.dtype(facts["dtype"]).kind  # not its width, which need not be that of the names
            classes = np.asarray(facts["classes"], dtype=kind if kind in "US" else facts["dtype"])
        except (ModelError, ValueError, KeyError, TypeError, OverflowError) as error:
            raise ModelError(f"{str(folder)!r} is not a saved TextClassifier: {error!r}") from error
        copied = Path(folder) / ENCODER
        if str(words["model"]).startswith("./") and copied.is_dir():
            words["model"] = str(copied)
        loaded = cls(**words, device=device)
        if (Path(folder) / PORTABLE).is_file():
            loaded._model = load(folder, device)
        else:  # of an earlier version, which left the encoder where it was
            encoder = fetch(find_model(loaded.model))
            loaded._model = load_model(Path(folder), encoder, words["max_tokens"], choose_device(device))
        if classes.shape != (len(loaded._model.classes),):
            raise ModelError(f"{str(folder)!r} lists other classes in {FILE} than its model has: save it again")
        loaded._state = None
        loaded.classes_ = classes
        return loaded

    def _configured(self, task: Task) -> Config:
        """What the parameters mean for a task, as a project of its own would have it."""
        if self.settings is not None and not isinstance(self.settings, Mapping):
            raise SettingError(f"settings must be a mapping of names to values, not {told(self.settings)}")
        changes = dict(self.settings or {})
        if self.max_tokens is not None:
            changes["max_tokens"] = self.max_tokens
        request = make_request(
            task,
            method=self.method,
            model=self.model,
            learner=self.learner,
            seed=self.seed,
            batch=self.batch,
            device=self.device,
            changes=changes,
        )
        check(request, task)
        return resolve_request(request, task)

    def __getstate__(self) -> Any:
        if hasattr(self, "classes_"):
            raise ModelError("a fitted TextClassifier cannot be pickled: use its methods save and load")
        return super().__getstate__()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.target_tags.required = True
        return tags


def _fit(config: Config, task: Task, labels: Labels) -> State:
    """As many rounds as the method needs until a model has learnt from pseudo-labels, all on the same labels."""
    prepared, method = prepare(config, task), method_of(config)
    seed, batch, horizon = config.request.seed, config.request.batch, config.resolved.horizon
    streams = Streams(seed)
    fitted = fit(prepared, method, labels, training_set(labels, {}, PseudoLabels.none()), streams, horizon)
    if method.self_training is not None and method.teacher is None and len(free_rows(prepared, labels)):
        # the batch is left out of what is trusted, as in a session, where somebody would be answering it
        choice = select(prepared, method, fitted.classifier, labels, streams, None, batch, horizon, suggest=False)
        streams = Streams(seed, round=1)
        training = training_set(labels, {}, PseudoLabels.from_arrays(choice.arrays))
        fitted = fit(prepared, method, labels, training, streams, horizon)
    return State(prepared, method, labels, streams, fitted, batch)
