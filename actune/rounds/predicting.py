"""A trained model that labels new texts: of a session, of a folder, or of an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from actune.core.classifier import Classifier, Learner
from actune.core.progress import Progress, silent
from actune.core.view import checked
from actune.data.frames import Data
from actune.data.texts import texts_of
from actune.models.cache import without_cache
from actune.models.probing import one_thread
from actune.models.starting import saved_classes, saved_learner

if TYPE_CHECKING:
    from actune.core.settings import Training

BLOCK = 4096  # texts that are read at a time
SHORT = 2000  # characters of all texts: up to here threads cost more than they bring


@dataclass(frozen=True)
class Prediction:
    """What the model says about one text."""

    label: str
    probabilities: dict[str, float]

    @property
    def confidence(self) -> float:
        """The probability of the label."""
        return self.probabilities[self.label]

    def __repr__(self) -> str:
        return f"Prediction({self.label!r}, {self.confidence:.4f})"


@dataclass(frozen=True, eq=False, repr=False)
class TextModel:
    """A trained classifier for new texts. It stays in memory, writes no files, and any number of threads may use it."""

    classes: tuple[str, ...]
    max_tokens: int  # longer texts are cut
    note: str  # one sentence on how the model was made
    learner: Learner
    classifier: Classifier
    _lock: RLock = field(default_factory=RLock)

    def __repr__(self) -> str:
        shown = ", ".join(self.classes[:4]) + (", ..." if len(self.classes) > 4 else "")
        return f"<TextModel with {len(self.classes)} classes: {shown}>"

    def predict(self, texts: Sequence[str] | Data, progress: Progress = silent) -> list[Prediction]:
        """The likeliest class of each text, and the probability of every class.

        The texts are a list of them, a Series or an array, a frame with a column `text`, or the path of a file.
        """
        found = self.predict_proba(texts, progress)
        best = found.argmax(1).tolist() if len(found) else []
        return [
            Prediction(self.classes[label], dict(zip(self.classes, row, strict=True)))
            for label, row in zip(best, found.tolist(), strict=True)
        ]

    def predict_proba(self, texts: Sequence[str] | Data, progress: Progress = silent) -> npt.NDArray[np.float64]:
        """The probability of each class (texts, classes), in the order of `classes`."""
        texts = texts_of(texts)
        found: npt.NDArray[np.float64] = np.empty((len(texts), len(self.classes)))
        for start in range(0, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            found[start : start + len(block)] = self._read(block)
            progress("predict", start + len(block), len(texts))
        return found

    def _read(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        few = len(texts) < SHORT and sum(map(len, texts)) < SHORT
        # one at a time: while packed texts are read, the encoder's layers are others
        with self._lock, without_cache(), one_thread(torch.device("cpu")) if few else nullcontext():
            readout = checked(self.classifier.read(self.learner.prepare(texts)))
            self.learner.notes.clear()  # a model that serves for days would collect them without end
        return readout.log_proba.double().exp().cpu().numpy()


def load_model(
    folder: Path,
    encoder: Path,
    max_tokens: int,
    device: torch.device,
    recipe: Training | None = None,
    note: str = "",
) -> TextModel:
    """The classifier in `folder`; one that stands on a frozen encoder is given `encoder`, others bring their own."""
    kind, classes = saved_learner(folder), saved_classes(folder)
    recipe = replace(recipe or kind.recipe(device.type), train_layers=0)
    learner = kind.make(encoder if kind.is_frozen_encoder else folder, len(classes), max_tokens, recipe, device)
    return TextModel(tuple(classes), max_tokens, note, learner, learner.load(folder))
