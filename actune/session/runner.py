"""Drives a session to its planned end with whoever answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from actune.core.checks import told as shown
from actune.core.dialogue import Annotator
from actune.core.facts import FinalFacts, RoundFacts
from actune.core.pool import Pool
from actune.errors import SettingError
from actune.session.session import Session
from actune.session.waiting import Patience, wait_for_answers


def run(
    session: Session,
    annotator: Annotator,
    tell: Callable[[RoundFacts], None] = lambda facts: None,
    *,
    timeout: float | None = None,
    wait: Callable[[float], object] = time.sleep,
) -> None:
    """Asks, tells and advances until all planned rounds are fitted, then fine-tunes once where that was planned.

    The annotator may take its time: `collect` is called again, with pauses that grow to 5 seconds, until every question
    is answered or skipped. `wait` is called with the seconds of each pause, and NoAnswer is raised after `timeout`
    seconds without any answer. An annotator that has a true attribute `finished`, or a method of this name that says
    so, ends the run: what it has answered is trained on. A run without a plan ends when there is nothing more to ask.
    """
    _check(session, annotator)
    patience = Patience(timeout, wait)
    while not session.done:
        if session.selected == session.fitted:
            session.advance()  # only chooses: the run was extended beyond its end
        questions = session.ask()
        annotator.send(questions)
        complete = wait_for_answers(session, annotator, questions, patience)
        if session.fitted and not _has_news(session):
            return  # the same model again would ask nothing else
        facts = session.advance()
        if facts is not None:  # else too few were answered, and it chose more questions
            tell(facts)
        elif not session.ask():
            return
        if not complete:
            return  # the annotator is finished
    if not session.finished:
        session.finish()


def _check(session: Session, annotator: Annotator) -> None:
    if not isinstance(session, Session):
        raise SettingError(f"a run needs a session from actune.create, not {shown(session)}")
    for verb in ("send", "collect"):
        if not callable(getattr(annotator, verb, None)):
            raise SettingError(f"an annotator needs the methods send and collect, and {shown(annotator)} has no {verb}")


def _has_news(session: Session) -> bool:
    """Whether anything was answered or skipped since the last round began."""
    return session.labels().last_answer > session.rounds()[-1].answers_seen


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
        "quality": asdict(facts.quality),
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
    if finals := session.finals():
        facts["final_accuracy"] = finals[-1].accuracy
        facts["finals"] = [told(each) for each in finals]
    return facts
