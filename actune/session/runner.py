"""Drives a session to its planned end with whoever answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actune.core.dialogue import Annotator
from actune.core.pool import Pool
from actune.session.session import Session


def run(session: Session, annotator: Annotator, tell: Callable[[dict[str, Any]], None] = lambda facts: None) -> None:
    """Asks, tells and advances until all planned rounds are fitted, then fine-tunes once where that was planned."""
    while not session.done:
        if session.selected == session.fitted:
            session.advance()  # only chooses: the run was extended beyond its end
        annotator.send(session.ask())
        session.tell(annotator.collect())
        tell(session.advance())
    if session.config.resolved.final and session.final is None:
        session.finish()


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
        "labels": [facts["labels"] for facts in rounds],
        "accuracy": [facts["accuracy"] for facts in rounds],
        "macro_f1": [facts["macro_f1"] for facts in rounds],
        "pseudo_labels": [facts["trusted"] for facts in rounds],
        "pseudo_label_accuracy": [facts["trusted_accuracy"] for facts in rounds],
        "pseudo_label_estimate": [facts.get("offered_estimate") for facts in rounds],
        "self_training_gain": [facts.get("gain") for facts in rounds],
        "seconds": [round(sum(facts["seconds"].values()), 3) for facts in rounds],
        "asked": asked,
    }
    if session.final:
        facts["final_accuracy"] = session.final["accuracy"]
    return facts
