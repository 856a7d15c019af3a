"""What is known of a model's quality without a test set."""

from __future__ import annotations

from dataclasses import dataclass

from actune.core.facts import MEASURED_ON, Share
from actune.report.classes import interval
from actune.session.session import Session

DEV_NOTE = "It may be too high, because the dev set also selected the checkpoint."


@dataclass(frozen=True)
class Signal:
    """A number that hints at the accuracy, and why it is not the accuracy."""

    name: str
    value: float
    note: str
    low: float  # of its 95 % interval
    high: float
    count: int  # the texts that it is measured on


def signals_of(session: Session) -> tuple[Signal, ...]:
    """What the session says of its quality, and the accuracy on dev; nothing where a test set tells more."""
    rounds = session.rounds()
    if not rounds or rounds[-1].accuracy is not None:
        return ()
    found = []
    if (on_dev := rounds[-1].dev_accuracy) is not None:
        texts = session.config.resolved.dev
        found.append(Signal("accuracy on the dev set", on_dev, DEV_NOTE, *interval(on_dev, texts), texts))
    quality = session.quality()
    if quality.cross_validation:
        found.append(
            _of("cross-validated accuracy on the answers", quality.cross_validation.accuracy, "cross_validation")
        )
    if quality.agreement:
        found.append(_of("agreement of answers with suggestions", quality.agreement, "agreement"))
    return tuple(found)


def _of(name: str, share: Share, kind: str) -> Signal:
    return Signal(name, share.value, MEASURED_ON[kind], share.low, share.high, share.count)
