"""Waits for whoever answers, however long that takes, and saves every answer as soon as it is there."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from actune.core.checks import told
from actune.core.dialogue import Annotator, Question
from actune.errors import NoAnswer, SettingError
from actune.session.session import Session

LOG = logging.getLogger(__name__)
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 5.0  # seconds between two looks for answers


@dataclass(frozen=True)
class Patience:
    """`wait` is called with the seconds of each pause, and `timeout` is the longest time without any answer."""

    timeout: float | None = None
    wait: Callable[[float], object] = time.sleep

    def __post_init__(self) -> None:
        if not callable(self.wait):
            raise SettingError(f"wait must be a function that takes a number of seconds, not {told(self.wait)}")
        number = isinstance(self.timeout, (int, float)) and not isinstance(self.timeout, bool)
        if self.timeout is not None and not (number and self.timeout >= 0):
            raise SettingError(f"timeout must be a number of seconds or None, not {told(self.timeout)}")


def wait_for_answers(session: Session, annotator: Annotator, questions: list[Question], patience: Patience) -> bool:
    """Saves answers as they come, until all questions are answered or skipped, or the annotator is finished.

    Says whether all are. Somebody else may answer meanwhile: these questions are not waited for either.
    """
    still_open, pause, last = {question.id for question in questions}, FIRST_PAUSE, time.monotonic()
    while True:
        finished = is_finished(annotator)  # asked before, so that the last answers are collected afterwards
        if answered := _collect(session, annotator):
            still_open -= answered
            pause, last = FIRST_PAUSE, time.monotonic()
        if not still_open or finished:
            return not still_open
        if answered:
            continue
        if patience.timeout is not None and time.monotonic() - last >= patience.timeout:
            raise NoAnswer(
                f"no answer arrived within {patience.timeout:g} seconds, and {len(still_open)} of {len(questions)} "
                "questions are open; the answers so far are saved, and the same call continues"
            )
        LOG.debug("waiting for %d answers", len(still_open))
        patience.wait(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
        still_open &= {question.id for question in session.ask()}


def is_finished(annotator: Annotator) -> bool:
    """Whether the annotator says that no more answers will come; one that has no `finished` never says so."""
    found: Any = getattr(annotator, "finished", False)
    return bool(found() if callable(found) else found)


def _collect(session: Session, annotator: Annotator) -> set[str]:
    """The ids that were answered now. Ctrl-C loses none of them: an annotator gives an answer only once."""
    answers = []
    try:
        answers = list(annotator.collect())
        session.tell(answers)
    except KeyboardInterrupt:
        session.tell(answers)
        raise
    return {answer.id for answer in answers}
