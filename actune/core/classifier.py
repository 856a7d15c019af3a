"""The contracts between the loop and whatever learns: a learner makes classifiers, a classifier reads texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, TypeVar

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


class Prepared(Protocol):
    """Texts as a learner wants them (tokens or frozen embeddings), made once per run."""

    def __len__(self) -> int: ...

    def only(self, rows: npt.NDArray[np.int64]) -> Self:
        """These rows alone, in this order."""
        ...


Inputs = TypeVar("Inputs", bound=Prepared)
Read = TypeVar("Read", bound=Prepared, contravariant=True)


@dataclass(frozen=True)
class Labelled:
    """Prepared texts whose class is known: a dev or a test set."""

    inputs: Prepared
    labels: npt.NDArray[np.int64]


class ClassifierOf(Protocol[Read]):
    """A fitted model that reads one kind of prepared texts. It never changes; fitting makes a new one."""

    def read(self, inputs: Read, progress: Progress = ..., head_input: bool = ...) -> Readout: ...

    def sample(
        self, inputs: Read, rows: npt.NDArray[np.int64], samples: int, seed: int, progress: Progress = ...
    ) -> Moments: ...

    def perturbed(self, inputs: Read, seed: int, epsilon: float, progress: Progress = ...) -> torch.Tensor: ...

    def save(self, folder: Path, classes: Sequence[str], card: str) -> None: ...


class LearnerOf(Protocol[Inputs]):
    """How a classifier learns from one kind of prepared texts: the whole encoder, or a small head on embeddings."""

    notes: list[str]  # facts for the user, such as how many texts were cut
    cut: int  # of the texts that were prepared last, those that are longer than the token limit

    def prepare(self, texts: Sequence[str], progress: Progress = ...) -> Inputs: ...

    def fit(
        self,
        inputs: Inputs,
        training: TrainingSet,
        objective: Objective,
        streams: Streams,
        dev: Labelled | None = ...,
        progress: Progress = ...,
        start: Any = ...,
    ) -> ClassifierOf[Inputs]: ...

    def load(self, folder: Path) -> ClassifierOf[Inputs]: ...


# where the kind of prepared texts does not matter
Classifier: TypeAlias = ClassifierOf[Any]
Learner: TypeAlias = LearnerOf[Any]
