"""How a project goes: answers by class and hour, the learning curve, a forecast, and whether to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from actune.core.curves import FEWEST, CurvePoint, Forecast, forecast
from actune.core.facts import Interval, RoundFacts, Share
from actune.core.printing import counted
from actune.core.streams import Streams
from actune.session.record import RunRecord

POINT = 0.01  # of accuracy
DEAR = 0.5  # a point that takes more than this share of the labels so far is dear
ROUNDS = 5  # and it takes more than so many rounds
HOPEFUL = 2  # rounds: while so few may bring a point, nobody is told to stop


@dataclass(frozen=True)
class HourFacts:
    """The answers of one hour, in UTC."""

    hour: str  # as 2026-01-31T09
    answers: int


@dataclass(frozen=True)
class RoundPoint:
    """One round on the learning curve."""

    round: int
    labels: int
    cross_validation: Share | None
    audit: Share | None
    audit_macro_f1: Interval | None


@dataclass(frozen=True)
class Advice:
    """Whether more answers pay, and why."""

    stop: bool
    reason: str


@dataclass(frozen=True)
class ProgressFacts:
    """All of it; `dataclasses.asdict` makes it JSON."""

    answers_by_class: Mapping[str, int]
    skipped: int
    by_hour: Sequence[HourFacts]
    seconds_per_answer: float | None  # the median of those that are known
    curve: Sequence[RoundPoint]
    forecast: Forecast | None  # of one more point of accuracy
    advice: Advice


class Progressing(RunRecord):
    """The verb that looks back and ahead."""

    def progress_facts(self) -> ProgressFacts:
        """How the project goes; a cheap read, no model is touched."""
        self.refresh()
        counts, names = self.store.counts(), self.pool.classes
        live = [number for number in range(len(names)) if number not in self.gone_classes]
        curve = [point_of(facts) for facts in self.rounds() if not self.starts_from_a_model(facts.round)]
        ahead = self._forecast(curve)
        return ProgressFacts(
            {names[number]: counts.of_class.get(number, 0) for number in live},
            counts.skipped,
            [HourFacts(hour, answers) for hour, answers in self.store.answers_by_hour()],
            self.store.median_seconds(),
            curve,
            ahead,
            advice(curve, ahead, self.config.request.batch, self.unlabelled()),
        )

    def _forecast(self, curve: Sequence[RoundPoint]) -> Forecast | None:
        points = [CurvePoint(each.labels, each.cross_validation) for each in curve if each.cross_validation]
        return forecast(points, POINT, Streams(self.config.request.seed, len(curve)).rng("forecast"))


def point_of(facts: RoundFacts) -> RoundPoint:
    """What a round says about the learning curve."""
    validated, audit = facts.quality.cross_validation, facts.quality.audit
    return RoundPoint(
        facts.round,
        facts.labels,
        validated.accuracy if validated else None,
        audit.accuracy if audit else None,
        audit.macro_f1 if audit else None,
    )


def advice(curve: Sequence[RoundPoint], ahead: Forecast | None, batch: int, unlabelled: int) -> Advice:
    """Whether to stop. The reason names the numbers that decide, so that a person can decide otherwise."""
    if not unlabelled:
        return Advice(True, "Every text is answered or skipped.")
    if ahead is None:
        missing = FEWEST - sum(each.cross_validation is not None for each in curve)
        more = f"after {counted(missing, 'more round')}" if missing > 0 else "when there are more answers"
        return Advice(False, f"It is too early to say: ask again {more}.")
    labels = curve[-1].labels
    hopeful = ahead.low is not None and ahead.low <= HOPEFUL * batch
    if ahead.labels is None:
        flat = f"The learning curve is flat after {counted(labels, 'label')}"
        if hopeful:
            return Advice(
                False, f"{flat}, but this is uncertain: {ahead.low:,} more may bring one more point of accuracy."
            )
        return Advice(True, f"{flat}: it does not show how many more would bring one more point of accuracy.")
    text = f"about {ahead.labels:,} more labels for one more point of accuracy ({interval_words(ahead)})"
    if ahead.labels > unlabelled:
        return Advice(True, f"The curve forecasts {text}, and only {counted(unlabelled, 'text')} are left.")
    if ahead.labels > max(DEAR * labels, ROUNDS * batch) and not hopeful:
        return Advice(True, f"More labels bring little: the curve forecasts {text}.")
    return Advice(False, f"More labels still pay: the curve forecasts {text}.")


def interval_words(ahead: Forecast) -> str:
    """The interval of a forecast, which may have no upper end."""
    if ahead.low is None:
        return "too uncertain for a 95 % interval"
    return f"95 % interval: {ahead.low:,} " + ("or more" if ahead.high is None else f"to {ahead.high:,}")
