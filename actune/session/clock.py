"""Where the time of a round goes."""

from __future__ import annotations

import time


class Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._mark = time.perf_counter()

    def stop(self, phase: str) -> None:
        """Ends a phase; the next one begins."""
        now = time.perf_counter()
        self.seconds[phase] = now - self._mark
        self._mark = now
