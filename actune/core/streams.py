"""Named random streams: a seed, a round and a purpose decide every draw, never the method or who drew before."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Streams:
    """The random streams of one round. Methods compared under one seed share their luck."""

    seed: int
    round: int = 0
    generation: int = 0  # of students within the round; 0 is the round's own model, or the teacher

    def rng(self, purpose: str) -> np.random.Generator:
        """A NumPy generator on the CPU, so that CPU and GPU runs draw the same numbers."""
        import numpy as np

        later = [self.generation] if self.generation else []
        return np.random.default_rng([self.seed, self.round, _number(purpose), *later])

    def integer(self, purpose: str) -> int:
        """A seed for a generator of another library."""
        return int(self.rng(purpose).integers(2**31))


def _number(purpose: str) -> int:
    return int.from_bytes(sha256(purpose.encode()).digest()[:8], "big")
