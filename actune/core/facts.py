"""What a round found and what was chosen for the next one, as plain values that a store can keep."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from actune.core.shapes import WrongShape, shaped


@dataclass(frozen=True)
class Metrics:
    """How good a model is on the test set and on the dev set; None without the set."""

    accuracy: float | None = None
    macro_f1: float | None = None
    dev_accuracy: float | None = None


@dataclass(frozen=True)
class PseudoLabelFacts:
    """The pseudo-labels of a round: how many, of which classes, and how many are right."""

    count: int = 0
    classes: tuple[int, ...] = ()  # how many there are of each class
    accuracy: float | None = None  # the share of right ones, where the true classes are known
    estimate: float | None = None  # the share of right ones, as far as a dev set or the answers tell
    used: bool = True  # false where the round's model is a teacher that was clearly better than its student

    @property
    def trained_on(self) -> int:
        """How many of them the round's model has learnt from."""
        return self.count if self.used else 0

    @property
    def classes_trained_on(self) -> tuple[int, ...]:
        """How many of each class the round's model has learnt from."""
        return self.classes if self.used else (0,) * len(self.classes)

    @property
    def accuracy_trained_on(self) -> float | None:
        """The share of right ones among those that the round's model has learnt from."""
        return self.accuracy if self.used else None


@dataclass(frozen=True)
class Share:
    """A share that was counted on some cases, with its 95 % confidence interval (Wilson's)."""

    value: float
    low: float
    high: float
    count: int  # of all cases

    @classmethod
    def of(cls, hits: int, count: int) -> Share:
        share, z = hits / count, 1.959964
        middle = (share + z * z / (2 * count)) / (1 + z * z / count)
        half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
        return cls(share, max(0.0, middle - half), min(1.0, middle + half), count)


@dataclass(frozen=True)
class CrossValidation:
    """How well models that were fitted on a part of the answers predict the others; pseudo-labels take no part."""

    accuracy: Share
    macro_f1: float
    folds: int
    learner: str  # that was fitted: where the rounds fine-tune an encoder, this is a probe on the frozen one
    left_out: int = 0  # answers that are the only one of their class, which no other answer could predict


@dataclass(frozen=True)
class Interval:
    """A number with its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class AuditQuality:
    """How good a model is on the audit sample, which was drawn at random and which it has not learnt."""

    accuracy: Share
    macro_f1: Interval  # by the bootstrap, over the classes that occur in the sample

    @property
    def count(self) -> int:
        """How many labels of the sample there were."""
        return self.accuracy.count


@dataclass(frozen=True)
class Quality:
    """What is known of a project's model without a test set. Show each part with `MEASURED_ON` beside it."""

    cross_validation: CrossValidation | None = None  # of the newest round
    agreement: Share | None = None  # of suggestions and answers, in the newest batches
    audit: AuditQuality | None = None  # of the newest round


# what the parts of `Quality` are measured on, for whoever reads them
MEASURED_ON = {
    "cross_validation": "This is measured on your own answers, whose texts are usually harder than the rest, so the "
    "accuracy on other texts is probably higher; it does not replace a test set.",
    "agreement": "This is measured on texts that the model was unsure of, and people may follow a suggestion; it does "
    "not replace a test set.",
    "audit": "This is measured on texts that were drawn at random and that the model has not learnt, so it estimates "
    "the accuracy on all texts of the pool; the interval is wide while there are few of them.",
}


