"""Where a project or a run stands: answers, questions, rounds, the model in use, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from actune.core.facts import FinalFacts, Quality, RoundFacts
from actune.core.labels import Labels
from actune.session.overlapping import Agreement
from actune.session.runner import told
from actune.session.session import Session

Step = Literal["ask", "advance", "finish", "export", "run", "report"]


@dataclass(frozen=True)
class ModelInUse:
    """The model that `predict`, `save` and `export` use."""

    round: int  # the newest finished round when it was made
    fine_tuned: bool  # at the end, by `finish`
    knows: int  # how many of the answers that count now it was trained on


@dataclass(frozen=True)
class Status:
    """What a run folder holds; everything in it is a cheap read."""

    texts: int
    labels: int
    class_counts: Mapping[str, int]
    skipped: int
    questions: int  # open ones
    unlabelled: int  # texts that nobody has answered or skipped
    rounds: tuple[RoundFacts, ...]
    finals: tuple[FinalFacts, ...]
    model: ModelInUse | None
    quality: Quality
    agreement: Agreement | None  # of people, in a project where several answer the same texts
    next: Step

    @property
    def without_answers(self) -> tuple[str, ...]:
        """The classes that no answer names."""
        return tuple(name for name, count in self.class_counts.items() if not count)

    def as_json(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            "texts": self.texts,
            "labels": self.labels,
            "class_counts": dict(self.class_counts),
            "classes_without_answers": list(self.without_answers),
            "skipped": self.skipped,
            "questions": self.questions,
            "unlabelled": self.unlabelled,
            "rounds": [told(facts) for facts in self.rounds],
            "finals": [told(facts) for facts in self.finals],
            "model": asdict(self.model) if self.model else None,
            "quality": asdict(self.quality),
            "agreement": asdict(self.agreement) if self.agreement else None,
            "next": self.next,
        }


def status(session: Session) -> Status:
    """Where a session stands; no model is touched."""
    labels, names = session.labels(), session.pool.classes
    return Status(
        texts=len(session.pool),
        labels=len(labels.of_row),
        class_counts={
            name: count
            for number, (name, count) in enumerate(zip(names, labels.counts(len(names)), strict=True))
            if number not in session.gone_classes
        },
        skipped=len(labels.skipped),
        questions=len(session.store.open_questions()),
        unlabelled=session.unlabelled(labels),
        rounds=tuple(session.rounds()),
        finals=tuple(session.finals()),
        model=_model_in_use(session),
        quality=session.quality(),
        agreement=session.people_agreement(),
        next=_next_step(session, labels),
    )


def _model_in_use(session: Session) -> ModelInUse | None:
    if session.store.newest_model() is None:
        return None
    if final := session.final:
        seen = final.answers_seen
        knows = final.labels if seen is None else _known(session, seen)
        return ModelInUse(final.round - 1, fine_tuned=True, knows=knows)
    newest = session.rounds()[-1]
    knows = 0 if session.starts_from_a_model(newest.round) else _known(session, newest.answers_seen)
    return ModelInUse(newest.round, fine_tuned=False, knows=knows)


def _known(session: Session, seen: int) -> int:
    """How many of the answers that count now came no later than the one with the number `seen`."""
    return sum(word.label is not None and word.number <= seen for word in session.store.latest())


def _next_step(session: Session, labels: Labels) -> Step:
    if session.config.request.simulated:
        return "report" if session.finished else "run"
    news, questions = session.has_news(), bool(session.store.open_questions())
    if news and session.can_train(labels):
        return "advance"
    if questions:
        return "ask"
    if session.unlabelled(labels):
        return "advance"  # which chooses more questions
    return "finish" if session.config.resolved.final and session.has_news(final=True) else "export"
