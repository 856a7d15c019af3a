"""What a report says of a run, read once from its session: a name to tell it by, its rounds, its labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from actune.core.facts import FinalFacts, RoundFacts
from actune.errors import UserError
from actune.methods.recipes import shown
from actune.session.config import Config
from actune.session.session import Session


@dataclass(frozen=True)
class ReportedRun:
    """One run as the page sees it."""

    name: str  # differs from run to run
    config: Config
    rounds: tuple[RoundFacts, ...]  # finished ones
    final: FinalFacts | None
    pool: int
    labels: int  # answered by now, which may be more than the last round saw
    questions: int  # chosen before there was a model
    days: tuple[str, ...]  # of the first and of the last answer
    sources: list[dict[str, Any]]  # the rules that the first model learnt from, where there were any

    @property
    def measured(self) -> bool:
        """Whether its accuracy is known."""
        return any(facts.accuracy is not None for facts in self.rounds)

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
    first = sessions[0].config.resolved.classes
    for session in sessions[1:]:
        if session.config.resolved.classes != first:
            raise UserError(
                f"{str(session.store.folder)!r} has other classes than {str(sessions[0].store.folder)!r}: "
                "one report compares runs on the same data only"
            )
    return [_run(session, name) for session, name in zip(sessions, names(sessions), strict=True)]


def names(sessions: Sequence[Session]) -> list[str]:
    """The shortest names that tell the runs apart: the method, else with the seed, else with the folder."""
    methods = [shown(session.config.request.method) for session in sessions]
    seeds = [f"{method}, seed {s.config.request.seed}" for method, s in zip(methods, sessions, strict=True)]
    folders = [f"{name} ({s.store.folder.name})" for name, s in zip(seeds, sessions, strict=True)]
    for candidates in (methods, seeds, folders):
        if len(set(candidates)) == len(candidates):
            return candidates
    return [f"{name} no. {number}" for number, name in enumerate(folders, 1)]


def verdict(runs: Sequence[ReportedRun]) -> str:
    """What is true of the subject beside the others, in a sentence or two made of printed numbers only."""
    subject, *others = runs
    if not subject.rounds:
        begun = f"{subject.labels:,} texts are labelled"
        if subject.questions:
            begun += f", and {subject.questions:,} were asked about to begin with"
        return f"No round of {subject.name} is finished yet: {begun}."
    last = subject.rounds[-1]
    if last.accuracy is None:
        times = "once" if len(subject.rounds) == 1 else f"{len(subject.rounds)} times"
        return (
            f"{subject.name} was fitted {times}, the last time on {last.labels:,} labels. "
            "Accuracy needs a test set, and this run has none."
        )
    parts = [f"{subject.name} reaches {percent(last.accuracy)} with {last.labels:,} labels{_at_the_end(subject)}"]
    parts += [_beside(other, last.labels) for other in others]
    return f"{'; '.join(parts)}. {_proof(runs)}".strip()


def percent(share: float | None) -> str:
    """A share as every table and sentence prints it."""
    return "–" if share is None else f"{100 * share:.1f} %"


def _beside(run: ReportedRun, labels: int) -> str:
    if not run.measured:
        return f"{run.name} has no accuracy yet"
    same = [facts for facts in run.rounds if facts.labels == labels]
    facts = (same or run.rounds)[-1]
    where = "with the same" if same else f"with {facts.labels:,} labels"
    at_the_end = _at_the_end(run) if facts is run.rounds[-1] else ""
    return f"{run.name} {percent(facts.accuracy)} {where}{at_the_end}"


def _at_the_end(run: ReportedRun) -> str:
    if run.final is None or run.final.accuracy is None:
        return ""
    return f" ({percent(run.final.accuracy)} once the encoder is fine-tuned on them)"


def _proof(runs: Sequence[ReportedRun]) -> str:
    """One seed of a method is one draw of its luck."""
    seeds: dict[str, set[int]] = {}
    for run in runs:
        seeds.setdefault(run.config.request.method, set()).add(run.config.request.seed)
    return "One seed proves nothing." if min(map(len, seeds.values())) == 1 else ""


def _run(session: Session, name: str) -> ReportedRun:
    answers, labels = session.store.answers(), session.labels()
    days = [answer.at[:10] for answer in answers]
    return ReportedRun(
        name=name,
        config=session.config,
        rounds=tuple(session.rounds()),
        final=session.final,
        pool=len(session.pool),
        labels=len(labels.of_row),
        questions=len(session.store.questions(0)),
        days=tuple(sorted({min(days), max(days)})) if days else (),
        sources=session.weak.sources(labels.of_row) if session.weak else [],
    )
