"""The loss of a method as plain values; models/objectives.py computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NO_GATE = -1.0  # a threshold that every student passes


@dataclass(frozen=True)
class Objective:
    """Cross-entropy on labels, plus `weight` times what the pseudo-labels beside them teach (Eq. 14)."""

    weight: float = 1.0  # lambda
    threshold: float = 0.6  # gamma: the student must give the pseudo-label more than this
    supervised: float = 1.0  # weight of the labelled rows
    # hard: a class. sharpened: the class that p^2 / batch frequency favours. soft: that very distribution.
    targets: Literal["hard", "sharpened", "soft"] = "hard"
    certainty: float = 0.0  # xi: soft targets of less certainty, 1 - H / ln C, do not count
    contrast: float = 0.0  # draws rows of one class together and pushes rows of two apart
    confidence_penalty: float = 0.0  # keeps the student's predictions from collapsing: KL(uniform || student)
    teacher_every: float = 0.0  # share of the steps after which the student becomes the teacher
    adversarial: float = 0.0  # weight of KL(student || student under the worst small perturbation)
    perturbation: float = 1.0  # epsilon: how large that perturbation is
    ramp: bool = False  # the pseudo-labels weigh nothing at first and more with the steps
    power: float = 0.0  # q of the generalised cross-entropy (1 - p^q) / q; 0 is cross-entropy
    most_steps: int | None = None  # of a fit with pseudo-labels, where the recipe has more

    @property
    def uses_pseudo_labels(self) -> bool:
        """A weight of zero or a gate that nothing passes is plain fine-tuning."""
        return self.weight > 0 and self.threshold < 1

    def steps(self, planned: int) -> int:
        """The steps of a fit with pseudo-labels."""
        return planned if self.most_steps is None else min(planned, self.most_steps)


PLAIN = Objective(weight=0.0)
