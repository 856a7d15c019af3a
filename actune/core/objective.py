"""The loss of a method as plain values; models/objectives.py computes it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Objective:
    """Eq. 14. Cross-entropy on labels plus the weighted, gated cross-entropy on pseudo-labels."""

    weight: float = 1.0  # lambda
    threshold: float = 0.6  # gamma: the student must give the pseudo-label more than this

    @property
    def uses_pseudo_labels(self) -> bool:
        """A weight of zero or a gate that nothing passes is plain fine-tuning."""
        return self.weight > 0 and self.threshold < 1
