"""A simulated annotator that knows the labels, and is wrong as often as it is told to be."""

from __future__ import annotations

from collections.abc import Sequence

from actune.core.checks import told
from actune.core.dialogue import Answer, Question
from actune.core.pool import UNKNOWN, Pool
from actune.core.streams import Streams
from actune.errors import DataError, SettingError


class Oracle:
    """Answers at once from the pool's own labels; a text without one is skipped."""

    def __init__(self, pool: Pool, noise: float = 0.0, seed: int = 0) -> None:
        if not isinstance(pool, Pool):
            raise DataError(f"an oracle answers from the labels of a pool, not from {told(pool)}")
        if isinstance(noise, bool) or not isinstance(noise, (int, float)) or not 0 <= noise < 1:
            raise SettingError(f"noise must be a share that is at least 0 and below 1, not {told(noise)}")
        self.pool = pool
        self.noise = noise
        self.seed = seed
        self._waiting: list[Question] = []

    def __repr__(self) -> str:
        return f"Oracle({self.pool!r}, noise={self.noise:g}, seed={self.seed})"

    def send(self, questions: Sequence[Question]) -> None:
        self._waiting += questions

    def collect(self) -> list[Answer]:
        answers = [Answer(question.id, self._label(question.id), by="oracle") for question in self._waiting]
        self._waiting = []
        return answers

    def _label(self, id: str) -> str | None:
        number = int(self.pool.labels[self.pool.row_of[id]])
        if number == UNKNOWN:
            return None
        rng = Streams(self.seed).rng(f"oracle {id}")  # by text, so that the order of questions changes no answer
        if self.noise and rng.random() < self.noise:
            number = int(rng.choice([other for other in range(len(self.pool.classes)) if other != number]))
        return self.pool.classes[number]
