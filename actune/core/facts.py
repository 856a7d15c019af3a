"""What a round found and what was chosen for the next one, as plain values that a store can keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


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
    estimate: float | None = None  # the share of right ones, as far as a dev set tells
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
        facts = dict(found if "metrics" in found else _of_an_earlier_version(found))
        pseudo = dict(facts["pseudo_labels"])
        return cls(
            **{
                **facts,
                "class_counts": tuple(facts["class_counts"]),
                "metrics": Metrics(**facts["metrics"]),
                "notes": tuple(facts.get("notes", ())),
                "pseudo_labels": PseudoLabelFacts(**{**pseudo, "classes": tuple(pseudo["classes"])}),
            }
        )


def _of_an_earlier_version(found: Mapping[str, Any]) -> dict[str, Any]:
    """Flat facts, in which pseudo-labels were called trusted, and offered where a teacher had chosen them."""
    used = not found.get("offered") or bool(found["trusted"])
    prefix = "trusted" if used else "offered"
    return {
        **{name: found[name] for name in ("round", "labels", "answers_seen", "class_counts", "seconds")},
        **{name: found.get(name) for name in ("gain", "dev_gain")},
        "metrics": {name: found.get(name) for name in ("accuracy", "macro_f1", "dev_accuracy")},
        "pseudo_labels": {
            "count": found[prefix],
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

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> FinalFacts:
        return cls(**{**found, "notes": tuple(found.get("notes", ()))})


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
