"""Drives a session to its planned end with whoever answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from actune.core.dialogue import Annotator
from actune.core.facts import FinalFacts, RoundFacts
from actune.core.pool import Pool
from actune.session.session import Session


def run(session: Session, annotator: Annotator, tell: Callable[[RoundFacts], None] = lambda facts: None) -> None:
    """Asks, tells and advances until all planned rounds are fitted, then fine-tunes once where that was planned."""
    while not session.done:
        if session.selected == session.fitted:
            session.advance()  # only chooses: the run was extended beyond its end
        annotator.send(session.ask())
        session.tell(annotator.collect())
        tell(session.advance())
    if session.config.resolved.final and session.final is None:
        session.finish()


def told(facts: RoundFacts | FinalFacts) -> dict[str, Any]:
    """The facts of one round, or of the fine-tuning at the end, for machines."""
    if isinstance(facts, FinalFacts):
        return asdict(facts)
    pseudo = facts.pseudo_labels
    return {
        "round": facts.round,
        "labels": facts.labels,
        "class_counts": list(facts.class_counts),
        **asdict(facts.metrics),
        "pseudo_labels": pseudo.trained_on,
        "pseudo_label_accuracy": pseudo.accuracy_trained_on,
        "pseudo_label_estimate": pseudo.estimate,
        "self_training_gain": facts.gain,
        "seconds": dict(facts.seconds),
        "notes": list(facts.notes),
    }


def result(session: Session) -> dict[str, Any]:
    """The facts of a run for machines: one entry a round."""
    rounds = session.rounds()
    pool: Pool = session.pool
    asked: list[list[str]] = [[] for _ in rounds]
    for question in session.store.questions():
        if question.round < len(rounds):
            asked[question.round].append(pool.ids[question.row])
    facts: dict[str, Any] = {
        "folder": str(session.store.folder),
        "method": session.config.request.method,
        "model": session.config.request.model,
        "learner": session.config.resolved.learner,
        "seed": session.config.request.seed,
        "labels": [facts.labels for facts in rounds],
        "accuracy": [facts.accuracy for facts in rounds],
        "macro_f1": [facts.macro_f1 for facts in rounds],
        "pseudo_labels": [facts.pseudo_labels.trained_on for facts in rounds],
        "pseudo_label_accuracy": [facts.pseudo_labels.accuracy_trained_on for facts in rounds],
        "pseudo_label_estimate": [facts.pseudo_labels.estimate for facts in rounds],
        "self_training_gain": [facts.gain for facts in rounds],
        "seconds": [round(sum(facts.seconds.values()), 3) for facts in rounds],
        "asked": asked,
    }
    if session.final:
        facts["final_accuracy"] = session.final.accuracy
    return facts