@dataclass(frozen=True)
class RoundFacts:
    """What is told about a finished round."""

    round: int
    labels: int
    answers_seen: int  # the number of the last answer that the round's model knows
    class_counts: tuple[int, ...]  # labels of each class
    metrics: Metrics
    pseudo_labels: PseudoLabelFacts = PseudoLabelFacts()
    gain: float | None = None  # the student's test accuracy minus its teacher's, where there were both
    dev_gain: float | None = None  # the same on dev
    seconds: Mapping[str, float] = field(default_factory=dict)  # by phase
    notes: tuple[str, ...] = ()  # what the learner has to tell, such as how many texts were cut at the token limit
    quality: Quality = Quality()  # of a project that people answer

    def __repr__(self) -> str:
        found = [f"round={self.round}", f"labels={self.labels}", *_measured(self)]
        if self.pseudo_labels.trained_on:
            found.append(f"pseudo_labels={self.pseudo_labels.trained_on}")
        return f"RoundFacts({', '.join(found)})"

    @property
    def accuracy(self) -> float | None:
        return self.metrics.accuracy

    @property
    def macro_f1(self) -> float | None:
        return self.metrics.macro_f1

    @property
    def dev_accuracy(self) -> float | None:
        return self.metrics.dev_accuracy

    def as_json(self) -> dict[str, Any]:
        """The facts as a JSON object; `from_json` reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> RoundFacts:
        """The facts of a JSON object, also of one that an earlier version has written."""
        if not isinstance(found, Mapping):
            raise WrongShape("it is no JSON object")
        return shaped(cls, found if "metrics" in found else _of_an_earlier_version(found))


def _measured(facts: RoundFacts | FinalFacts) -> list[str]:
    """The metrics that there are, as a short repr shows them."""
    values = {name: getattr(facts, name) for name in ("accuracy", "macro_f1", "dev_accuracy")}
    return [f"{name}={value:.4f}" for name, value in values.items() if value is not None]


def _of_an_earlier_version(found: Mapping[str, Any]) -> dict[str, Any]:
    """Flat facts, in which pseudo-labels were called trusted, and offered where a teacher had chosen them."""
    for name in ("trusted", "round", "labels", "answers_seen", "class_counts", "seconds"):
        if name not in found:
            raise WrongShape(f"{name} is missing")
    used = not found.get("offered") or bool(found["trusted"])
    prefix = "trusted" if used else "offered"
    return {
        **{name: found[name] for name in ("round", "labels", "answers_seen", "class_counts", "seconds")},
        **{name: found.get(name) for name in ("gain", "dev_gain")},
        "metrics": {name: found.get(name) for name in ("accuracy", "macro_f1", "dev_accuracy")},
        "pseudo_labels": {
            "count": found.get(prefix),
            "classes": found.get(f"{prefix}_classes", ()),
            "accuracy": found.get(f"{prefix}_accuracy"),
            "estimate": found.get("offered_estimate"),
            "used": used,
        },
    }


@dataclass(frozen=True)
class FinalFacts:
    """What is told about the fine-tuning at the end, after `round` rounds."""

    round: int
    labels: int
    accuracy: float | None = None
    macro_f1: float | None = None
    dev_accuracy: float | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    answers_seen: int | None = None  # the number of the last answer that it knows; earlier versions did not keep it

    def __repr__(self) -> str:
        return f"FinalFacts({', '.join([f'round={self.round}', f'labels={self.labels}', *_measured(self)])})"

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> FinalFacts:
        return shaped(cls, {"labels": 0, **found} if isinstance(found, Mapping) else found)


def stays_in_use(final: FinalFacts, newest: RoundFacts | None) -> bool:
    """Whether a fine-tuned final model with these facts is used rather than that of the newest round.

    Only a later round that is better on dev takes its place; the test set never decides.
    """
    if newest is None or newest.round < final.round:
        return True
    before = final.dev_accuracy
    return before is None or newest.dev_accuracy is None or newest.dev_accuracy <= before


@dataclass(frozen=True)
class QuestionRow:
    """One question of the round that its answer will train."""

    round: int
    row: int
    suggestion: int | None
    confidence: float | None


@dataclass(frozen=True)
class Selection:
    """The questions of a round, in order, and how they were chosen where that is worth telling."""

    round: int
    questions: Sequence[QuestionRow]
    how: str = ""
    arrays: tuple[str, ...] = ()  # the files of arrays that go with it
