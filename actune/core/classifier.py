"""The contracts between the loop and whatever learns: a learner makes classifiers, a classifier reads texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from actune.core.objective import Objective
from actune.core.progress import Progress
from actune.core.streams import Streams
from actune.core.training_set import TrainingSet

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch


@dataclass(frozen=True)
class Readout:
    """What a classifier says about some texts, in their order, float32, on the classifier's device."""

    log_proba: torch.Tensor  # (texts, classes)
    embedding: torch.Tensor  # (texts, width)
    head_input: torch.Tensor | None = None  # (texts, width) of the last linear layer, where it was asked for


@dataclass(frozen=True)
class Moments:
    """What several passes with dropout on say about some texts, added up pass by pass."""

    mean: torch.Tensor  # (texts, classes), the mean probability
    entropy: torch.Tensor  # (texts,), the mean entropy of a pass
    variance: torch.Tensor  # (texts, classes), over the passes


@dataclass(frozen=True)
class Labelled:
    """Prepared texts whose class is known: a dev or a test set."""

    inputs: Any
    labels: npt.NDArray[np.int64]


class Classifier(Protocol):
    """A fitted model. It never changes; fitting makes a new one."""

    def read(self, inputs: Any, progress: Progress = ..., head_input: bool = ...) -> Readout: ...

    def sample(
        self, inputs: Any, rows: npt.NDArray[np.int64], samples: int, seed: int, progress: Progress = ...
    ) -> Moments: ...

    def perturbed(self, inputs: Any, seed: int, epsilon: float, progress: Progress = ...) -> torch.Tensor: ...

    def save(self, folder: Path, classes: Sequence[str], card: str) -> None: ...


class Learner(Protocol):
    """How a classifier learns: the whole encoder, or a small head on frozen embeddings."""

    notes: list[str]  # facts for the user, such as how many texts were cut
    cut: int  # of the texts that were prepared last, those that are longer than the token limit

    def prepare(self, texts: Sequence[str], progress: Progress = ...) -> Any: ...

    def fit(
        self,
        inputs: Any,
        training: TrainingSet,
        objective: Objective,
        streams: Streams,
        dev: Labelled | None = ...,
        progress: Progress = ...,
        start: Any = ...,
    ) -> Classifier: ...

    def load(self, folder: Path) -> Classifier: ...
