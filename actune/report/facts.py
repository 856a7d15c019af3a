"""What a report says of a run, read once from its session: a name to tell it by, its rounds, its labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actune.core.facts import FinalFacts, RoundFacts
from actune.errors import UserError
from actune.report.classes import error_of_change
from actune.report.names import method_name
from actune.report.signals import Signal, signals_of
from actune.session.config import Config
from actune.session.session import Session


@dataclass(frozen=True)
class ReportedRun:
    """One run as the page sees it."""

    name: str  # differs from run to run
    config: Config
    rounds: tuple[RoundFacts, ...]  # finished ones
    finals: tuple[FinalFacts, ...]  # every fine-tuning at the end that there was, in order
    signals: tuple[Signal, ...]  # of the quality where there is no test set
    folder: str
    pool: int
    labels: int  # answered by now, which may be more than the last round saw
    unlabelled: int  # neither answered nor skipped
    questions: int  # open ones
    error: float | None  # of the last round's change in accuracy, half of its 95 % interval
    days: tuple[str, ...]  # of the first and of the last answer
    sources: list[dict[str, Any]]  # the rules that the first model learnt from, where there were any

    @property
    def data(self) -> str:
        """The name of the data; of a file or folder its own name."""
        data = self.config.request.data
        return Path(data).name or data if Path(data).is_absolute() else data

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Classes that the last round had no answer of."""
        counts = self.rounds[-1].class_counts if self.rounds else ()
        return tuple(name for name, count in zip(self.config.resolved.classes, counts, strict=False) if not count)

    @property
    def measured(self) -> bool:
        """Whether its accuracy is known."""
        return any(facts.accuracy is not None for facts in self.rounds)

    @property
    def final(self) -> FinalFacts | None:
        """The fine-tuning of the newest round, where there was one."""
        return next((facts for facts in self.finals if facts.round == len(self.rounds)), None)

    @property
    def change(self) -> float | None:
        """What the last round's answers brought on test."""
        if len(self.rounds) < 2:
            return None
        before, last = (facts.accuracy for facts in self.rounds[-2:])
        return None if before is None or last is None else last - before

    @property
    def unseen(self) -> int:
        """Labels that came after the last round."""
        return self.labels - self.rounds[-1].labels if self.rounds else 0

    @property
    def judged(self) -> bool:
        """Whether it is known how many pseudo-labels were right."""
        return any(facts.pseudo_labels.accuracy_trained_on is not None for facts in self.rounds)

    @property
    def estimated(self) -> bool:
        """Whether it was estimated how many are right."""
        return any(facts.pseudo_labels.estimate is not None for facts in self.rounds)

    @property
    def gains(self) -> bool:
        """Whether it is known what self-training brought."""
        return any(gain(facts) is not None for facts in self.rounds)

    @property
    def trusts(self) -> bool:
        """Whether any pseudo-label was ever trained on."""
        return any(facts.pseudo_labels.trained_on for facts in self.rounds)


def effective_classes(facts: RoundFacts) -> str:
    """Over how many classes the pseudo-labels of a round spread: the exponential of their entropy."""
    counts = facts.pseudo_labels.classes
    if not (total := sum(counts)):
        return ""
    from scipy.special import entr

    return f"{math.exp(sum(entr(count / total) for count in counts)):.1f}"


def gain(facts: RoundFacts) -> float | None:
    """What self-training brought in a round: on test, or where there is none on dev, which also chose the models."""
    return facts.gain if facts.gain is not None else facts.dev_gain


def points(share: float | None) -> str:
    """A difference of two shares as every table prints it."""
    return "–" if share is None else f"{100 * share:+.1f}"


def runs_of(sessions: Sequence[Session]) -> list[ReportedRun]:
    """The runs of a report; all must be about the same classes."""
    if not sessions:
        raise UserError("a report needs at least one run")
    first = sessions[0].pool.classes
    for session in sessions[1:]:
        if session.pool.classes != first:
            raise UserError(
                f"{str(session.store.folder)!r} and {str(sessions[0].store.folder)!r} have different classes: "
                "a report can only compare runs on the same data"
            )
    return [_run(session, name) for session, name in zip(sessions, names(sessions), strict=True)]


def names(sessions: Sequence[Session]) -> list[str]:
    """The shortest names that tell the runs apart: the method, else with the seed, else with the folder."""
    methods = [method_name(session.config.request.method) for session in sessions]
    seeds = [f"{method}, seed {s.config.request.seed}" for method, s in zip(methods, sessions, strict=True)]
    folders = [f"{name} ({s.store.folder.name})" for name, s in zip(seeds, sessions, strict=True)]
    for candidates in (methods, seeds, folders):
        if len(set(candidates)) == len(candidates):
            return candidates
    return [f"{name} no. {number}" for number, name in enumerate(folders, 1)]


def percent(share: float | None) -> str:
    """A share as every table and sentence prints it."""
    return "–" if share is None else f"{100 * share:.1f} %"


def _run(session: Session, name: str) -> ReportedRun:
    answers, labels = session.store.answers(), session.labels()
    days = [answer.at[:10] for answer in answers]
    return ReportedRun(
        name=name,
        config=session.config_now,
        rounds=tuple(session.rounds()),
        finals=tuple(session.finals()),
        signals=signals_of(session),
        folder=str(session.store.folder),
        pool=len(session.pool),
        labels=len(labels.of_row),
        unlabelled=len(session.pool) - len(labels.of_row) - len(labels.skipped),
        questions=0 if session.done else len(session.store.open_questions()),
        error=_error(session),
        days=tuple(sorted({min(days), max(days)})) if days else (),
        sources=session.weak.sources(labels.of_row) if session.weak else [],
    )


def _error(session: Session) -> float | None:
    """By the predictions of the last two rounds on the same texts; None where they were not kept."""
    test, store, last = session.task.test, session.store, len(session.rounds()) - 1
    if test is None or last < 1:
        return None
    right = []
    for name in (f"fit-{last - 1:03d}", f"fit-{last:03d}"):
        said = store.load_arrays(name).get("test_predictions") if store.has_arrays(name) else None
        if said is None or len(said) != len(test):
            return None
        right.append(said == test.labels)
    return error_of_change(*right)
