"""What a session writes to the log: numbers and notes, and never a text or an answer."""

from __future__ import annotations

import logging

from actune.core.facts import FinalFacts, RoundFacts
from actune.core.printing import one_line

LOG = logging.getLogger(__name__)


def log_facts(what: str, facts: RoundFacts | FinalFacts) -> None:
    """A finished round, or the fine-tuning at the end, with the notes that belong to it."""
    seconds = facts.seconds if isinstance(facts, FinalFacts) else sum(facts.seconds.values())
    accuracy = "not measured" if facts.accuracy is None else f"{facts.accuracy:.4f}"
    LOG.info("%s %d is finished: %d labels, accuracy %s, %.1f s", what, facts.round, facts.labels, accuracy, seconds)
    for note in facts.notes:
        LOG.info("note: %s", one_line(note))
