"""What the newest model gets right and wrong on test: a score for each class, and which classes it takes for which."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actune.session.session import Session

if TYPE_CHECKING:
    import numpy as np

MOST_CLASSES = 15  # of a whole confusion matrix; of more classes the worst are told
MOST_CONFUSIONS = 15


@dataclass(frozen=True)
class ClassScore:
    """How well one class is found; None where nothing was predicted, or nothing was there to find."""

    name: str
    precision: float | None
    recall: float | None
    f1: float | None
    support: int  # test texts of this class
    answers: int  # that the model learnt from


@dataclass(frozen=True)
class Confusion:
    """Test texts of one class that were taken for another."""

    true: str
    predicted: str
    count: int
    share: float  # of the test texts of the true class


@dataclass(frozen=True, eq=False)
class OnTest:
    """The predictions of one model on the test set."""

    model: str  # in words
    truth: np.ndarray  # (texts,)
    predicted: np.ndarray  # (texts,)
    confidence: np.ndarray | None  # (texts,); None in a folder that an earlier version has made
    classes: tuple[str, ...]
    answers: tuple[int, ...]  # of each class

    @property
    def whole(self) -> bool:
        """Whether there are few enough classes for a matrix of all."""
        return len(self.classes) <= MOST_CLASSES

    @property
    def matrix(self) -> np.ndarray:
        """Counts of test texts, (true class, predicted class)."""
        import numpy as np

        counts = np.zeros((len(self.classes), len(self.classes)), np.int64)
        np.add.at(counts, (self.truth, self.predicted), 1)
        return counts

    def scores(self) -> list[ClassScore]:
        """Every class in its order or, of many classes, the worst ones that the test set has, the worst first."""
        matrix = self.matrix
        right, found, there = matrix.diagonal(), matrix.sum(0), matrix.sum(1)
        scores = [
            ClassScore(
                name,
                _share(right[number], found[number]),
                _share(right[number], there[number]),
                _share(2 * right[number], found[number] + there[number]),
                int(there[number]),
                self.answers[number],
            )
            for number, name in enumerate(self.classes)
        ]
        if self.whole:
            return scores
        known = [score for score in scores if score.support]
        return sorted(known, key=lambda score: (score.f1 or 0.0, -score.support))[:MOST_CLASSES]

    def confusions(self) -> list[Confusion]:
        """The most frequent mistakes, the most frequent first."""
        matrix = self.matrix
        there = matrix.sum(1)
        pairs = [
            Confusion(self.classes[a], self.classes[b], int(matrix[a, b]), float(matrix[a, b] / there[a]))
            for a, b in zip(*matrix.nonzero(), strict=True)
            if a != b
        ]
        return sorted(pairs, key=lambda pair: (-pair.count, -pair.share, pair.true))[:MOST_CONFUSIONS]


def on_test(session: Session) -> OnTest | None:
    """What the newest model said about the test set, where there is one and it was kept."""
    rounds, final, test = session.rounds(), session.final, session.task.test
    if not rounds or test is None:
        return None
    names = {f"fit-{rounds[-1].round:03d}": f"the model of round {rounds[-1].round}"}
    if final is not None:
        names = {f"final-{final.round:03d}": "the model that was fine-tuned at the end", **names}
    for name, model in names.items():
        arrays = session.store.load_arrays(name) if session.store.has_arrays(name) else {}
        predicted = arrays.get("test_predictions")
        if predicted is not None and len(predicted) == len(test):
            classes, counts = session.pool.classes, rounds[-1].class_counts
            answers = (*counts, *(0 for _ in classes[len(counts) :]))  # a class may be newer than the round
            return OnTest(model, test.labels, predicted.astype(int), arrays.get("test_confidence"), classes, answers)
    return None


def interval(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share of `count` texts, by Wilson's formula."""
    z = 1.96
    middle = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return (middle - half) / (1 + z * z / count), (middle + half) / (1 + z * z / count)


def error_of_change(before: Sequence[int] | np.ndarray, after: Sequence[int] | np.ndarray) -> float:
    """Half of the 95 % interval of the change between two models on the same texts; each tells 1 where it is right."""
    import numpy as np

    differences = np.asarray(after, float) - np.asarray(before, float)
    return float(1.96 * differences.std() / math.sqrt(len(differences)))


def _share(part: int, whole: int) -> float | None:
    return float(part / whole) if whole else None
